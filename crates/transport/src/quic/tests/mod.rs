//! Connections on a scriptable pipe, whose packets are read.

mod addresses;
mod data;
mod datagrams;
mod interop;
mod keys;
mod meetings;
mod migration;
mod qlog;
mod resets;
mod scripts;
mod trouble;

use std::net::SocketAddr;

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::quic::{
    Datagram, Frame, Incoming, Packet as QuicPacket, StreamId, Zeros, decode_frames,
};
use leobench_base::{Body, Packet, RngTree, SimDuration, SimTime};

use super::{Protected, QuicConfig, QuicEndpoint, QuicSpec, Role};
use crate::buffer::Attributes;
use crate::endpoint::Endpoint;
use crate::scheduler::python::tests::in_order;
use crate::testing::{Observed, Pipe, RECEIVER, SENDER, ms};

/// Parameters with what a test changes.
pub(crate) fn spec(change: impl FnOnce(&mut QuicSpec)) -> QuicSpec {
    let mut spec = QuicSpec::default();
    change(&mut spec);
    spec
}

/// A datagram on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
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
        let Body::Quic(datagram) = &packet.body else { panic!("{packet:?} from {end}") };
        let packets = match &**datagram {
            Datagram::Packets(packets) => packets.to_vec(),
            other => {
                assert_eq!(other.size(), size);
                Vec::new()
            }
        };
        if !packets.is_empty() {
            check_bytes(&packets, size);
        }
        let backlog = pipe.ends[SENDER].send_buffer().unwrap().backlog();
        let (source, destination) = (packet.meta.source, packet.meta.destination);
        Passed { at: pipe.now, source, destination, size, packets, backlog }
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
        let payload = bytes::Bytes::copy_from_slice(&rest[start..size - 16]);
        let decoded = QuicPacket {
            header: header.complete(first, number).unwrap(),
            frames: decode_frames(&payload, level, &Zeros).unwrap(),
        };
        assert_eq!(&decoded, packet);
        rest = &rest[size..];
    }
    assert!(rest.is_empty());
}

/// A pipe between a sender of this role with so many streams and a receiver.
pub(crate) fn connect(spec: &QuicSpec, streams: usize, sender: Role) -> Pipe<QuicEndpoint> {
    let rng = RngTree::new(1);
    let receiver = if sender == Role::Client { Role::Server } else { Role::Client };
    let address = |end| SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
    let attributes = vec![Attributes::default(); streams];
    let ends = [(SENDER, sender), (RECEIVER, receiver)].map(|(end, role)| {
        QuicEndpoint::new(&QuicConfig {
            spec,
            role,
            sends: if end == SENDER { &attributes[..] } else { &[] },
            receives: if end == SENDER { 0 } else { streams },
            local: address(end),
            remote: address(1 - end),
            start: SimTime::ZERO,
            rng: &rng.child(if end == SENDER { "sender" } else { "receiver" }),
            plugins: &in_order(),
            qlog: None,
        })
        .unwrap()
    });
    Pipe::new(ends, streams)
}
