//! Two ends of a connection on a scriptable pipe, for the tests of every transport.
//!
//! A test of a whole network belongs to `crates/sim/tests`. A pipe serves tests that decide the fate of single packets and
//! look inside endpoints: at frames, at the scheduler's choices, and at the congestion controller.

use std::collections::BTreeMap;
use std::net::IpAddr;

use leobench_base::{BitRate, Bytes, Ecn, Packet, SimDuration, SimTime};

use crate::buffer::Message;
use crate::endpoint::{Endpoint, EndpointError, Event, Input, Outbox, PathSample, Report};

/// Index of the end whose application writes.
pub const SENDER: usize = 0;
/// Index of the other end.
pub const RECEIVER: usize = 1;

/// Bytes of a TLS record, which is written whole.
const RECORD: u64 = 1 << 14;

/// The time so many milliseconds after the start.
pub fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// An endpoint whose packets a pipe logs.
pub trait Observed: Endpoint + Sized {
    /// The log entry of a packet.
    type Passed;

    /// Whether it reports room in its send buffer. If so, it repeats no report and sends only what has room.
    const REPORTS_ROOM: bool;

    /// The log entry of a packet that leaves `end` at `pipe.now`.
    fn observe(pipe: &Pipe<Self>, end: usize, packet: &Packet) -> Self::Passed;
}

/// A NAT on the way. It translates a packet that leaves an end at a time, and returns whether it knows a destination.
type Translate = Box<dyn FnMut(usize, SimTime, &mut Packet) -> bool>;

/// The fate of a packet, from its sending end, its number there, and the time: an extra delay, or its loss.
type Fate = Box<dyn FnMut(usize, usize, SimTime) -> Option<SimDuration>>;

/// Two ends and what lies between them.
pub struct Pipe<E: Observed> {
    /// The present time.
    pub now: SimTime,
    /// The ends: [`SENDER`] and [`RECEIVER`].
    pub ends: [E; 2],
    /// When each end wants to be polled.
    pub wakes: [Option<SimTime>; 2],
    /// The delay of each direction.
    pub delay: SimDuration,
    /// Rate towards the receiver.
    pub rate: BitRate,
    free: SimTime,
    /// The fate of each packet.
    pub fate: Fate,
    /// The NAT on the way.
    pub translate: Translate,
    /// Packets to the receiver that wait longer than this are marked.
    pub mark_after: Option<SimDuration>,
    /// Ways of their own, by the client's address.
    pub ways: Vec<Way>,
    /// Packets on their way, with the end that they go to, by the time of their arrival and their order.
    pub flying: BTreeMap<(SimTime, usize), (usize, Packet)>,
    /// The log of the packets of each end.
    pub passed: [Vec<E::Passed>; 2],
    /// Whether a poll may fail.
    pub may_fail: bool,
    /// The first failure.
    pub failed: Option<EndpointError>,
    /// Packets of each end that were lost.
    pub dropped: [usize; 2],
    /// By stream, how far it was sent.
    pub sent: Vec<u64>,
    /// By stream, how far it was delivered.
    pub delivered: Vec<u64>,
    /// By stream, how far the send buffer has room.
    pub room: Vec<u64>,
    /// Reports on datagrams, with the end that made them.
    pub datagrams: Vec<(SimTime, usize, Report)>,
    /// The events of each end.
    pub events: [Vec<(SimTime, Event)>; 2],
}

/// A way between the ends that one address has for itself, with the same rate in both directions.
pub struct Way {
    /// The address of the client that uses it.
    pub address: IpAddr,
    /// Its delay.
    pub delay: SimDuration,
    /// Its rate.
    pub rate: BitRate,
    /// Packets that would wait longer are dropped.
    pub longest_wait: SimDuration,
    /// Whether anything gets through.
    pub is_up: bool,
    free: [SimTime; 2],
}

impl Way {
    /// A way with a queue of 50 ms.
    pub fn new(address: IpAddr, millis: u64, bps: u64) -> Self {
        Self {
            address,
            delay: SimDuration::from_millis(millis),
            rate: BitRate::from_bps(bps),
            longest_wait: SimDuration::from_millis(50),
            is_up: true,
            free: [SimTime::ZERO; 2],
        }
    }

    /// When a packet arrives that `end` sends now, if it does.
    fn arrival(&mut self, end: usize, now: SimTime, size: Bytes) -> Option<SimTime> {
        let (span, _) = self.rate.serialise(size, 0).unwrap();
        let free = &mut self.free[end];
        if !self.is_up || free.saturating_since(now) > self.longest_wait {
            return None;
        }
        *free = now.max(*free) + span;
        Some(*free + self.delay)
    }
}

