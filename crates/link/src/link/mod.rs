//! One direction of a link: a queue, a transmitter served by the channel, loss, and propagation.

mod overlap;
mod shared;

use std::collections::VecDeque;

use leobench_base::{Bytes, Descriptor, LogHistogram, RngTree, SimDuration, SimRng, SimTime};

pub use self::overlap::AfterOverlap;
use self::overlap::Former;
use self::shared::Away;
use crate::access::MediumAccess;
use crate::channel::ChannelState;
use crate::loss::LossProcess;
use crate::queue::{Backlog, Cause, Dequeued, Drop, Fates, Mark, QueueDiscipline, Tallies, Tally};
use crate::transmitter::Transmitter;

/// The parts and settings of a link.
pub struct LinkConfig {
    /// The queue.
    pub queue: Box<dyn QueueDiscipline>,
    /// Random loss, besides that of the channel's state.
    pub loss: Option<Box<dyn LossProcess>>,
    /// When packets leave a transmitter that shares its medium; at once without it.
    pub access: Option<Box<dyn MediumAccess>>,
    /// One-way propagation delay, besides that of the channel's state.
    pub delay: SimDuration,
    /// Framing bytes added to every packet on the wire; may be negative, to leave headers out. A packet takes at
    /// least one byte.
    pub overhead: i64,
    /// Largest IP packet that is taken.
    pub mtu: Bytes,
    /// Whether packets may overtake each other when the delay falls; otherwise they wait for those before them.
    pub overtaking: bool,
    /// Factor on the channel's rate (or on the bytes of its opportunities), above zero; 1 for the channel's own.
    pub rate_scale: f64,
    /// Random stream of the link, for the loss of the channel's state.
    pub rng: RngTree,
}

/// The output of a link. The caller owns the buffers, empties them and uses them again.
#[derive(Debug, Default)]
pub struct LinkOutput {
    /// Packets that reached the far end, in the order of their arrival.
    pub arrivals: Vec<Descriptor>,
    /// Packets that did not get through, and those that the queue marked.
    pub fates: Fates,
}

/// Totals of a link since the start of the run.
///
/// At any moment, enqueued = delivered + dropped + flushed + backlog + in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets handed to the link, whatever became of them.
    pub enqueued: Tally,
    /// Packets whose transmission ended, those lost on the channel included.
    pub sent: Tally,
    /// Bytes of the packets sent with the framing overhead; over `capacity_bits`, the link's utilisation.
    pub wire_bytes: Bytes,
    /// Packets that reached the far end.
    pub delivered: Tally,
    /// Bits the channel offered: its rate over the time it was up, or its opportunities.
    pub capacity_bits: u128,
    /// Waiting packets that were taken off the link.
    pub flushed: Tally,
    /// Packets dropped, by cause.
    pub dropped: Tallies,
    /// Packets that the queue marked, by cause.
    pub marked: Tallies,
}

impl LinkCounters {
    /// Packets dropped for any cause.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped.packets()
    }
}

/// One direction of a link as a state machine.
///
/// Hand in packets with [`enqueue`](Self::enqueue), states of the channel with [`set_channel`](Self::set_channel),
/// and call [`advance`](Self::advance) at [`next_wake`](Self::next_wake) or later: whatever is due is computed for
/// the very instant it was due, in time and order. Times never decrease from call to call. At equal times the channel
/// comes first: call `set_channel` before `advance` and `enqueue`.
///
/// A packet's transmission takes (IP length + overhead) x 8 / rate, the exact remainder carried from packet to packet
/// while they follow back to back, and is not affected by changes of the channel once begun. Loss is decided, and the
/// delay of propagation read, when it ends. Where the medium is shared, packets then wait for their turn: they are in flight.
pub struct Link {
    queue: Box<dyn QueueDiscipline>,
    transmitter: Transmitter,
    /// End of the transmission under way; [`NEVER`] if there is none.
    sent_at: SimTime,
    /// When the queue, which holds its packets back, is to be asked again; [`NEVER`] during a transmission.
    held_until: SimTime,
    /// Packets on the wire and propagating, in the order of their arrival. The one being transmitted is the last; when
    /// it will arrive is not known yet.
    flight: VecDeque<Flying>,
    /// The way that it had before, during an overlap.
    former: Option<Box<Former>>,
    /// Its packets at a transmitter that others share, if it has none of its own.
    away: Option<Box<Away>>,
    /// Bits that former ways could have sent.
    former_bits: u128,
    loss: Option<Box<dyn LossProcess>>,
    access: Option<Box<dyn MediumAccess>>,
    state_loss: f64,
    state_rng: SimRng,
    own_delay: SimDuration,
    delay: SimDuration,
    overhead: i64,
    mtu: Bytes,
    overtaking: bool,
    up: bool,
    last_arrival: SimTime,
    counters: LinkCounters,
    queue_delay: LogHistogram,
}

