use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    IpAddress, IpProtocol, Ipv4Packet, Ipv4Repr, Ipv6Packet, TcpOption, TcpPacket, UdpPacket,
    UdpRepr,
};

use super::*;
use crate::packet::Datagram;
use crate::segment::{SackBlocks, Timestamps};
use crate::time::SimTime;
use crate::units::Bytes;

pub(super) fn meta(protocol: Protocol, six: bool, size: u64) -> Meta {
    let host = |last: u8| {
        if six {
            IpAddr::from(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last.into()))
        } else {
            IpAddr::from(Ipv4Addr::new(10, 0, 0, last))
        }
    };
    let ends = [SocketAddr::new(host(1), 32_768), SocketAddr::new(host(2), 4_433)];
    Meta { id: 7, ..Meta::new(SimTime::ZERO, protocol, ends[0], ends[1], Bytes::new(size)) }
}

pub(super) fn written(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(packet, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, packet.meta.size.get(), "of {packet:?}");
    bytes
}

pub(super) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

/// Protocol, traffic class, addresses and payload of an IP packet. Panics unless smoltcp accepts its header.
fn opened(bytes: &[u8]) -> (IpProtocol, u8, [IpAddress; 2], Vec<u8>) {
    if bytes[0] >> 4 == 4 {
        let ip = Ipv4Packet::new_checked(bytes).unwrap();
        assert!(ip.verify_checksum() && ip.dont_frag() && !ip.more_frags());
        assert_eq!((ip.ident(), ip.hop_limit()), (7, 64));
        let ends = [ip.src_addr().into(), ip.dst_addr().into()];
        (ip.next_header(), bytes[1], ends, ip.payload().to_vec())
    } else {
        let ip = Ipv6Packet::new_checked(bytes).unwrap();
        assert_eq!(ip.hop_limit(), 64);
        let ends = [ip.src_addr().into(), ip.dst_addr().into()];
        (ip.next_header(), ip.traffic_class(), ends, ip.payload().to_vec())
    }
}

/// Options of a TCP header as smoltcp reads them, and how many bytes they take.
fn read_options(mut bytes: &[u8]) -> (Options, usize) {
    let (mut options, mut padding) = (Options::default(), 0);
    let length = bytes.len();
    while !bytes.is_empty() {
        let (rest, option) = TcpOption::parse(bytes).unwrap();
        match option {
            TcpOption::EndOfList => panic!("no option has room behind the end of the list"),
            TcpOption::NoOperation => padding += 1,
            TcpOption::MaxSegmentSize(mss) => options.mss = Some(mss),
            TcpOption::WindowScale(scale) => options.window_scale = Some(scale),
            TcpOption::SackPermitted => options.sack_permitted = true,
            TcpOption::TimeStamp { tsval, tsecr } => {
                options.timestamps = Some(Timestamps { value: tsval, echo: tsecr });
            }
            // smoltcp keeps three blocks; the fourth stands in the bytes.
            TcpOption::SackRange(_) => {
                for block in bytes[2..usize::from(bytes[1])].chunks(8) {
                    let number = |at| u32::from_be_bytes(block[at..at + 4].try_into().unwrap());
                    options.sack.push(number(0), number(4));
                }
            }
            TcpOption::Unknown { kind, .. } => panic!("option {kind}"),
        }
        assert!(padding < 8, "padding without end");
        bytes = rest;
    }
    (options, length)
}

/// A SYN as Linux sends it; the bytes by hand from RFC 791, 9293, 7323 and 2018, the checksums from another program.
#[test]
fn a_syn_is_that_of_linux() {
    let segment = Segment {
        seq: 0x0102_0304,
        flags: Flags::SYN.with(Flags::ECE).with(Flags::CWR),
        window: 65_535,
        options: Options {
            mss: Some(1_460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x1122_3344, echo: 0 }),
            ..Options::default()
        },
        ..Segment::default()
    };
    let meta = Meta { ecn: Ecn::Ect0, ..meta(Protocol::Tcp, false, 60) };
    let expected = "4502003c 00074000 400626b1 0a000001 0a000002
        80001151 01020304 00000000 a0c2ffff 59800000 020405b4 0402080a 11223344 00000000 01030307";
    assert_eq!(written(&Packet { meta, body: Body::Tcp(segment) }), hex(expected));
}

#[test]
fn udp_carries_what_quic_wrote() {
    for six in [false, true] {
        let data: Vec<u8> = (0..251).collect();
        let head = if six { 48 } else { 28 };
        let meta = meta(Protocol::Udp, six, head + 251);
        let packet = Packet { meta, body: Body::UdpBytes(data.as_slice().into()) };
        let (protocol, _, [from, to], payload) = opened(&written(&packet));
        assert_eq!(protocol, IpProtocol::Udp);
        let udp = UdpPacket::new_checked(&payload).unwrap();
        let checked = ChecksumCapabilities::default();
        let ports = UdpRepr::parse(&udp, &from, &to, &checked).unwrap();
        assert_eq!((ports.src_port, ports.dst_port), (32_768, 4_433));
        assert_eq!(udp.payload(), data);
    }
}

