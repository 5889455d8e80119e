//! Connections on a scriptable pipe, whose packets are read.

mod addresses;
mod controllers;
mod datagrams;
mod early;
mod flow_datagrams;
mod handover;
mod keys;
mod meetings;
mod message_streams;
mod migration;
mod numbers;
mod paths;
mod paths_copies;
mod paths_frames;
mod paths_managers;
mod paths_noq;
mod paths_plan;
mod preferred;
mod probes;
mod protected;
mod qlog;
mod resets;
mod scripts;

use std::net::SocketAddr;

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Body, Packet, RngTree, SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::buffer::Attributes;
use leobench_transport::endpoint::Endpoint;
use leobench_transport::testing::{Observed, Pipe, RECEIVER, SENDER, in_order, ms};

use super::{Protected, QuicConfig, QuicEndpoint, QuicSpec};
pub(crate) use crate::suite::spec;
use crate::suite::{self, Sent, Stack};
use crate::wire::{
    Datagram, Frame, Incoming, Packet as QuicPacket, StreamId, Zeros, decode_frames,
};

/// A datagram on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    at: SimTime,
    source: SocketAddr,
    destination: SocketAddr,
    /// UDP payload.
    size: u64,
    packets: Vec<QuicPacket>,
    /// Bytes that still waited in the application's buffer.
    backlog: u64,
}

impl Passed {
    /// Stream number, offset, length and end of every STREAM frame.
    fn streams(&self) -> impl Iterator<Item = (u64, u64, u64, bool)> {
        let frames = self.packets.iter().flat_map(|packet| &packet.frames);
        frames.filter_map(|frame| match frame {
            Frame::Stream { id: StreamId(id), offset, len, fin, .. } => {
                Some((id >> 2, *offset, *len, *fin))
            }
            _ => None,
        })
    }
}

impl Observed for QuicEndpoint {
    type Passed = Passed;

    const REPORTS_ROOM: bool = false;

    fn observe(pipe: &Pipe<Self>, end: usize, packet: &Packet) -> Passed {
        let size = (packet.meta.size - IPV4_UDP_HEADER).get();
        let packets = match (unencoded(&packet.body), &packet.body) {
            (Some(Datagram::Packets(packets)), _) => packets.to_vec(),
            (Some(other), _) => {
                assert_eq!(other.size(), size);
                Vec::new()
            }
            (None, Body::UdpBytes(bytes)) => {
                assert_eq!(bytes.len() as u64, size);
                Vec::new()
            }
            (None, _) => panic!("{packet:?} from {end}"),
        };
        if !packets.is_empty() {
            check_bytes(&packets, size);
        }
        let backlog = pipe.ends[SENDER].send_buffer().unwrap().backlog();
        let (source, destination) = (packet.meta.source, packet.meta.destination);
        Passed { at: pipe.now, source, destination, size, packets, backlog }
    }
}

/// The datagram in a packet, if it travels as a struct.
fn unencoded(body: &Body) -> Option<&Datagram> {
    match body {
        Body::Udp(payload) => Datagram::of_payload(&**payload),
        _ => None,
    }
}

/// The packets of a datagram that travel as structs, to change them.
fn packets_mut(body: &mut Body) -> Option<&mut [QuicPacket]> {
    let Body::Udp(payload) = body else { return None };
    match Datagram::of_payload_mut(&mut **payload)? {
        Datagram::Packets(packets) => Some(packets),
        _ => None,
    }
}

/// Encodes the packets of a datagram, decodes them again, and compares them and their size.
fn check_bytes(packets: &[QuicPacket], size: u64) {
    let mut bytes = BytesMut::new();
    for packet in packets {
        let start = bytes.len();
        packet.encode(&Zeros, &mut bytes);
        assert_eq!((bytes.len() - start) as u64, packet.size(), "{packet:?}");
    }
    assert_eq!(bytes.len() as u64, size, "{packets:?}");
    let mut rest = &bytes[..];
    for packet in packets {
        let Some(Incoming::Packet(header)) = Incoming::decode(rest, super::cids::ID_SIZE) else {
            panic!("no packet in {rest:?}");
        };
        let number = packet.header.number();
        let (first, level, size) = (rest[0], header.level, header.size);
        let start = header.number_offset + usize::from(number.len);
        let decoded = QuicPacket {
            header: header.complete(first, number).unwrap(),
            frames: decode_frames(&rest[start..size - 16], level, &Zeros).unwrap(),
        };
        assert_eq!(&decoded, packet);
        rest = &rest[size..];
    }
    assert!(rest.is_empty());
}

/// A pipe between a sender of this role with so many streams and a receiver.
pub(crate) fn connect(spec: &QuicSpec, streams: usize, sender: Role) -> Pipe<QuicEndpoint> {
    suite::connect(spec, streams, sender)
}

impl Stack for QuicEndpoint {
    /// A closing end answers packets with its reason, ever more rarely.
    const LAST_WORDS: usize = 8;
    const PROBES_REPEAT: bool = true;

    fn end(config: QuicConfig<'_>) -> Self {
        Self::new(&config).unwrap()
    }

    fn sent(passed: &Passed) -> Sent {
        let Passed { at, size, backlog, .. } = *passed;
        Sent { at, size, frames: passed.streams().collect(), backlog }
    }

    /// An acknowledgement of a packet that was never sent is a connection error (RFC 9000 section 13.1).
    fn forge(body: &mut Body) {
        let packets = packets_mut(body).expect("packets as structs");
        let ack = packets[0].frames.iter_mut().find_map(|frame| match frame {
            Frame::Ack(ack) => Some(ack),
            _ => None,
        });
        ack.expect("an acknowledgement").ranges[0].largest += 1_000_000;
    }
}

mod common {
    crate::conformance!(crate::QuicEndpoint);
}