impl<E: Observed> Pipe<E> {
    /// A pipe of 20 ms each way without a rate limit and without loss, for so many streams.
    pub fn new(ends: [E; 2], streams: usize) -> Self {
        Self {
            now: SimTime::ZERO,
            ends,
            wakes: [Some(SimTime::ZERO); 2],
            delay: SimDuration::from_millis(20),
            rate: BitRate::from_bps(u64::MAX / 2),
            free: SimTime::ZERO,
            fate: Box::new(|_, _, _| Some(SimDuration::ZERO)),
            translate: Box::new(|_, _, _| true),
            mark_after: None,
            ways: Vec::new(),
            flying: BTreeMap::new(),
            passed: [Vec::new(), Vec::new()],
            may_fail: false,
            failed: None,
            dropped: [0; 2],
            sent: vec![0; streams],
            delivered: vec![0; streams],
            room: vec![0; streams],
            datagrams: Vec::new(),
            events: [Vec::new(), Vec::new()],
        }
    }

    /// The application writes a message.
    pub fn write(&mut self, stream: usize, size: u64) {
        let message = Message { size: Bytes::new(size), created: self.now };
        self.input(Input::Message { stream: stream.into(), message });
    }

    /// The application has nothing more to write.
    pub fn finish(&mut self) {
        self.input(Input::Finish);
    }

    /// Hands something to the sender.
    pub fn input(&mut self, input: Input<'_>) {
        self.input_at(SENDER, input);
    }

    /// Hands something to an end.
    pub fn input_at(&mut self, end: usize, input: Input<'_>) {
        self.ends[end].input(self.now, input).unwrap();
        self.wakes[end] = Some(self.now);
    }

    /// Runs until no event is due before `end`, or `done` returns true.
    pub fn run(&mut self, end: SimTime, done: impl Fn(&Self) -> bool) {
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
                let (end, mut packet) = entry.remove();
                self.ends[end].input(next, Input::Packet(&mut packet)).unwrap();
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
    pub fn deliver(&mut self, bytes: u64) {
        let end = self.now + SimDuration::from_secs(600);
        self.run(end, |pipe| pipe.delivered.iter().sum::<u64>() >= bytes);
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
            match report {
                Report::Datagram { .. }
                | Report::Lost { .. }
                | Report::Opened { .. }
                | Report::Part { .. }
                | Report::Cancelled { .. } => {
                    self.datagrams.push((self.now, end, report));
                }
                report => self.check(report),
            }
        }
        let now = self.now;
        self.events[end].extend(outbox.events.into_iter().map(|event| (now, event)));
        for packet in outbox.packets {
            self.pass(end, packet);
        }
    }

    fn check(&mut self, report: Report) {
        let (known, stream, offset) = match report {
            Report::Sent { stream, offset } => (&mut self.sent, stream, offset),
            Report::Delivered { stream, offset } => (&mut self.delivered, stream, offset),
            Report::Room { stream, offset } if E::REPORTS_ROOM => (&mut self.room, stream, offset),
            other => panic!("{other:?}"),
        };
        let stream = stream.index();
        let repeats = matches!(report, Report::Sent { .. }) && !E::REPORTS_ROOM;
        let again = repeats && known[stream] == offset;
        assert!(again || known[stream] < offset, "{report:?} after {}", known[stream]);
        known[stream] = offset;
        let (sent, room) = (self.sent[stream], self.room[stream]);
        assert!(self.delivered[stream] <= sent, "{report:?} before it was sent");
        let has_room = sent <= room.saturating_add(RECORD);
        assert!(!E::REPORTS_ROOM || has_room, "{report:?} without room");
    }

    fn pass(&mut self, end: usize, mut packet: Packet) {
        let passed = E::observe(self, end, &packet);
        let order = self.passed[end].len();
        self.passed[end].push(passed);
        let Some(extra) = (self.fate)(end, order, self.now) else {
            self.dropped[end] += 1;
            return;
        };
        if !(self.translate)(end, self.now, &mut packet) {
            return;
        }
        let ends = [packet.meta.source.ip(), packet.meta.destination.ip()];
        if let Some(way) = self.ways.iter_mut().find(|way| ends.contains(&way.address)) {
            let Some(at) = way.arrival(end, self.now, packet.meta.size) else {
                self.dropped[end] += 1;
                return;
            };
            let order = self.passed[SENDER].len() + self.passed[RECEIVER].len();
            self.flying.insert((at + extra, order), (1 - end, packet));
            return;
        }
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

    /// The state of the first path as the sender sees it.
    pub fn path(&self) -> PathSample {
        let mut samples = Vec::new();
        self.ends[SENDER].sample_paths(self.now, &mut samples);
        samples.remove(0)
    }

    /// Counts the events of one kind at an end.
    pub fn count(&self, end: usize, kind: &str) -> usize {
        self.events[end].iter().filter(|(_, event)| event.kind == kind).count()
    }
}