/// RFC 768: a checksum that comes out as zero is sent as all ones.
#[test]
fn a_udp_checksum_is_never_zero() {
    let packet = |data: &[u8]| Packet {
        meta: meta(Protocol::Udp, false, 30),
        body: Body::UdpBytes(data.into()),
    };
    let checksum = written(&packet(&[0, 0]))[26..28].to_vec();
    assert_eq!(written(&packet(&checksum))[26..28], [0xff, 0xff]);
}

#[test]
fn what_has_no_content_has_its_length() {
    for six in [false, true] {
        let ip = if six { 40 } else { 20 };
        let datagram = Datagram { message: 3, id: 0, stream: 0.into(), payload: 1_252 };
        let body = Body::Datagram(datagram);
        let bytes = written(&Packet { meta: meta(Protocol::Udp, six, ip + 1_260), body });
        assert_eq!(opened(&bytes).3[8..], [0; 1_252]);
        let protocols = [
            (Protocol::Udp, 8),
            (Protocol::Tcp, 20),
            (Protocol::ICMP, 0),
            (Protocol::Other(253), 0),
        ];
        for (protocol, header) in protocols {
            for payload in [0, 1, 1_000] {
                let meta = meta(protocol, six, ip + header + payload);
                written(&Packet { meta, body: Body::Filler });
            }
        }
    }
}

#[test]
fn the_congestion_field_is_that_of_rfc_3168() {
    let fields = [(Ecn::NotEct, 0b00), (Ecn::Ect1, 0b01), (Ecn::Ect0, 0b10), (Ecn::Ce, 0b11)];
    for six in [false, true] {
        for (ecn, bits) in fields {
            let size = if six { 50 } else { 30 };
            let meta = Meta { ecn, ..meta(Protocol::Udp, six, size) };
            let bytes = written(&Packet { meta, body: Body::Filler });
            assert_eq!(opened(&bytes).1, bits, "{ecn:?}");
        }
    }
}

/// A raw packet with a class of its own keeps it, and its checksum stays right.
#[test]
fn a_mark_is_written_back() {
    for six in [false, true] {
        let size = if six { 50 } else { 30 };
        let sent = Meta { ecn: Ecn::Ect0, ..meta(Protocol::Udp, six, size) };
        let mut raw = written(&Packet { meta: sent.clone(), body: Body::Filler });
        // Expedited forwarding (RFC 3246), codepoint 101110.
        if six {
            raw[..2].copy_from_slice(&[0x6b, 0xa5]);
        } else {
            raw[1] = 0xba;
            let mut ip = Ipv4Packet::new_unchecked(&mut raw);
            ip.fill_checksum();
        }
        let marked = Meta { ecn: Ecn::Ce, ..sent };
        let bytes = written(&Packet { meta: marked, body: Body::Raw(raw.clone().into()) });
        assert_eq!(opened(&bytes).1, 0xbb);
        let same = bytes.iter().zip(&raw).filter(|(now, before)| now == before).count();
        assert_eq!(same, bytes.len() - if six { 1 } else { 2 }, "and nothing else changes");
        if six {
            assert_eq!(bytes[1], 0xb5, "the flow label, which shares the byte, stays");
        }
    }
}

/// The example of RFC 1624 section 4.
#[test]
fn a_checksum_follows_as_in_rfc_1624() {
    assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    assert_eq!(updated(0x1234, 0xaaaa, 0xaaaa), 0x1234);
}

#[test]
fn what_has_no_form_on_the_wire_is_refused() {
    let refused = |packet: &Packet| write(packet, &mut Vec::new()).unwrap_err().to_string();
    let mut mixed = meta(Protocol::Udp, false, 30);
    mixed.destination = meta(Protocol::Udp, true, 30).destination;
    assert_eq!(
        refused(&Packet { meta: mixed, body: Body::Filler }),
        "a packet from 10.0.0.1:32768 to [fd00::2]:4433 is neither IPv4 nor IPv6"
    );
    let raw = |bytes: &'static [u8]| Packet {
        meta: meta(Protocol::Udp, false, 30),
        body: Body::Raw(bytes.into()),
    };
    assert_eq!(refused(&raw(&[])), "a raw packet of 0 bytes is not IP");
    assert_eq!(refused(&raw(&[0x45; 19])), "a raw packet of 19 bytes is not IP");
    assert_eq!(refused(&raw(&[0x60; 39])), "a raw packet of 39 bytes is not IP");
    assert_eq!(refused(&raw(&[0; 60])), "a raw packet of 60 bytes is not IP");
    let long = |payload| Packet {
        meta: meta(Protocol::Tcp, false, 0),
        body: Body::Tcp(Segment { payload, ..Segment::default() }),
    };
    assert!(write(&long(65_535 - 40), &mut Vec::new()).is_ok());
    for payload in [65_535 - 39, 70_000] {
        assert!(refused(&long(payload)).starts_with("packet too long: "), "{payload}");
    }
    let mut segment = Segment::default();
    segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    (0..4).for_each(|block| segment.options.sack.push(block, block + 1));
    let crowded = Packet { meta: meta(Protocol::Tcp, false, 0), body: Body::Tcp(segment) };
    assert!(refused(&crowded).starts_with("too many TCP options: "));
}

