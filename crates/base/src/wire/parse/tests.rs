use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use smoltcp::wire::{IpProtocol, Ipv4Packet, Ipv6Packet, UdpPacket};

use super::*;
use crate::packet::Datagram;
use crate::segment::Segment;
use crate::wire::tests::{any_segment, hex, meta, written};
use crate::wire::write;

fn read(bytes: &[u8]) -> Result<Packet, ParseError> {
    parse(Payload::copy_from_slice(bytes), 7, SimTime::ZERO)
}

/// An IPv4 packet of smoltcp's: 4-byte words of options, the fragment fields, and a payload.
fn v4(options: usize, protocol: IpProtocol, fragment: (bool, u16), payload: &[u8]) -> Vec<u8> {
    let header = 20 + 4 * options;
    let mut bytes = vec![1; header + payload.len()];
    let mut ip = Ipv4Packet::new_unchecked(&mut bytes);
    ip.set_version(4);
    ip.set_header_len(header as u8);
    ip.set_dscp(0x2e);
    ip.set_ecn(2);
    ip.set_total_len((header + payload.len()) as u16);
    ip.set_ident(9);
    ip.clear_flags();
    ip.set_more_frags(fragment.0);
    ip.set_frag_offset(fragment.1);
    ip.set_hop_limit(3);
    ip.set_next_header(protocol);
    ip.set_src_addr(Ipv4Addr::new(10, 0, 0, 1));
    ip.set_dst_addr(Ipv4Addr::new(10, 0, 0, 2));
    ip.payload_mut().copy_from_slice(payload);
    ip.fill_checksum();
    bytes
}

/// An IPv6 packet of smoltcp's, whose payload starts with a header of the given type.
fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 40 + payload.len()];
    let mut ip = Ipv6Packet::new_unchecked(&mut bytes);
    ip.set_version(6);
    ip.set_traffic_class(0xb9);
    ip.set_flow_label(0x5_4321);
    ip.set_payload_len(payload.len() as u16);
    ip.set_next_header(next.into());
    ip.set_hop_limit(3);
    ip.set_src_addr(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
    ip.set_dst_addr(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2));
    ip.payload_mut().copy_from_slice(payload);
    bytes
}

/// A UDP header with the ports 1000 and 2000, and four bytes of data.
fn udp() -> Vec<u8> {
    let mut bytes = vec![0; 12];
    let mut udp = UdpPacket::new_unchecked(&mut bytes);
    udp.set_src_port(1_000);
    udp.set_dst_port(2_000);
    udp.set_len(12);
    bytes
}

/// Reads a packet, and checks that it is written back unchanged. Returns its protocol, ports and ECN field.
#[track_caller]
fn seen(bytes: &[u8]) -> (Protocol, u16, u16, Ecn) {
    let packet = read(bytes).unwrap();
    assert_eq!(written(&packet), bytes);
    let meta = packet.meta;
    assert_eq!(meta.source.is_ipv4(), bytes[0] >> 4 == 4);
    (meta.protocol, meta.source.port(), meta.destination.port(), meta.ecn)
}

#[test]
fn any_protocol_of_ipv4_is_read() {
    let whole = (false, 0);
    let of = |protocol, payload: &[u8]| seen(&v4(0, protocol, whole, payload));
    assert_eq!(of(IpProtocol::Udp, &udp()), (Protocol::Udp, 1_000, 2_000, Ecn::Ect0));
    assert_eq!(of(IpProtocol::Tcp, &udp()), (Protocol::Tcp, 1_000, 2_000, Ecn::Ect0));
    assert_eq!(of(IpProtocol::Icmp, &udp()), (Protocol::ICMP, 0, 0, Ecn::Ect0));
    assert_eq!(of(IpProtocol::IpSecEsp, &udp()), (Protocol::Other(50), 0, 0, Ecn::Ect0));
    assert_eq!(of(IpProtocol::Unknown(253), &[]), (Protocol::Other(253), 0, 0, Ecn::Ect0));
    // Types of IPv6's extension headers mean nothing here.
    assert_eq!(of(IpProtocol::Ipv6Frag, &udp()), (Protocol::Other(44), 0, 0, Ecn::Ect0));
    let packet = read(&v4(0, IpProtocol::Udp, whole, &udp())).unwrap();
    assert_eq!(packet.meta.source, "10.0.0.1:1000".parse().unwrap());
    assert_eq!(packet.meta.destination, "10.0.0.2:2000".parse().unwrap());
    assert_eq!((packet.meta.size, packet.meta.id), (Bytes::new(32), 7));
}

