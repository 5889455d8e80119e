//! Connections on a scriptable pipe, whose packets are read.

mod acks;
mod data;
mod packets;
mod trouble;

use leobench_base::quic::Datagram;
use leobench_base::{BitRate, Body, Packet, RngTree, SimDuration, SimTime};

use super::NoqEndpoint;
use super::frames::{Frame, Frames};
use super::null_tls::TAG_LEN;
use crate::buffer::Attributes;
use crate::endpoint::Endpoint;
use crate::quic::{QuicConfig, QuicSpec, Role};
use crate::scheduler::python::tests::in_order;
use crate::testing::{Observed, Pipe, RECEIVER, SENDER, ms};

/// Parameters with what a test changes.
pub(crate) fn spec(change: impl FnOnce(&mut QuicSpec)) -> QuicSpec {
    let mut spec = QuicSpec::default();
    change(&mut spec);
    spec
}

/// Stream number, offset, length, whether it ends the stream.
type StreamFrame = (u64, u64, u64, bool);

/// A datagram on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    at: SimTime,
    /// Packet number; none in a handshake packet.
    number: Option<u64>,
    /// UDP payload.
    size: u64,
    /// None in a handshake packet.
    frames: Vec<StreamFrame>,
    /// Bytes that still waited in the application's buffer.
    backlog: u64,
}

impl Observed for NoqEndpoint {
    type Passed = Passed;

    const REPORTS_ROOM: bool = false;

    fn observe(pipe: &Pipe<Self>, end: usize, packet: &Packet) -> Passed {
        let Body::Quic(datagram) = &packet.body else { panic!("no QUIC packet") };
        let Datagram::Bytes(data) = &**datagram else { panic!("no bytes") };
        let backlog = pipe.ends[SENDER].send_buffer().unwrap().backlog();
        let last = pipe.passed[end].iter().rev().find_map(|passed| passed.number);
        let (number, frames) = read_short(data, last.map_or(0, |last| last + 1));
        Passed { at: pipe.now, number, size: data.len() as u64, frames, backlog }
    }
}

/// A pipe between a sender of this role with so many streams and a receiver.
pub(crate) fn connect(spec: &QuicSpec, streams: usize, sender: Role) -> Pipe<NoqEndpoint> {
    let rng = RngTree::new(1);
    let receiver = if sender == Role::Client { Role::Server } else { Role::Client };
    let address = |end| std::net::SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
    let attributes = vec![Attributes::default(); streams];
    let ends = [(SENDER, sender), (RECEIVER, receiver)].map(|(end, role)| {
        NoqEndpoint::new(QuicConfig {
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

/// Number and STREAM frames of a datagram that is a packet with a short header (RFC 9000 section 17.3), given the number
/// after that of the one before.
fn read_short(data: &[u8], expected: u64) -> (Option<u64>, Vec<StreamFrame>) {
    if data[0] & 0x80 != 0 {
        return (None, Vec::new());
    }
    let (start, len) = (1 + super::config::CONNECTION_ID_LEN, 1 + usize::from(data[0] & 0x03));
    let truncated =
        data[start..start + len].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    // Numbers only grow here, some being left out (RFC 9000 section 21.4).
    let span = 1 << (8 * len);
    let number = expected + (truncated + span - expected % span) % span;
    let mut frames = Frames::new(&data[start + len..data.len() - TAG_LEN]);
    let mut found = Vec::new();
    while !frames.is_done() {
        if let Frame::Stream { id, offset, len, fin } = frames.next_frame().unwrap() {
            found.push((id >> 2, offset, len, fin));
        }
    }
    (Some(number), found)
}