/// A time that is never reached.
const NEVER: SimTime = SimTime::MAX;

#[derive(Debug)]
struct Flying {
    arrival: SimTime,
    packet: Descriptor,
}

impl Link {
    /// A link at the start of the run, with nothing on it, on a channel in `state`.
    pub fn new(config: LinkConfig, state: &ChannelState) -> Self {
        let causes = config.queue.causes();
        let counters = LinkCounters {
            dropped: Tallies::new(Cause::OF_LINKS.into_iter().chain(causes.drops)),
            marked: Tallies::new(causes.marks),
            ..LinkCounters::default()
        };
        Self {
            queue: config.queue,
            transmitter: Transmitter::new(state, config.rate_scale),
            sent_at: NEVER,
            held_until: NEVER,
            flight: VecDeque::new(),
            former: None,
            away: None,
            former_bits: 0,
            loss: config.loss,
            access: config.access,
            state_loss: state.loss,
            state_rng: config.rng.child("state-loss").rng(),
            own_delay: config.delay,
            delay: config.delay + state.delay,
            overhead: config.overhead,
            mtu: config.mtu,
            overtaking: config.overtaking,
            up: state.up,
            last_arrival: SimTime::ZERO,
            counters,
            queue_delay: LogHistogram::new(),
        }
    }

    /// Counts drops of this cause from the start, none so far: every run of a scenario then counts the same causes.
    pub fn expect_cause(&mut self, cause: Cause) {
        self.counters.dropped.declare(cause);
    }

    /// The longest packet that it carries.
    pub fn mtu(&self) -> Bytes {
        self.mtu
    }

    /// Takes a packet in at `now`; it is queued, or dropped if the link is down or the packet too large.
    pub fn enqueue(&mut self, now: SimTime, mut packet: Descriptor, out: &mut LinkOutput) {
        self.advance(now, out);
        self.counters.enqueued.count(packet.meta.size);
        packet.meta.enter(now);
        let fates = &mut out.fates;
        let before = Before::of(fates);
        if !self.up {
            fates.drop(packet, Cause::DOWN);
        } else if packet.meta.size > self.mtu {
            fates.drop(packet, Cause::MTU);
        } else {
            self.queue.enqueue(now, packet, fates);
        }
        self.count(fates, before);
        if self.sent_at == NEVER {
            self.start_next(now, out);
            self.advance(now, out);
        }
    }

    /// Takes on a new state of the channel at `now`. What was due before `now` still saw the old state.
    pub fn set_channel(&mut self, now: SimTime, state: &ChannelState, out: &mut LinkOutput) {
        while self.due() < now {
            self.go_on(self.due(), out);
        }
        self.transmitter.change(now, state);
        self.up = state.up;
        self.state_loss = state.loss;
        self.delay = self.own_delay + state.delay;
        if self.sent_at == NEVER {
            self.start_next(now, out);
        }
        self.advance(now, out);
    }

    /// Does everything due up to and including `now`.
    #[inline]
    pub fn advance(&mut self, now: SimTime, out: &mut LinkOutput) {
        debug_assert!(now < NEVER, "nothing is done at a time that is never reached");
        if self.next() <= now {
            self.work_off(now, out);
        }
    }

    fn work_off(&mut self, now: SimTime, out: &mut LinkOutput) {
        while self.due() <= now {
            self.go_on(self.due(), out);
        }
        if self.former.is_some() {
            return self.work_off_both(now, out);
        }
        while self.flight.front().is_some_and(|flying| flying.arrival <= now) {
            if let Some(Flying { packet, .. }) = self.flight.pop_front() {
                self.counters.delivered.count(packet.meta.size);
                out.arrivals.push(packet);
            }
        }
    }