prop_compose! {
    fn any_options()(
        mss in any::<Option<u16>>(),
        window_scale in any::<Option<u8>>(),
        sack_permitted in any::<bool>(),
        timestamps in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
    ) -> Options {
        let mut sack = SackBlocks::default();
        for (start, end) in blocks {
            sack.push(start, end);
        }
        let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
        let window_scale = window_scale.map(|scale| scale % 15);
        Options { mss, window_scale, sack_permitted, timestamps, sack }
    }
}

prop_compose! {
    pub(super) fn any_segment()(
        options in any_options().prop_filter("40 bytes of options", |options| options.len() <= 40),
        (seq, ack, window) in any::<(u32, u32, u16)>(),
        bits in any::<u8>(),
        payload in 0_u32..3_000,
    ) -> Segment {
        let all = [
            Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::ECE, Flags::CWR,
        ];
        let set = |flags: Flags, flag: Flags| flags.with_if(bits & flag.bits() != 0, flag);
        let flags = all.into_iter().fold(Flags::default(), set);
        Segment { seq, ack, flags, window, options, payload, mark: None }
    }
}

proptest! {
    /// Whatever a segment says, an independent parser reads from its bytes, checksums included.
    #[test]
    fn another_parser_reads_the_same_segment(segment in any_segment(), six: bool) {
        let ip = if six { 40 } else { 20 };
        let meta = meta(Protocol::Tcp, six, ip + segment.len());
        let (protocol, _, [from, to], bytes) =
            opened(&written(&Packet { meta, body: Body::Tcp(segment) }));
        prop_assert_eq!(protocol, IpProtocol::Tcp);
        let tcp = TcpPacket::new_checked(&bytes).unwrap();
        prop_assert!(tcp.verify_checksum(&from, &to));
        prop_assert_eq!((tcp.src_port(), tcp.dst_port()), (32_768, 4_433));
        prop_assert_eq!(tcp.urgent_at(), 0);
        let (options, length) = read_options(tcp.options());
        prop_assert_eq!(options, segment.options);
        prop_assert_eq!(length as u64, segment.options.len());
        prop_assert_eq!(tcp.payload(), vec![0; segment.payload as usize]);
        let flags = Flags::default()
            .with_if(tcp.fin(), Flags::FIN)
            .with_if(tcp.syn(), Flags::SYN)
            .with_if(tcp.rst(), Flags::RST)
            .with_if(tcp.psh(), Flags::PSH)
            .with_if(tcp.ack(), Flags::ACK)
            .with_if(tcp.ece(), Flags::ECE)
            .with_if(tcp.cwr(), Flags::CWR);
        prop_assert_eq!(flags, segment.flags);
        let numbers = (tcp.seq_number().0 as u32, tcp.ack_number().0 as u32, tcp.window_len());
        prop_assert_eq!(numbers, (segment.seq, segment.ack, segment.window));
    }
}

proptest! {
    /// The payload of a packet that another library wrote is the datagram that was encoded.
    #[test]
    fn a_datagram_is_what_its_bytes_say(stream: u16, message in 0u64..1 << 48, id in 0u64..1 << 62, payload in 1u32..9_000) {
        let datagram = Datagram { message, id, stream: usize::from(stream).into(), payload };
        let mut bytes = Vec::new();
        datagram.encode(&mut bytes);
        prop_assert_eq!(bytes.len() as u64, u64::from(payload).max(datagram.header()));
        prop_assert!(bytes.len() < 23 || bytes.len() as u32 == payload);
        prop_assert_eq!(Datagram::decode(&bytes[..datagram.header() as usize - 1]), None);
        prop_assert_eq!(Datagram::decode(&bytes), Some(datagram));
        let udp = UdpRepr { src_port: 1, dst_port: 2 };
        let ends = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let ip = Ipv4Repr {
            src_addr: ends[0],
            dst_addr: ends[1],
            next_header: IpProtocol::Udp,
            payload_len: 8 + bytes.len(),
            hop_limit: 64,
        };
        let mut raw = vec![0; ip.buffer_len() + ip.payload_len];
        let checksums = ChecksumCapabilities::default();
        ip.emit(&mut Ipv4Packet::new_unchecked(&mut raw), &checksums);
        let (from, to) = (ends[0].into(), ends[1].into());
        let fill = |room: &mut [u8]| room.copy_from_slice(&bytes);
        udp.emit(&mut UdpPacket::new_unchecked(&mut raw[20..]), &from, &to, bytes.len(), fill, &checksums);
        prop_assert_eq!(udp_payload(&raw), Some(&bytes[..]));
        raw[9] = 6;
        prop_assert_eq!(udp_payload(&raw), None);
    }
}