/// RFC 5508 section 3: the identifier of a query is the port of the end that asks.
#[test]
fn queries_of_icmp_have_their_identifier_for_a_port() {
    let whole = (false, 0);
    let of = |kind: u8, length: usize| {
        let message = [kind, 0, 0xab, 0xcd, 0x12, 0x34, 0, 1];
        let (protocol, from, to, _) = seen(&v4(0, IpProtocol::Icmp, whole, &message[..length]));
        assert_eq!(protocol, Protocol::ICMP);
        (from, to)
    };
    assert_eq!([of(8, 8), of(13, 8)], [(0x1234, 0); 2]);
    assert_eq!([of(0, 8), of(14, 8)], [(0, 0x1234); 2]);
    assert_eq!([of(3, 8), of(5, 8), of(11, 8), of(8, 5), of(8, 0)], [(0, 0); 5]);
}

#[test]
fn options_of_ipv4_are_skipped() {
    for options in 0..=10 {
        let bytes = v4(options, IpProtocol::Udp, (false, 0), &udp());
        assert_eq!(seen(&bytes), (Protocol::Udp, 1_000, 2_000, Ecn::Ect0));
    }
}

#[test]
fn only_the_first_fragment_has_ports() {
    let udp = udp();
    for (more, offset, ports) in
        [(true, 0, (1_000, 2_000)), (true, 8, (0, 0)), (false, 1_480, (0, 0))]
    {
        let bytes = v4(0, IpProtocol::Udp, (more, offset), &udp);
        assert_eq!(seen(&bytes), (Protocol::Udp, ports.0, ports.1, Ecn::Ect0), "{offset}");
        // RFC 8200 section 4.5: next header, reserved, offset with flag, identification.
        let mut payload = vec![17, 0];
        payload.extend((offset | u16::from(more)).to_be_bytes());
        payload.extend([0, 0, 0, 9]);
        payload.extend(&udp);
        let expected = (Protocol::Udp, ports.0, ports.1, Ecn::Ect1);
        assert_eq!(seen(&v6(44, &payload)), expected, "{offset}");
    }
    // The content of a later fragment is no header, whatever the type says.
    assert_eq!(seen(&v4(0, IpProtocol::IpSecAh, (false, 80), &[0; 4])).0, Protocol::Other(51));
    let late = [60, 0, 0, 80, 0, 0, 0, 9, 0xff, 0xff];
    assert_eq!(seen(&v6(44, &late)).0, Protocol::Other(60));
}

#[test]
fn any_protocol_of_ipv6_is_read_behind_its_extension_headers() {
    assert_eq!(seen(&v6(17, &udp())), (Protocol::Udp, 1_000, 2_000, Ecn::Ect1));
    assert_eq!(seen(&v6(58, &udp())), (Protocol::ICMPV6, 0, 0, Ecn::Ect1));
    assert_eq!(seen(&v6(59, &[])), (Protocol::Other(59), 0, 0, Ecn::Ect1));
    // Hop-by-hop options of 8 bytes, a routing header of 16, destination options of 8 (RFC 8200 sections 4.3, 4.4, 4.6).
    let mut payload =
        hex("2b00 010400000000  3c01 0400 00000000 0000000000000000  0600 010400000000");
    payload.extend(udp());
    assert_eq!(seen(&v6(0, &payload)), (Protocol::Tcp, 1_000, 2_000, Ecn::Ect1));
    // An authentication header of 16 bytes (RFC 4302 section 2).
    let mut payload = hex("11 02 0000 00000001 00000002 aabbccdd");
    payload.extend(udp());
    assert_eq!(seen(&v6(51, &payload)), (Protocol::Udp, 1_000, 2_000, Ecn::Ect1));
    let bytes = v4(1, IpProtocol::IpSecAh, (false, 0), &payload);
    assert_eq!(seen(&bytes), (Protocol::Udp, 1_000, 2_000, Ecn::Ect0));
}

