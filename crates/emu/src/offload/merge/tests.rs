//! A host's kernel has to cut each frame that it receives into the very packets that left the network. `cut` does the
//! same as the kernel, and has tests of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use bytes::Bytes;
use etherparse::{
    IpHeaders, Ipv4Extensions, Ipv4Header, Ipv6Extensions, Ipv6Header, PacketBuilder, TcpHeader,
};

use super::*;
use crate::offload::{Arena, cut};

const FRAMING: Framing = Framing::Virtio { datagrams: true };
const SIZE: usize = 1_000;

/// How a packet differs from one that goes on where the last one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Next,
    Short,
    Long,
    /// The sender's push ends with it.
    Push,
    /// Something is missing before it.
    Gap,
    Port,
    Window,
    Acknowledgement,
    Option,
    Fin,
    /// A router marked it.
    Marked,
    Hops,
    WrongChecksum,
    WrongHeaderChecksum,
    Fragment,
    Empty,
}

use Kind::*;

const KINDS: [Kind; 16] = [
    Next,
    Short,
    Long,
    Push,
    Gap,
    Port,
    Window,
    Acknowledgement,
    Option,
    Fin,
    Marked,
    Hops,
    WrongChecksum,
    WrongHeaderChecksum,
    Fragment,
    Empty,
];

/// A sender of packets.
struct Sender {
    is_v4: bool,
    is_udp: bool,
    number: u16,
    sequence: u32,
}

impl Sender {
    fn new(is_v4: bool, is_udp: bool) -> Self {
        Self { is_v4, is_udp, number: u16::MAX - 1, sequence: u32::MAX - 1_500 }
    }

    fn packet(&mut self, kind: Kind) -> Vec<u8> {
        let length = match kind {
            Short => SIZE - 1,
            Long => SIZE + 1,
            Empty => 0,
            _ => SIZE,
        };
        let payload: Vec<u8> =
            (0..length).map(|at| (at * 7 + self.sequence as usize) as u8).collect();
        let ports = (1_000, if kind == Port { 2_001 } else { 2_000 });
        if kind == Gap {
            self.sequence = self.sequence.wrapping_add(1);
        }
        let ip = PacketBuilder::ip(self.ip(kind));
        let mut packet = Vec::new();
        if self.is_udp {
            ip.udp(ports.0, ports.1).write_to_vec(&mut packet, &payload).unwrap();
        } else {
            ip.tcp_header(self.tcp(kind, ports)).write_to_vec(&mut packet, &payload).unwrap();
        }
        match kind {
            WrongChecksum => *packet.last_mut().unwrap() ^= 1,
            WrongHeaderChecksum if self.is_v4 => packet[10] ^= 1,
            _ => {}
        }
        self.number = self.number.wrapping_add(1);
        self.sequence = self.sequence.wrapping_add(length as u32);
        packet
    }

    fn ip(&self, kind: Kind) -> IpHeaders {
        let hops = if kind == Hops { 63 } else { 64 };
        if !self.is_v4 {
            let traffic_class = if kind == Marked { 3 } else { 2 };
            let (source, destination) = ([1; 16], [2; 16]);
            let header = Ipv6Header {
                traffic_class,
                hop_limit: hops,
                source,
                destination,
                ..Default::default()
            };
            return IpHeaders::Ipv6(header, Ipv6Extensions::default());
        }
        let header = Ipv4Header {
            identification: self.number,
            dont_fragment: kind != Fragment,
            more_fragments: kind == Fragment,
            time_to_live: hops,
            ecn: if kind == Marked { 3 } else { 2 }.try_into().unwrap(),
            source: [10, 0, 0, 1],
            destination: [10, 0, 0, 2],
            ..Default::default()
        };
        IpHeaders::Ipv4(header, Ipv4Extensions::default())
    }

    fn tcp(&self, kind: Kind, ports: (u16, u16)) -> TcpHeader {
        let window = if kind == Window { 501 } else { 500 };
        let mut header = TcpHeader::new(ports.0, ports.1, self.sequence, window);
        (header.ack, header.psh, header.fin) = (true, kind == Push, kind == Fin);
        header.acknowledgment_number = if kind == Acknowledgement { 78 } else { 77 };
        let stamp = if kind == Option { 2 } else { 1 };
        header.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, stamp, 0, 0, 0, 2]).unwrap();
        header
    }
}

