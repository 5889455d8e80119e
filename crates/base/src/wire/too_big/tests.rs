use std::net::{Ipv4Addr, Ipv6Addr};

use smoltcp::wire::{Icmpv4Message, Icmpv4Packet, Icmpv6Message, Icmpv6Packet, Ipv4Packet};

use super::*;
use crate::packet::{Body, Packet};
use crate::wire::parse;
use crate::wire::tests::{meta, written};

const MTU: Bytes = Bytes::new(1_300);

fn router(six: bool) -> IpAddr {
    if six {
        Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 9).into()
    } else {
        Ipv4Addr::new(10, 0, 0, 9).into()
    }
}

fn sent(protocol: Protocol, six: bool, size: u64) -> Vec<u8> {
    written(&Packet { meta: meta(protocol, six, size), body: Body::Filler })
}

fn answer(packet: &[u8]) -> Option<Vec<u8>> {
    too_big(packet, router(packet[0] >> 4 == 6), MTU).unwrap()
}

#[test]
fn the_answer_quotes_the_packet_and_the_mtu() {
    for six in [false, true] {
        let packet = sent(Protocol::Udp, six, 1_500);
        let bytes = answer(&packet).unwrap();
        let read = parse(bytes.clone().into(), 0, SimTime::ZERO).unwrap().meta;
        assert_eq!(read.source, SocketAddr::new(router(six), 0));
        assert_eq!(read.destination.ip(), meta(Protocol::Udp, six, 0).source.ip());
        if six {
            assert_eq!((bytes.len(), read.protocol), (1_280, Protocol::ICMPV6));
            let icmp = Icmpv6Packet::new_checked(&bytes[40..]).unwrap();
            assert_eq!((icmp.msg_type(), icmp.msg_code()), (Icmpv6Message::PktTooBig, 0));
            assert_eq!(icmp.pkt_too_big_mtu(), 1_300);
            let (IpAddr::V6(from), IpAddr::V6(to)) = (read.source.ip(), read.destination.ip())
            else {
                unreachable!("an IPv6 packet")
            };
            assert!(icmp.verify_checksum(&from, &to));
            assert_eq!(icmp.payload(), &packet[..1_232]);
        } else {
            assert_eq!((bytes.len(), read.protocol), (576, Protocol::ICMP));
            assert!(Ipv4Packet::new_checked(&bytes).unwrap().verify_checksum());
            let icmp = Icmpv4Packet::new_checked(&bytes[20..]).unwrap();
            assert_eq!((icmp.msg_type(), icmp.msg_code()), (Icmpv4Message::DstUnreachable, 4));
            // RFC 1191 section 4: the MTU in the low half of the second word, whose high half is zero.
            assert_eq!(bytes[24..28], [0, 0, 0x05, 0x14]);
            assert!(icmp.verify_checksum());
            assert_eq!(icmp.data(), &packet[..548]);
        }
    }
}

#[test]
fn what_fits_gets_no_answer() {
    for six in [false, true] {
        assert_eq!(answer(&sent(Protocol::Tcp, six, 1_300)), None);
        assert!(answer(&sent(Protocol::Tcp, six, 1_301)).is_some());
    }
}

#[test]
fn errors_fragments_and_groups_get_no_answer() {
    let changed = |protocol, six, change: &[(usize, u8)]| {
        let mut packet = sent(protocol, six, 1_500);
        for (at, value) in change {
            packet[*at] = *value;
        }
        answer(&packet).is_some()
    };
    let udp = |change| changed(Protocol::Udp, false, change);
    assert!(udp(&[]));
    assert!(!udp(&[(6, 0)]), "may be fragmented");
    assert!(!udp(&[(7, 1)]), "a later fragment");
    assert!(!udp(&[(16, 224)]), "to a group");
    assert!(!udp(&[(16, 255), (17, 255), (18, 255), (19, 255)]), "to all");
    assert!(!udp(&[(12, 224)]), "from a group");
    assert!(!udp(&[(12, 0), (15, 0)]), "from nobody");
    for (kind, answered) in [(0, true), (3, false), (8, true), (11, false), (5, false)] {
        assert_eq!(changed(Protocol::ICMP, false, &[(20, kind)]), answered, "type {kind}");
    }
    let udp = |change| changed(Protocol::Udp, true, change);
    assert!(udp(&[(24, 0xff)]), "RFC 4443 section 2.4 e.3: to a group, nevertheless");
    assert!(!udp(&[(8, 0xff)]), "from a group");
    assert!(!udp(&[(6, 44), (40, 17), (42, 1)]), "a later fragment");
    for (kind, answered) in [(1, false), (2, false), (127, false), (128, true), (137, false)] {
        assert_eq!(changed(Protocol::ICMPV6, true, &[(40, kind)]), answered, "type {kind}");
    }
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let refused = |bytes: &[u8], six| too_big(bytes, router(six), MTU).unwrap_err().to_string();
    assert_eq!(refused(&[], false), "a truncated IP header: 0 of 20 bytes");
    let mixed = "a packet from [fd00::9]:0 to 10.0.0.1:0 is neither IPv4 nor IPv6";
    assert_eq!(refused(&sent(Protocol::Udp, false, 1_500), true), mixed);
}