#[test]
fn ports_that_are_not_there_are_zero() {
    for length in 0..4 {
        let bytes = v4(0, IpProtocol::Udp, (false, 0), &udp()[..length]);
        assert_eq!(seen(&bytes), (Protocol::Udp, 0, 0, Ecn::Ect0), "{length}");
    }
    assert_eq!(seen(&v4(0, IpProtocol::Udp, (false, 0), &udp()[..4])).1, 1_000);
}

#[test]
fn bytes_behind_the_packet_are_cut_off() {
    let bytes = v4(0, IpProtocol::Udp, (false, 0), &udp());
    let padded = [bytes.as_slice(), &[0; 14]].concat();
    let packet = read(&padded).unwrap();
    assert_eq!(written(&packet), bytes);
}

#[test]
fn a_mark_changes_the_field_and_the_checksum_only() {
    for bytes in [v4(2, IpProtocol::Icmp, (false, 0), &udp()), v6(58, &udp())] {
        let mut packet = read(&bytes).unwrap();
        packet.meta.ecn = Ecn::Ce;
        let marked = written(&packet);
        assert_eq!(read(&marked).unwrap().meta, packet.meta);
        if bytes[0] >> 4 == 4 {
            let ip = Ipv4Packet::new_checked(&marked).unwrap();
            assert!(ip.verify_checksum());
            assert_eq!((ip.ecn(), ip.dscp(), ip.hop_limit()), (3, 0x2e, 3));
        } else {
            let ip = Ipv6Packet::new_checked(&marked).unwrap();
            assert_eq!((ip.traffic_class(), ip.flow_label()), (0xbb, 0x5_4321));
        }
        let changed = marked.iter().zip(&bytes).filter(|(now, before)| now != before).count();
        assert!(changed <= 3, "{changed} bytes differ");
    }
}

#[test]
fn bad_packets_are_refused_by_what_is_wrong() {
    let refused = |bytes: &[u8], message: &str| {
        assert_eq!(read(bytes).unwrap_err().to_string(), message);
    };
    let four = v4(2, IpProtocol::Udp, (false, 0), &udp());
    let six = v6(17, &udp());
    refused(&[], "a truncated IP header: 0 of 20 bytes");
    refused(&four[..1], "a truncated IP header: 1 of 28 bytes");
    refused(&four[..27], "a truncated IP header: 27 of 28 bytes");
    refused(&four[..39], "a truncated IP packet: 39 of 40 bytes");
    refused(&six[..39], "a truncated IP header: 39 of 40 bytes");
    refused(&six[..51], "a truncated IP packet: 51 of 52 bytes");
    let with = |bytes: &[u8], at: usize, value: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] = value;
        bytes
    };
    refused(&with(&four, 0, 0x57), "an IP packet of version 5; allowed: 4, 6");
    refused(&with(&four, 0, 0x44), "an IPv4 header of 16 bytes; allowed: 20 to 60");
    refused(&with(&four, 3, 27), "an IPv4 packet of 27 bytes with a header of 28");
    // Extension headers of which the packet has a part, and one of no length.
    for next in [0, 43, 44, 51, 60, 135] {
        let message = format!("a truncated or malformed IP extension header of type {next}");
        refused(&v6(next, &[17, 1, 0, 0, 0, 0, 0]), &message);
    }
    let message = "a truncated or malformed IP extension header of type 51";
    refused(&v4(0, IpProtocol::IpSecAh, (false, 0), &[17; 3]), message);
    refused(&v6(51, &[17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), message);
    refused(&v6(0, &[17, 1, 0, 0, 0, 0, 0, 0]), &message.replace("51", "0"));
}

