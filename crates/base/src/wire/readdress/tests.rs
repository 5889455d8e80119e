//! Judged by smoltcp, which computes checksums from scratch.

use std::net::SocketAddr;

use bytes::Bytes as Payload;
use smoltcp::wire::{
    Icmpv4Message, Icmpv4Packet, Icmpv6Packet, Ipv4Packet, Ipv6Packet, TcpPacket, UdpPacket,
};

use super::super::tests::{meta, written};
use super::super::{parse, write};
use crate::packet::{Body, Meta, Packet, Protocol};
use crate::time::SimTime;

/// A packet written, read, translated and written again.
fn translated(protocol: Protocol, six: bool, size: u64) -> (Vec<u8>, [SocketAddr; 2]) {
    let whole = written(&Packet { meta: meta(protocol, six, size), body: Body::Filler });
    let mut packet = parse(Payload::from(whole), 0, SimTime::ZERO).unwrap();
    let source = if six { "[fd00::99]:1024" } else { "192.0.2.99:1024" };
    packet.meta.source = source.parse().unwrap();
    if packet.meta.destination.port() == 0 {
        packet.meta.source.set_port(0);
    }
    let ends = [packet.meta.source, packet.meta.destination];
    let mut bytes = Vec::new();
    write(&packet, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, size);
    (bytes, ends)
}

#[test]
fn a_translated_packet_carries_its_new_addresses() {
    for six in [false, true] {
        for protocol in [Protocol::Udp, Protocol::Tcp] {
            let (bytes, ends) = translated(protocol, six, 701);
            let again = parse(Payload::from(bytes.clone()), 0, SimTime::ZERO).unwrap();
            assert_eq!([again.meta.source, again.meta.destination], ends);
            let (source, destination, content) = if six {
                let ip = Ipv6Packet::new_checked(&bytes[..]).unwrap();
                (ip.src_addr().into(), ip.dst_addr().into(), ip.payload())
            } else {
                let ip = Ipv4Packet::new_checked(&bytes[..]).unwrap();
                assert!(ip.verify_checksum());
                (ip.src_addr().into(), ip.dst_addr().into(), ip.payload())
            };
            let is_sound = if protocol == Protocol::Udp {
                UdpPacket::new_checked(content).unwrap().verify_checksum(&source, &destination)
            } else {
                TcpPacket::new_checked(content).unwrap().verify_checksum(&source, &destination)
            };
            assert!(is_sound, "{protocol:?} over IPv6: {six}");
        }
    }
}

/// ICMP over IPv4 does not cover addresses, over IPv6 it does (RFC 4443 section 2.3).
#[test]
fn other_protocols_keep_their_content() {
    let (bytes, ends) = translated(Protocol::ICMP, false, 100);
    let ip = Ipv4Packet::new_checked(&bytes[..]).unwrap();
    assert!(ip.verify_checksum());
    assert_eq!(ip.payload(), [0; 80]);
    assert_eq!(SocketAddr::new(ip.src_addr().into(), 0), ends[0]);

    let (source, destination) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    let mut whole =
        written(&Packet { meta: meta(Protocol::ICMPV6, true, 100), body: Body::Filler });
    let mut echo = Icmpv6Packet::new_unchecked(&mut whole[40..]);
    echo.set_msg_type(smoltcp::wire::Icmpv6Message::EchoRequest);
    echo.fill_checksum(&source, &destination);
    let mut packet = parse(Payload::from(whole), 0, SimTime::ZERO).unwrap();
    packet.meta.source = "[fd00::99]:0".parse().unwrap();
    let mut bytes = Vec::new();
    write(&packet, &mut bytes).unwrap();
    let echo = Icmpv6Packet::new_checked(&bytes[40..]).unwrap();
    assert!(echo.verify_checksum(&"fd00::99".parse().unwrap(), &destination));
}

/// RFC 5508 section 3.1.
#[test]
fn a_translated_ping_has_another_identifier() {
    for (message, is_asked) in
        [(Icmpv4Message::EchoRequest, true), (Icmpv4Message::EchoReply, false)]
    {
        let mut whole =
            written(&Packet { meta: meta(Protocol::ICMP, false, 84), body: Body::Filler });
        let mut echo = Icmpv4Packet::new_unchecked(&mut whole[20..]);
        echo.set_msg_type(message);
        echo.set_echo_ident(77);
        echo.set_echo_seq_no(5);
        echo.fill_checksum();
        let mut packet = parse(Payload::from(whole), 0, SimTime::ZERO).unwrap();
        let Meta { source, destination, .. } = &mut packet.meta;
        *if is_asked { source } else { destination } = "192.0.2.99:1024".parse().unwrap();
        let mut bytes = Vec::new();
        write(&packet, &mut bytes).unwrap();
        assert!(Ipv4Packet::new_checked(&bytes[..]).unwrap().verify_checksum());
        let echo = Icmpv4Packet::new_checked(&bytes[20..]).unwrap();
        assert!(echo.verify_checksum());
        assert_eq!((echo.msg_type(), echo.echo_ident(), echo.echo_seq_no()), (message, 1_024, 5));
    }
}

/// A segment's checksum may be zero; it is still one.
#[test]
fn a_checksum_of_zero_is_updated_but_for_udp() {
    let mut whole = written(&Packet { meta: meta(Protocol::Tcp, false, 100), body: Body::Filler });
    let place = 20 + 16;
    let sum = u16::from_be_bytes([whole[place], whole[place + 1]]);
    // With the checksum added to a word that was zero (the urgent pointer), the right one is zero.
    whole[place..place + 2].fill(0);
    whole[place + 2..place + 4].copy_from_slice(&sum.to_be_bytes());
    let mut packet = parse(Payload::from(whole), 0, SimTime::ZERO).unwrap();
    packet.meta.source = "192.0.2.99:7".parse().unwrap();
    let mut bytes = Vec::new();
    write(&packet, &mut bytes).unwrap();
    let (source, destination) = ("192.0.2.99".parse().unwrap(), "10.0.0.2".parse().unwrap());
    let segment = TcpPacket::new_checked(&bytes[20..]).unwrap();
    assert!(segment.verify_checksum(&source, &destination));
}

/// RFC 768: zero stands for no checksum.
#[test]
fn a_datagram_without_a_checksum_stays_without_one() {
    let mut whole = written(&Packet { meta: meta(Protocol::Udp, false, 100), body: Body::Filler });
    whole[26..28].fill(0);
    let mut packet = parse(Payload::from(whole), 0, SimTime::ZERO).unwrap();
    packet.meta.source = "192.0.2.99:7".parse().unwrap();
    let mut bytes = Vec::new();
    write(&packet, &mut bytes).unwrap();
    assert_eq!(bytes[20..28], [0, 7, 0x11, 0x51, 0, 80, 0, 0]);
}
