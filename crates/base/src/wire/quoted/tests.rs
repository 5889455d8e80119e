//! Judged by smoltcp, which computes checksums from scratch.

use smoltcp::wire::{Icmpv4Packet, Ipv4Packet, TcpPacket, UdpPacket};

use super::*;
use crate::packet::{Body, Packet};
use crate::units::Bytes;
use crate::wire::tests::{meta, written};
use crate::wire::too_big;

const NEW: &str = "192.0.2.99:1024";

/// A packet of this size, and a router's answer to it.
fn error(protocol: Protocol, size: u64) -> (Vec<u8>, Vec<u8>) {
    let packet = written(&Packet { meta: meta(protocol, false, size), body: Body::Filler });
    let answer = too_big(&packet, "10.0.0.9".parse().unwrap(), Bytes::new(300)).unwrap().unwrap();
    (packet, answer)
}

#[test]
fn an_error_says_what_it_quotes() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        let (_, error) = error(protocol, 1_400);
        let found = quoted(&error).unwrap();
        let sent = meta(protocol, false, 1_400);
        assert_eq!((found.protocol, found.source), (protocol, sent.source));
        assert_eq!(found.destination, sent.destination);
    }
    let (packet, _) = error(Protocol::Udp, 1_400);
    assert_eq!(quoted(&packet), None, "no error");
}

/// Whole packets are quoted, so that their checksums can be computed.
#[test]
fn a_requoted_packet_has_sound_checksums() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        for end in [QuotedEnd::Source, QuotedEnd::Destination] {
            let (packet, mut bytes) = error(protocol, 400);
            let before = quoted(&bytes).unwrap();
            requote(&mut bytes, &before, end, NEW.parse().unwrap());
            let after = quoted(&bytes).unwrap();
            let (changed, kept) = match end {
                QuotedEnd::Source => (after.source, (before.destination, after.destination)),
                QuotedEnd::Destination => (after.destination, (before.source, after.source)),
            };
            assert_eq!(changed, NEW.parse().unwrap());
            assert_eq!(kept.0, kept.1);
            let icmp = Icmpv4Packet::new_checked(&bytes[20..]).unwrap();
            assert!(icmp.verify_checksum());
            assert_eq!(icmp.data().len(), packet.len());
            let quoted = Ipv4Packet::new_checked(icmp.data()).unwrap();
            assert!(quoted.verify_checksum());
            let (source, destination) = (quoted.src_addr().into(), quoted.dst_addr().into());
            let content = quoted.payload();
            assert!(if protocol == Protocol::Udp {
                UdpPacket::new_checked(content).unwrap().verify_checksum(&source, &destination)
            } else {
                TcpPacket::new_checked(content).unwrap().verify_checksum(&source, &destination)
            });
        }
    }
}

/// RFC 5508 section 4.2: a ping is known by its identifier.
#[test]
fn a_requoted_ping_has_another_identifier() {
    let mut ping = written(&Packet { meta: meta(Protocol::ICMP, false, 400), body: Body::Filler });
    let mut echo = Icmpv4Packet::new_unchecked(&mut ping[20..]);
    echo.set_msg_type(smoltcp::wire::Icmpv4Message::EchoRequest);
    echo.set_echo_ident(77);
    echo.fill_checksum();
    let mut error = too_big(&ping, "10.0.0.9".parse().unwrap(), Bytes::new(300)).unwrap().unwrap();
    let found = quoted(&error).unwrap();
    assert_eq!(found.source, "10.0.0.1:77".parse().unwrap());
    requote(&mut error, &found, QuotedEnd::Source, NEW.parse().unwrap());
    let icmp = Icmpv4Packet::new_checked(&error[20..]).unwrap();
    assert!(icmp.verify_checksum());
    let quoted = Ipv4Packet::new_checked(icmp.data()).unwrap();
    assert!(quoted.verify_checksum());
    assert_eq!(quoted.src_addr().octets(), [192, 0, 2, 99]);
    let echo = Icmpv4Packet::new_checked(quoted.payload()).unwrap();
    assert!(echo.verify_checksum());
    assert_eq!(echo.echo_ident(), 1_024);
}

/// RFC 792: a header and 8 bytes, so a segment is quoted without its checksum.
#[test]
fn eight_bytes_of_content_are_enough() {
    let (_, error) = error(Protocol::Tcp, 400);
    let mut short = error[..20 + ICMP_HEADER + 28].to_vec();
    let length = u16::try_from(short.len()).unwrap();
    let mut header = Ipv4Packet::new_unchecked(&mut short[..]);
    header.set_total_len(length);
    header.fill_checksum();
    Icmpv4Packet::new_unchecked(&mut short[20..]).fill_checksum();
    let found = quoted(&short).unwrap();
    assert_eq!(found.source, meta(Protocol::Tcp, false, 400).source);
    requote(&mut short, &found, QuotedEnd::Source, NEW.parse().unwrap());
    assert_eq!(quoted(&short).unwrap().source, NEW.parse().unwrap());
    assert!(Icmpv4Packet::new_checked(&short[20..]).unwrap().verify_checksum());
}