/// Checks that a packet of ours is read as it was meant, and written back as it was.
fn assert_round_trip(meta: &Meta, body: Body) -> Result<(), TestCaseError> {
    let bytes = written(&Packet { meta: meta.clone(), body });
    let read = read(&bytes).unwrap();
    prop_assert_eq!(&read.meta, meta);
    prop_assert_eq!(written(&read), bytes);
    Ok(())
}

fn any_ecn() -> impl Strategy<Value = Ecn> {
    prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce])
}

proptest! {
    #[test]
    fn our_own_packets_are_read_as_written(
        segment in any_segment(),
        payload in prop::collection::vec(any::<u8>(), 0..1_500),
        ports: (u16, u16),
        ecn in any_ecn(),
        six: bool,
    ) {
        let ip = if six { 40 } else { 20 };
        let meta = |protocol, length: u64| {
            let mut meta = Meta { ecn, ..meta(protocol, six, ip + length) };
            meta.source.set_port(ports.0);
            meta.destination.set_port(ports.1);
            meta
        };
        assert_round_trip(&meta(Protocol::Tcp, segment.len()), Body::Tcp(segment))?;
        let length = payload.len() as u64;
        let quic = Body::UdpBytes(payload.as_slice().into());
        assert_round_trip(&meta(Protocol::Udp, 8 + length), quic)?;
        let datagram = Datagram { message: 1, id: 0, stream: 0.into(), payload: length as u32 };
        assert_round_trip(&meta(Protocol::Udp, 8 + length), Body::Datagram(datagram))?;
        let empty = Segment::default();
        assert_round_trip(&meta(Protocol::Tcp, empty.len()), Body::Tcp(empty))?;
    }

    /// Nothing panics, and what can be read is written back as it was.
    #[test]
    fn random_bytes_are_read_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..120),
        version in prop::sample::select(vec![0x40, 0x45, 0x46, 0x60]),
        next in prop::sample::select(vec![0, 6, 17, 43, 44, 51, 58, 60, 135]),
        short: bool,
    ) {
        let length = bytes.len();
        if length > 10 {
            // Usually a version, a length and a type that lead further.
            bytes[0] = version;
            if short {
                let stated = if version == 0x60 { length.saturating_sub(40) } else { length } as u8;
                bytes[if version == 0x60 { 4 } else { 2 }] = 0;
                bytes[if version == 0x60 { 5 } else { 3 }] = stated;
                bytes[if version == 0x60 { 6 } else { 9 }] = next;
            }
        }
        if let Ok(packet) = read(&bytes) {
            let mut again = Vec::new();
            write(&packet, &mut again).unwrap();
            prop_assert_eq!(&again[..], &bytes[..again.len()]);
            prop_assert_eq!(again.len() as u64, packet.meta.size.get());
        }
    }

    /// Another library agrees on the addresses, the length and the type of whatever it accepts.
    #[test]
    fn another_parser_reads_the_same_headers(bytes in prop::collection::vec(any::<u8>(), 20..80), six: bool) {
        let mut bytes = bytes;
        bytes[0] = if six { 0x60 } else { 0x45 };
        if six { bytes[4..6].fill(0) } else { bytes[2..4].copy_from_slice(&[0, 20]) }
        let Ok(packet) = read(&bytes) else { return Ok(()) };
        let meta = packet.meta;
        let theirs = if six {
            let ip = Ipv6Packet::new_checked(&bytes).unwrap();
            (ip.src_addr().into(), ip.dst_addr().into(), ip.total_len(), ip.next_header())
        } else {
            let ip = Ipv4Packet::new_checked(&bytes).unwrap();
            (ip.src_addr().into(), ip.dst_addr().into(), ip.total_len().into(), ip.next_header())
        };
        let (source, destination): (IpAddr, IpAddr) = (theirs.0, theirs.1);
        prop_assert_eq!((meta.source.ip(), meta.destination.ip()), (source, destination));
        prop_assert_eq!(meta.size.get(), theirs.2 as u64);
        prop_assert_eq!(meta.protocol.number(), u8::from(theirs.3));
    }
}