    /// When something is due next; `None` if nothing ever is unless a packet or a state of the channel comes.
    #[inline]
    pub fn next_wake(&self) -> Option<SimTime> {
        Some(self.next()).filter(|next| *next < NEVER)
    }

    /// The time at which something is due next; [`NEVER`] if nothing is.
    #[inline]
    fn next(&self) -> SimTime {
        let arrival = self.flight.front().map_or(NEVER, |flying| flying.arrival);
        let next = arrival.min(self.sent_at).min(self.held_until);
        match &self.former {
            None => next,
            Some(former) => next.min(former.due()).min(former.arrival()),
        }
    }

    /// Takes every waiting packet off the link at `now`, in order of arrival; the one on the wire goes on.
    pub fn flush(&mut self, now: SimTime, packets: &mut Vec<Descriptor>, out: &mut LinkOutput) {
        self.end_overlap(now, AfterOverlap::Drain, out);
        self.advance(now, out);
        let first = packets.len();
        self.queue.flush(now, packets);
        for packet in &packets[first..] {
            self.counters.flushed.count(packet.meta.size);
        }
        self.held_until = NEVER;
    }

    /// Drops every waiting packet at `now`; the one on the wire goes on.
    pub fn drop_waiting(&mut self, now: SimTime, cause: Cause, out: &mut LinkOutput) {
        self.end_overlap(now, AfterOverlap::Drain, out);
        self.advance(now, out);
        let mut packets = Vec::new();
        self.queue.flush(now, &mut packets);
        self.held_until = NEVER;
        let before = Before::of(&out.fates);
        for packet in packets {
            out.fates.drop(packet, cause);
        }
        self.count(&out.fates, before);
    }

    /// Drops every packet on the link at `now`, whether it waits, is being transmitted or propagates.
    pub fn drop_all(&mut self, now: SimTime, cause: Cause, out: &mut LinkOutput) {
        self.drop_waiting(now, cause, out);
        let before = Before::of(&out.fates);
        for Flying { packet, .. } in self.flight.drain(..) {
            out.fates.drop(packet, cause);
        }
        self.count(&out.fates, before);
        self.sent_at = NEVER;
        self.transmitter.pause();
    }

    /// How much waits, the packet on the wire not counted.
    pub fn backlog(&self) -> Backlog {
        let mut backlog = self.queue.backlog();
        if let Some(former) = &self.former {
            let (bytes, packets) = former.backlog();
            backlog.bytes += bytes;
            backlog.packets += packets;
        }
        if let Some(away) = &self.away {
            backlog.bytes += away.waiting.bytes;
            backlog.packets += away.waiting.packets;
        }
        backlog
    }

    /// How many packets are on the wire or propagating.
    pub fn in_flight(&self) -> u64 {
        let former = self.former.as_ref().map_or(0, |former| former.in_flight());
        self.flight.len() as u64 + former + self.away.as_ref().map_or(0, |away| away.on_wire)
    }

    /// The packets that arrive before `end`, of those whose transmission has ended, in order and with their times.
    pub fn arriving(&self, end: SimTime) -> impl Iterator<Item = (SimTime, &Descriptor)> {
        let flying = self.flight.iter().take_while(move |flying| flying.arrival < end);
        flying.map(|flying| (flying.arrival, &flying.packet))
    }

    /// The totals up to and including `now`, which must not be before the last call.
    pub fn counters(&self, now: SimTime) -> LinkCounters {
        let former = self.former.as_ref().map_or(0, |former| former.offered_bits(now));
        let capacity_bits = self.transmitter.offered_bits(now) + self.former_bits + former;
        LinkCounters { capacity_bits, ..self.counters.clone() }
    }

    /// Time from a packet's arrival to the start of its transmission, in nanoseconds, over the packets sent.
    pub const fn queue_delay(&self) -> &LogHistogram {
        &self.queue_delay
    }

    /// Forgets the queue delays so far, as at the end of a warm-up.
    pub fn restart_queue_delay(&mut self) {
        self.queue_delay = LogHistogram::new();
    }

    /// When a transmission ends or the queue is asked again.
    #[inline]
    fn due(&self) -> SimTime {
        let due = self.sent_at.min(self.held_until);
        match &self.former {
            None => due,
            Some(former) => due.min(former.due()),
        }
    }

