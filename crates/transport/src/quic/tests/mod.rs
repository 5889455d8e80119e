//! Two ends of a connection on a pipe that does to packets what a test says, and a look at everything that passes.

mod acks;
mod data;
mod faults;
mod packets;
mod trouble;

use std::collections::BTreeMap;

use leobench_base::{BitRate, Body, Bytes, Packet, RngTree, SimDuration, SimTime};

use super::frames::{Frame, Frames};
use super::null_tls::TAG_LEN;
use super::{QuicConfig, QuicEndpoint, QuicSpec, Role};
use crate::buffer::{Attributes, Message};
use crate::endpoint::{Endpoint, EndpointError, Input, Outbox, PathSample, Report};
use crate::scheduler::python::tests::in_order;

const SENDER: usize = 0;
const RECEIVER: usize = 1;

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// Parameters with what a test changes.
fn spec(change: impl FnOnce(&mut QuicSpec)) -> QuicSpec {
    let mut spec = QuicSpec::default();
    change(&mut spec);
    spec
}

/// Stream number, offset, length, whether it ends the stream.
type StreamFrame = (u64, u64, u64, bool);

/// A datagram on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Passed {
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

/// What becomes of a datagram: given its end of origin, its number there, and the time.
type Fate = Box<dyn FnMut(usize, usize, SimTime) -> Option<SimDuration>>;

struct Pipe {
    now: SimTime,
    ends: [QuicEndpoint; 2],
    wakes: [Option<SimTime>; 2],
    delay: SimDuration,
    /// Rate towards the receiver.
    rate: BitRate,
    free: SimTime,
    fate: Fate,
    flying: BTreeMap<(SimTime, usize), (usize, Packet)>,
    passed: [Vec<Passed>; 2],
    /// Whether a poll may fail, and how one did.
    may_fail: bool,
    failed: Option<EndpointError>,
    dropped: [usize; 2],
    sent: Vec<u64>,
    delivered: Vec<u64>,
    established: usize,
    /// Kinds of the sender's events.
    events: Vec<&'static str>,
}

impl Pipe {
    /// A pipe of 20 ms each way without a limit on its rate that loses nothing.
    fn new(spec: &QuicSpec, streams: usize, sender: Role) -> Self {
        let rng = RngTree::new(1);
        let receiver = if sender == Role::Client { Role::Server } else { Role::Client };
        let address = |end| std::net::SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
        let attributes = vec![Attributes::default(); streams];
        let ends = [(SENDER, sender), (RECEIVER, receiver)].map(|(end, role)| {
            QuicEndpoint::new(QuicConfig {
                spec,
                role,
                sends: if end == SENDER { &attributes } else { &[] },
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
        Self {
            now: SimTime::ZERO,
            ends,
            wakes: [Some(SimTime::ZERO); 2],
            delay: SimDuration::from_millis(20),
            rate: BitRate::from_bps(u64::MAX / 2),
            free: SimTime::ZERO,
            fate: Box::new(|_, _, _| Some(SimDuration::ZERO)),
            flying: BTreeMap::new(),
            passed: [Vec::new(), Vec::new()],
            may_fail: false,
            failed: None,
            dropped: [0; 2],
            sent: vec![0; streams],
            delivered: vec![0; streams],
            established: 0,
            events: Vec::new(),
        }
    }

    fn write(&mut self, stream: usize, size: u64) {
        let message = Message { size: Bytes::new(size), created: self.now };
        self.ends[SENDER].input(self.now, Input::Message { stream, message }).unwrap();
        self.wakes[SENDER] = Some(self.now);
    }

    fn finish(&mut self) {
        self.ends[SENDER].input(self.now, Input::Finish).unwrap();
        self.wakes[SENDER] = Some(self.now);
    }

    /// Runs until nothing is due before `end`, or `done` says so.
    fn run(&mut self, end: SimTime, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            let arrival = self.flying.first_key_value().map(|((at, _), _)| *at);
            let next = self.wakes.into_iter().flatten().chain(arrival).min();
            let Some(next) = next.filter(|next| *next < end) else {
                self.now = end;
                return;
            };
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 == next)
            {
                let (end, packet) = entry.remove();
                self.ends[end].input(next, Input::Packet(packet)).unwrap();
                self.wakes[end] = Some(next);
            }
            for end in [SENDER, RECEIVER] {
                if self.wakes[end] == Some(next) {
                    self.poll(end);
                }
            }
        }
    }

    /// Runs until `bytes` have been delivered on all streams together, within 600 s.
    fn deliver(&mut self, bytes: u64) {
        self.run(ms(600_000), |pipe| pipe.delivered.iter().sum::<u64>() >= bytes);
        assert_eq!(self.delivered.iter().sum::<u64>(), bytes);
    }

    fn poll(&mut self, end: usize) {
        let mut outbox = Outbox::default();
        self.wakes[end] = match self.ends[end].poll(self.now, &mut outbox) {
            Ok(wake) => wake,
            Err(error) if self.may_fail => {
                self.failed.get_or_insert(error);
                None
            }
            Err(error) => panic!("{error}"),
        };
        assert!(self.wakes[end].is_none_or(|wake| wake > self.now), "a wake-up in the past");
        for report in outbox.reports {
            let (known, stream, offset) = match report {
                Report::Sent { stream, offset } => (&mut self.sent, stream, offset),
                Report::Delivered { stream, offset } => (&mut self.delivered, stream, offset),
                Report::Datagram { .. } | Report::Room { .. } => panic!("{report:?}"),
            };
            let again = matches!(report, Report::Sent { .. }) && known[stream] == offset;
            assert!(again || known[stream] < offset, "{report:?} after {}", known[stream]);
            known[stream] = offset;
            assert!(self.delivered[stream] <= self.sent[stream], "{report:?} before it was sent");
        }
        let established = outbox.events.iter().filter(|event| event.kind == "established");
        self.established += established.count();
        if end == SENDER {
            self.events.extend(outbox.events.iter().map(|event| event.kind));
        }
        for packet in outbox.packets {
            self.pass(end, packet);
        }
    }

    fn pass(&mut self, end: usize, packet: Packet) {
        let Body::Quic(data) = &packet.body else { panic!("no QUIC packet") };
        let backlog = self.ends[SENDER].send_buffer().unwrap().backlog();
        let order = self.passed[end].len();
        let last = self.passed[end].iter().rev().find_map(|passed| passed.number);
        let (number, frames) = read_short(data, last.map_or(0, |last| last + 1));
        let size = data.len() as u64;
        self.passed[end].push(Passed { at: self.now, number, size, frames, backlog });
        let Some(extra) = (self.fate)(end, order, self.now) else {
            self.dropped[end] += 1;
            return;
        };
        let mut leaves = self.now;
        if end == SENDER {
            let (span, _) = self.rate.serialise(packet.meta.size, 0).unwrap();
            self.free = self.free.max(self.now) + span;
            leaves = self.free;
        }
        let order = self.passed[SENDER].len() + self.passed[RECEIVER].len();
        self.flying.insert((leaves + self.delay + extra, order), (1 - end, packet));
    }

    fn path(&self) -> PathSample {
        let mut samples = Vec::new();
        self.ends[SENDER].sample_paths(self.now, &mut samples);
        samples.remove(0)
    }
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
