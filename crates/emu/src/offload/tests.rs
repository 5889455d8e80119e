//! The library etherparse reads the output, and computes the checksums to compare with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TcpSlice, TransportSlice, UdpSlice};

use super::*;

/// The header before a frame: flags, kind, bytes in a packet, where the checksum starts, and where it is from there.
fn framed(flags: u8, kind: u8, [size, start, offset]: [u16; 3], packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![flags, kind];
    for word in [0, size, start, offset] {
        frame.extend(word.to_ne_bytes());
    }
    frame.extend(packet);
    frame
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place * 7 + place / 251) as u8).collect()
}

fn packets(frame: &[u8]) -> Vec<Bytes> {
    let (mut arena, mut packets) = (Arena::default(), Vec::new());
    cut(frame, &mut arena, &mut packets).unwrap();
    packets
}

fn tcp(packet: &[u8]) -> TcpSlice<'_> {
    let parsed = SlicedPacket::from_ip(packet).unwrap();
    let Some(TransportSlice::Tcp(tcp)) = parsed.transport else { panic!("no TCP") };
    let sum = match parsed.net.unwrap() {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
            tcp.calc_checksum_ipv4(header.source(), header.destination())
        }
        NetSlice::Ipv6(ip) => {
            tcp.calc_checksum_ipv6(ip.header().source(), ip.header().destination())
        }
        NetSlice::Arp(_) => panic!("no IP"),
    };
    assert_eq!(tcp.checksum(), sum.unwrap());
    tcp
}

fn udp(packet: &[u8]) -> UdpSlice<'_> {
    let parsed = SlicedPacket::from_ip(packet).unwrap();
    let Some(TransportSlice::Udp(udp)) = parsed.transport else { panic!("no UDP") };
    let header = udp.to_header();
    let sum = match parsed.net.unwrap() {
        NetSlice::Ipv4(ip) => header.calc_checksum_ipv4(&ip.header().to_header(), udp.payload()),
        NetSlice::Ipv6(ip) => header.calc_checksum_ipv6(&ip.header().to_header(), udp.payload()),
        NetSlice::Arp(_) => panic!("no IP"),
    };
    assert_eq!(udp.checksum(), sum.unwrap());
    assert_eq!(usize::from(udp.length()), 8 + udp.payload().len());
    udp
}

/// A segment of 3,500 bytes in packets of 1,448: sequence numbers, flags, identifications and checksums as on a link.
#[test]
fn a_long_segment_becomes_packets() {
    let content = content(3_500);
    for is_v4 in [true, false] {
        let ip = if is_v4 {
            PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        } else {
            PacketBuilder::ipv6([1; 16], [2; 16], 64)
        };
        let mut header = etherparse::TcpHeader::new(1_000, 2_000, u32::MAX - 1_000, 500);
        (header.ack, header.psh, header.fin, header.cwr) = (true, true, true, true);
        header.acknowledgment_number = 77;
        header.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]).unwrap();
        let mut long = Vec::new();
        ip.tcp_header(header.clone()).write_to_vec(&mut long, &content).unwrap();
        let start = if is_v4 { 20 } else { 40 };
        let kind = if is_v4 { TCP_V4 } else { TCP_V6 };
        let packets = packets(&framed(NEEDS_CHECKSUM, kind | ECN, [1_448, start, 16], &long));
        assert_eq!(packets.len(), 3);
        let mut sent = Vec::new();
        for (number, packet) in packets.iter().enumerate() {
            let (first, last) = (number == 0, number == 2);
            let tcp = tcp(packet);
            let expected = header.sequence_number.wrapping_add(1_448 * number as u32);
            assert_eq!(tcp.sequence_number(), expected);
            assert_eq!((tcp.acknowledgment_number(), tcp.window_size()), (77, 500));
            assert_eq!((tcp.cwr(), tcp.psh(), tcp.fin(), tcp.ack()), (first, last, last, true));
            assert_eq!(tcp.options(), header.options.as_slice());
            sent.extend_from_slice(tcp.payload());
            if is_v4 {
                assert_eq!(u16::from_be_bytes([packet[4], packet[5]]), number as u16);
            }
        }
        assert_eq!(packets[0].len(), usize::from(start) + 32 + 1_448);
        assert_eq!(sent, content);
    }
}

#[test]
fn datagrams_of_one_size_are_told_apart() {
    let content = content(2_500);
    for is_v4 in [true, false] {
        let ip = if is_v4 {
            PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        } else {
            PacketBuilder::ipv6([1; 16], [2; 16], 64)
        };
        let mut long = Vec::new();
        ip.udp(1_000, 2_000).write_to_vec(&mut long, &content).unwrap();
        let start = if is_v4 { 20 } else { 40 };
        let packets = packets(&framed(NEEDS_CHECKSUM, UDP, [1_200, start, 6], &long));
        let parts: Vec<_> = packets.iter().map(|packet| udp(packet).payload()).collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [1_200, 1_200, 100]);
        assert_eq!(parts.concat(), content);
    }
}

/// The host leaves the sum of the pseudo-header in the field (RFC 768, RFC 9293).
#[test]
fn an_unfinished_checksum_is_finished() {
    for length in [0, 1, 2, 3, 999, 1_400] {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1_000, 2_000);
        builder.write_to_vec(&mut packet, &content(length)).unwrap();
        let finished = packet.clone();
        let pseudo = sum(&packet[12..20]) + sum(&[0, 17]) + sum(&packet[24..26]);
        packet[26..28].copy_from_slice(&folded(pseudo).to_be_bytes());
        let out = packets(&framed(NEEDS_CHECKSUM, 0, [0, 20, 6], &packet));
        assert_eq!(out, [&finished[..]]);
        udp(&out[0]);
    }
}

#[test]
fn a_finished_packet_stays_as_it_is() {
    let packet = content(60);
    assert_eq!(packets(&framed(0, 0, [0; 3], &packet)), [&packet[..]]);
}

#[test]
fn frames_that_are_none_are_refused() {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(1, 2, 3, 4);
    builder.write_to_vec(&mut packet, &[0; 100]).unwrap();
    let refused = |frame: &[u8]| {
        let (mut arena, mut packets) = (Arena::default(), Vec::new());
        cut(frame, &mut arena, &mut packets) == Err(Malformed) && packets.is_empty()
    };
    assert!(refused(&[0; 9]), "no header");
    assert!(refused(&framed(0, TCP_V4, [0, 20, 16], &packet)), "packets of no bytes");
    assert!(
        refused(&framed(0, TCP_V4, [50, 19, 16], &packet)),
        "a transport header within that of IP"
    );
    assert!(
        refused(&framed(0, TCP_V4, [50, 130, 16], &packet)),
        "a transport header behind the end"
    );
    assert!(refused(&framed(0, 3, [50, 20, 16], &packet)), "a kind that was not offered");
    assert!(refused(&framed(NEEDS_CHECKSUM, 0, [0, 200, 6], &packet)), "a checksum behind the end");
    packet.truncate(30);
    assert!(refused(&framed(0, TCP_V4, [50, 20, 16], &packet)), "half a TCP header");
}
