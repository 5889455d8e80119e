//! Connections on a scriptable pipe, whose packets are read.

mod acks;
mod controllers;
mod interop;
mod moving;
mod packets;

use leobench_base::{BitRate, Body, Packet, RngTree, SimDuration, SimTime};
use leobench_quic::suite::{self, Sent, Stack, StreamFrame};
use leobench_quic::wire::TAG_SIZE;
use leobench_quic::{QuicConfig, QuicSpec};
use leobench_transport::Role;
use leobench_transport::endpoint::Endpoint;
use leobench_transport::testing::{Observed, Pipe, RECEIVER, SENDER, ms};

use super::NoqEndpoint;
use super::frames::{Frame, Frames};
pub(crate) use leobench_quic::suite::spec;

/// A datagram on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
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
        let Body::UdpBytes(data) = &packet.body else { panic!("no bytes") };
        let backlog = pipe.ends[SENDER].send_buffer().unwrap().backlog();
        let last = pipe.passed[end].iter().rev().find_map(|passed| passed.number);
        let (number, frames) = read_short(data, last.map_or(0, |last| last + 1));
        Passed { at: pipe.now, number, size: data.len() as u64, frames, backlog }
    }
}

/// A pipe between a sender of this role with so many streams and a receiver.
pub(crate) fn connect(spec: &QuicSpec, streams: usize, sender: Role) -> Pipe<NoqEndpoint> {
    suite::connect(spec, streams, sender)
}

impl Stack for NoqEndpoint {
    /// It is silent at once.
    const LAST_WORDS: usize = 0;
    const PROBES_REPEAT: bool = false;

    fn end(config: QuicConfig<'_>) -> Self {
        Self::new(config).unwrap()
    }

    fn sent(passed: &Passed) -> Sent {
        let Passed { at, size, frames, backlog, .. } = passed.clone();
        Sent { at, size, frames, backlog }
    }

    /// A frame of an unknown type is a connection error (RFC 9000 section 12.4).
    fn forge(body: &mut Body) {
        let Body::UdpBytes(bytes) = body else { panic!("{body:?}") };
        let frame = 1 + super::config::CONNECTION_ID_LEN + 1 + usize::from(bytes[0] & 0x03);
        bytes[frame] = 0x3f;
    }
}

mod common {
    leobench_quic::conformance!(crate::NoqEndpoint);
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
    let mut frames = Frames::new(&data[start + len..data.len() - TAG_SIZE as usize]);
    let mut found = Vec::new();
    while !frames.is_done() {
        if let Frame::Stream { id, offset, len, fin } = frames.next_frame().unwrap() {
            found.push((id >> 2, offset, len, fin));
        }
    }
    (Some(number), found)
}