/// The frames of packets that leave together.
fn merged(packets: &[Vec<u8>], framing: Framing) -> Vec<Vec<u8>> {
    let (mut bytes, mut frames) = (Vec::new(), Vec::<Frame>::new());
    for packet in packets {
        if !frames.last_mut().is_some_and(|last| last.join(&mut bytes, packet, framing)) {
            frames.push(Frame::open(&mut bytes, packet, framing));
        }
    }
    let ends = frames.iter().skip(1).map(Frame::begin).chain([bytes.len()]);
    let whole = frames.iter().zip(ends).map(|(frame, end)| bytes[frame.begin()..end].to_vec());
    assert_eq!(frames.iter().map(Frame::packets).sum::<usize>(), packets.len());
    whole.collect()
}

fn apart(frames: &[Vec<u8>]) -> Vec<Bytes> {
    let (mut arena, mut packets) = (Arena::default(), Vec::new());
    for frame in frames {
        cut(frame, &mut arena, &mut packets).unwrap();
    }
    packets
}

/// Any three packets in a row, over IPv4 and IPv6, TCP and UDP.
#[test]
fn frames_cut_into_the_packets_that_they_were_made_of() {
    let count = KINDS.len();
    let mut fewer = 0;
    for (is_v4, is_udp) in [(true, false), (false, false), (true, true), (false, true)] {
        for number in 0..count.pow(3) {
            let places = [1, count, count * count];
            let kinds = places.map(|place| KINDS[number / place % count]);
            let mut sender = Sender::new(is_v4, is_udp);
            let packets: Vec<_> = kinds.iter().map(|kind| sender.packet(*kind)).collect();
            let frames = merged(&packets, FRAMING);
            fewer += usize::from(frames.len() < packets.len());
            assert_eq!(apart(&frames), packets, "{kinds:?}");
        }
    }
    assert!(fewer > 1_000, "only {fewer} were merged");
}

#[test]
fn packets_in_a_row_are_one_frame() {
    for (kinds, tcp, udp) in [
        (&[Next, Next, Next][..], 1, 1),
        // A shorter one is the last, and a longer one the first of the next.
        (&[Next, Short, Next], 2, 2),
        (&[Next, Long, Next], 2, 2),
        // So is one that is pushed.
        (&[Next, Push, Next], 2, 1),
        (&[Push, Next], 2, 1),
        (&[Next, Gap], 2, 1),
        (&[Next, Window], 2, 1),
        (&[Next, Acknowledgement], 2, 1),
        (&[Next, Option], 2, 1),
        (&[Next, Fin], 2, 1),
        (&[Next, Port], 2, 2),
        (&[Next, Marked], 2, 2),
        (&[Next, Hops], 2, 2),
        (&[Next, WrongChecksum], 2, 2),
        (&[WrongChecksum, Next], 2, 2),
        (&[Next, WrongHeaderChecksum], 2, 2),
        (&[WrongHeaderChecksum, Next], 2, 2),
        (&[Next, Fragment], 2, 2),
        (&[Next, Empty], 2, 2),
    ] {
        let count = |is_udp| {
            let mut sender = Sender::new(true, is_udp);
            let packets: Vec<_> = kinds.iter().map(|kind| sender.packet(*kind)).collect();
            merged(&packets, FRAMING).len()
        };
        assert_eq!((count(false), count(true)), (tcp, udp), "{kinds:?}");
    }
}

/// Hosts that cannot cut datagrams get each by itself; without headers before packets, nothing can be said about them.
#[test]
fn what_a_host_cannot_cut_is_not_merged() {
    for (framing, is_udp, frames) in [
        (Framing::Virtio { datagrams: false }, true, 3),
        (Framing::Virtio { datagrams: false }, false, 1),
        (Framing::Bare, false, 3),
    ] {
        let mut sender = Sender::new(true, is_udp);
        let packets = [Next, Next, Next].map(|kind| sender.packet(kind));
        assert_eq!(merged(&packets, framing).len(), frames);
    }
}

/// A frame has 64 packets and 65,535 bytes at most.
#[test]
fn a_frame_is_no_longer_than_its_header_can_say() {
    for is_v4 in [true, false] {
        let mut sender = Sender::new(is_v4, false);
        let packets: Vec<_> = (0..200).map(|_| sender.packet(Next)).collect();
        let frames = merged(&packets, FRAMING);
        assert_eq!(frames.len(), 4);
        assert!(frames.iter().all(|frame| frame.len() - HEADER <= LONGEST));
        assert_eq!(apart(&frames), packets);
    }
}

/// Hosts may give all packets that must not be fragmented the same number.
#[test]
fn packets_without_a_number_are_merged_too() {
    let mut sender = Sender::new(true, true);
    let packets = [(); 3].map(|()| {
        sender.number = 0;
        sender.packet(Next)
    });
    assert_eq!(merged(&packets, FRAMING).len(), 1);
}