    /// Ends the transmission that is due at `at`, if there is one, and starts the next.
    fn go_on(&mut self, at: SimTime, out: &mut LinkOutput) {
        if self.former.as_ref().is_some_and(|former| former.due() == at) {
            return self.finish_former(at, out);
        }
        if self.sent_at < NEVER {
            self.finish(at, self.delay, out);
        }
        self.start_next(at, out);
    }

    /// Puts the next packet on the wire, if the queue hands one out and the channel serves.
    #[expect(clippy::inline_always, reason = "every transmission begins here")]
    #[inline(always)]
    fn start_next(&mut self, now: SimTime, out: &mut LinkOutput) {
        self.held_until = NEVER;
        if !self.transmitter.is_ready() || self.away.is_some() {
            return;
        }
        let before = Before::of(&out.fates);
        let dequeued = self.queue.dequeue(now, &mut out.fates);
        self.count(&out.fates, before);
        let mut packet = match dequeued {
            Dequeued::Packet(packet) => packet,
            Dequeued::Empty => return self.transmitter.pause(),
            Dequeued::NotBefore(time) => {
                assert!(time > now, "the queue holds packets back until {time}, but it is {now}");
                self.held_until = time;
                return self.transmitter.pause();
            }
        };
        self.queue_delay.record((now - packet.meta.begin(now)).as_nanos());
        self.sent_at = self.transmitter.start(now, self.wire_size(packet.meta.size));
        self.flight.push_back(Flying { arrival: NEVER, packet });
    }

    /// Ends the transmission under way at `at`: the packet is lost or propagates.
    #[expect(clippy::inline_always, reason = "every transmission ends here")]
    #[inline(always)]
    fn finish(&mut self, at: SimTime, delay: SimDuration, out: &mut LinkOutput) {
        self.sent_at = NEVER;
        let Some(Flying { arrival, packet }) = self.flight.back_mut() else { return };
        let size = packet.meta.size;
        let leaves = self.access.as_mut().map_or(at, |access| access.leaves(at));
        *arrival = leaves + delay;
        if !self.overtaking {
            *arrival = (*arrival).max(self.last_arrival);
        }
        let lost_in_state = self.state_loss > 0.0 && self.state_rng.bernoulli(self.state_loss);
        let lost_by_process = self.loss.as_mut().is_some_and(|loss| loss.lost(at, &packet.meta));
        let arrival = *arrival;
        self.counters.sent.count(size);
        self.counters.wire_bytes += self.wire_size(size);
        if lost_in_state || lost_by_process {
            self.drop_last(out);
        } else if arrival < self.last_arrival {
            self.overtake(arrival);
        } else {
            self.last_arrival = arrival;
        }
    }

    /// Drops the packet whose transmission just ended.
    fn drop_last(&mut self, out: &mut LinkOutput) {
        let before = Before::of(&out.fates);
        if let Some(Flying { packet, .. }) = self.flight.pop_back() {
            out.fates.drop(packet, Cause::CHANNEL);
        }
        self.count(&out.fates, before);
    }

    /// Moves the last packet before those that arrive later than it.
    fn overtake(&mut self, arrival: SimTime) {
        if let Some(last) = self.flight.pop_back() {
            let place = self.flight.partition_point(|flying| flying.arrival <= arrival);
            self.flight.insert(place, last);
        }
    }

    /// Counts what was dropped and marked since.
    #[inline]
    fn count(&mut self, fates: &Fates, before: Before) {
        if !fates.is_empty() {
            self.count_fates(fates, before);
        }
    }

    #[inline(never)]
    fn count_fates(&mut self, fates: &Fates, before: Before) {
        for Drop { packet, cause } in &fates.drops[before.drops..] {
            self.counters.dropped.count(*cause, packet.meta.size);
        }
        for Mark { meta, cause, .. } in &fates.marks[before.marks..] {
            self.counters.marked.count(*cause, meta.size);
        }
    }
}

/// Bytes of an IP packet of `size` on the wire with this overhead.
pub fn wire_size(size: Bytes, overhead: i64) -> Bytes {
    Bytes::new(size.get().saturating_add_signed(overhead).max(1))
}

/// How many packets had been dropped and marked.
#[derive(Clone, Copy)]
struct Before {
    drops: usize,
    marks: usize,
}

impl Before {
    fn of(fates: &Fates) -> Self {
        Self { drops: fates.drops.len(), marks: fates.marks.len() }
    }
}

#[cfg(test)]
mod tests;
