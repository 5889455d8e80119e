//! Two ends of a connection on a scriptable pipe.

mod corners;
mod data;
mod doubts;
mod faults;
mod limits;
mod motion;
mod script;
mod trouble;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use leobench_base::segment::{Flags, Segment};
use leobench_base::{BitRate, Body, Bytes, Ecn, Packet, RngTree, SimDuration, SimTime};

use super::{Role, TcpConfig, TcpEndpoint, TcpSpec};
use crate::buffer::{Attributes, Message};
use crate::endpoint::{Endpoint, EndpointError, Event, Input, Outbox, PathSample, Report};
use crate::plugin::Plugins;

const SENDER: usize = 0;
const RECEIVER: usize = 1;

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// Parameters with a test's changes.
fn spec(change: impl FnOnce(&mut TcpSpec)) -> TcpSpec {
    let mut spec = TcpSpec::default();
    change(&mut spec);
    spec
}

/// The address of an end.
fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433))
}

fn endpoint(spec: &TcpSpec, end: usize, role: Role, start: SimTime) -> TcpEndpoint {
    TcpEndpoint::new(TcpConfig {
        spec,
        role,
        sends: (end == SENDER).then(Attributes::default),
        local: address(end),
        remote: address(1 - end),
        start,
        rng: &RngTree::new(1).child(if end == SENDER { "sender" } else { "receiver" }),
        plugins: Plugins::NONE,
    })
}

/// A segment in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Passed {
    at: SimTime,
    segment: Segment,
    ecn: Ecn,
}

/// The fate of a packet, from its sending end, its number there, and the time.
type Fate = Box<dyn FnMut(usize, usize, SimTime) -> Option<SimDuration>>;

struct Pipe {
    now: SimTime,
    ends: [TcpEndpoint; 2],
    wakes: [Option<SimTime>; 2],
    delay: SimDuration,
    /// Rate towards the receiver.
    rate: BitRate,
    free: SimTime,
    fate: Fate,
    /// Packets to the receiver that wait longer than this are marked.
    mark_after: Option<SimDuration>,
    flying: BTreeMap<(SimTime, usize), (usize, Packet)>,
    passed: [Vec<Passed>; 2],
    /// Whether a poll may fail, and how one did.
    may_fail: bool,
    failed: Option<EndpointError>,
    dropped: [usize; 2],
    sent: u64,
    delivered: u64,
    room: u64,
    events: [Vec<(SimTime, Event)>; 2],
}

impl Pipe {
    /// A pipe of 20 ms each way without a rate limit and without loss.
    fn new(spec: &TcpSpec, sender: Role) -> Self {
        let receiver = if sender == Role::Client { Role::Server } else { Role::Client };
        let ends = [(SENDER, sender), (RECEIVER, receiver)]
            .map(|(end, role)| endpoint(spec, end, role, SimTime::ZERO));
        Self {
            now: SimTime::ZERO,
            ends,
            wakes: [Some(SimTime::ZERO); 2],
            delay: SimDuration::from_millis(20),
            rate: BitRate::from_bps(u64::MAX / 2),
            free: SimTime::ZERO,
            fate: Box::new(|_, _, _| Some(SimDuration::ZERO)),
            mark_after: None,
            flying: BTreeMap::new(),
            passed: [Vec::new(), Vec::new()],
            may_fail: false,
            failed: None,
            dropped: [0; 2],
            sent: 0,
            delivered: 0,
            room: 0,
            events: [Vec::new(), Vec::new()],
        }
    }

    fn write(&mut self, size: u64) {
        let message = Message { size: Bytes::new(size), created: self.now };
        self.ends[SENDER].input(self.now, Input::Message { stream: 0, message }).unwrap();
        self.wakes[SENDER] = Some(self.now);
    }

    fn finish(&mut self) {
        self.ends[SENDER].input(self.now, Input::Finish).unwrap();
        self.wakes[SENDER] = Some(self.now);
    }

    /// Runs until no event is due before `end`, or `done` returns true.
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

    /// Runs until `bytes` have been delivered, within 600 s.
    fn deliver(&mut self, bytes: u64) {
        self.run(self.now + SimDuration::from_secs(600), |pipe| pipe.delivered >= bytes);
        assert_eq!(self.delivered, bytes);
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
            let (known, offset) = match report {
                Report::Sent { offset, stream: 0 } => (&mut self.sent, offset),
                Report::Delivered { offset, stream: 0 } => (&mut self.delivered, offset),
                Report::Room { offset, stream: 0 } => (&mut self.room, offset),
                other => panic!("{other:?}"),
            };
            assert!(offset > *known, "{report:?} after {known}");
            *known = offset;
            assert!(self.delivered <= self.sent, "{report:?} before it was sent");
            // A TLS record is written whole.
            assert!(self.sent <= self.room.saturating_add(1 << 14), "{report:?} without room");
        }
        let now = self.now;
        self.events[end].extend(outbox.events.into_iter().map(|event| (now, event)));
        for packet in outbox.packets {
            self.pass(end, packet);
        }
    }

    fn pass(&mut self, end: usize, mut packet: Packet) {
        let Body::Tcp(segment) = packet.body else { panic!("no TCP segment") };
        assert_eq!(packet.meta.size, Bytes::new(20 + segment.len()));
        let order = self.passed[end].len();
        self.passed[end].push(Passed { at: self.now, segment, ecn: packet.meta.ecn });
        let Some(extra) = (self.fate)(end, order, self.now) else {
            self.dropped[end] += 1;
            return;
        };
        let mut leaves = self.now;
        if end == SENDER {
            let (span, _) = self.rate.serialise(packet.meta.size, 0).unwrap();
            let waits = self.free.saturating_since(self.now);
            if self.mark_after.is_some_and(|after| waits > after) && packet.meta.ecn == Ecn::Ect0 {
                packet.meta.ecn = Ecn::Ce;
            }
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

    /// Segments of one end with all of these bits set.
    fn with(&self, end: usize, flags: Flags) -> Vec<&Passed> {
        self.passed[end].iter().filter(|passed| passed.segment.flags.contains(flags)).collect()
    }
}
