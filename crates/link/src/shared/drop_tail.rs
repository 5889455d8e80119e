//! A transmitter of a fixed rate behind a drop-tail queue, computed ahead: when a packet comes, the end of its transmission is known.

use std::collections::VecDeque;

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

use super::SharedCounters;
use crate::queue::{Backlog, Capacity, Cause, Causes};

/// A transmission, by when it begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When it begins; until then, the packet waits.
    pub start: SimTime,
    /// When it ends.
    pub end: SimTime,
}

/// A [`SharedTransmitter`](super::SharedTransmitter) of a fixed rate behind a drop-tail queue. Nothing but packets that come before
/// decides when one leaves, so nobody has to be woken for it.
pub struct DropTail {
    rate: BitRate,
    /// End of the last transmission, and its remainder.
    free: (SimTime, u64),
    /// The packet whose transmission has begun and not ended.
    wire: Option<Queued>,
    /// Those behind it, in order: each begins when the one before ends.
    waiting: VecDeque<Queued>,
    capacity: Capacity,
    backlog: Backlog,
    counters: SharedCounters,
}

struct Queued {
    transmission: Transmission,
    waited: SimDuration,
    size: Bytes,
    wire_size: Bytes,
}

impl DropTail {
    /// Nothing waits.
    pub fn new(rate: BitRate, capacity: Capacity) -> Self {
        Self {
            rate,
            free: (SimTime::ZERO, 0),
            wire: None,
            waiting: VecDeque::new(),
            capacity,
            backlog: Backlog::default(),
            counters: SharedCounters::new(&Causes::default()),
        }
    }

    /// A packet comes at `now`; none if the queue is full.
    #[inline]
    pub fn enqueue(&mut self, now: SimTime, size: Bytes, wire_size: Bytes) -> Option<Transmission> {
        self.advance(now);
        self.counters.enqueued.count(size);
        let (free_at, carry) = self.free;
        let (start, carry) = if free_at <= now { (now, 0) } else { (free_at, carry) };
        if start > now && !self.capacity.fits(self.backlog, size) {
            self.counters.dropped.count(Cause::QUEUE, size);
            return None;
        }
        let (span, rest) = self.rate.serialise(wire_size, carry).expect("a rate above zero");
        let transmission = Transmission { start, end: start + span };
        self.free = (transmission.end, rest);
        let packet = Queued { transmission, waited: start - now, size, wire_size };
        if start == now {
            self.begin(packet);
        } else {
            self.backlog.add(size);
            self.waiting.push_back(packet);
        }
        Some(transmission)
    }

    /// Reads the state that the next packet changes, to prefetch it: a field of each cache line. The number means nothing.
    #[inline]
    pub fn touch(&self) -> u64 {
        let SharedCounters { enqueued, sent, started, busy, .. } = &self.counters;
        let counted = enqueued.packets ^ sent.packets ^ started ^ busy.as_nanos();
        counted ^ self.free.1 ^ self.waiting.len() as u64 ^ self.backlog.packets
    }

    /// Counts what has begun and ended up to and including `now`.
    #[inline]
    pub fn advance(&mut self, now: SimTime) {
        while let Some(packet) = self.wire.take_if(|packet| packet.transmission.end <= now) {
            let Queued { transmission: Transmission { start, end }, size, wire_size, .. } = packet;
            self.counters.sent.count(size);
            self.counters.wire_bytes += wire_size;
            self.counters.busy += end - start;
            if let Some(next) = self.waiting.pop_front() {
                self.backlog.remove(next.size);
                self.begin(next);
            }
        }
    }

    /// The transmission of a packet begins.
    #[inline]
    fn begin(&mut self, packet: Queued) {
        self.counters.started += 1;
        if !packet.waited.is_zero() {
            self.counters.wait.0 += u128::from(packet.waited.as_nanos());
            self.counters.wait.1 = self.counters.wait.1.max(packet.waited);
        }
        self.wire = Some(packet);
    }

    /// The packets that wait at `now` leave; how many. The one on the wire goes on.
    pub fn withdraw(&mut self, now: SimTime) -> usize {
        self.advance(now);
        let waiting = self.waiting.len();
        for Queued { size, .. } in self.waiting.drain(..) {
            self.counters.withdrawn.count(size);
        }
        self.backlog = Backlog::default();
        self.free = self.wire.as_ref().map_or((now, 0), |last| (last.transmission.end, 0));
        waiting
    }

    /// The transmission under way at `now` is cut off; whether there was one. Call [`withdraw`](Self::withdraw) first.
    pub fn cut(&mut self, now: SimTime) -> bool {
        let Some(Queued { transmission, size, .. }) = self.wire.take() else { return false };
        self.counters.busy += now - transmission.start;
        self.counters.withdrawn.count(size);
        self.free = (now, 0);
        true
    }

    /// How much waits, as of the last call.
    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The totals, as of the last call.
    pub const fn counters(&self) -> &SharedCounters {
        &self.counters
    }

    /// Counts anew from here on.
    pub fn restart(&mut self) {
        self.counters = SharedCounters::new(&Causes::default());
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::{Descriptor, Ecn, RngTree};

    use super::super::{PacketService, SharedOutput, SharedTransmitter};
    use super::*;
    use crate::queue::QueueModel;
    use crate::queue::fifo::FifoSpec;
    use leobench_base::spec::Limit;

    /// At any load, packets leave and are dropped as by a transmitter that is woken for every one, with the same totals.
    #[test]
    fn packets_leave_as_from_a_transmitter_that_is_woken() {
        let mut rng = RngTree::new(7).rng();
        for capacity in
            [Capacity::Packets(3), Capacity::Bytes(Bytes::new(4_000)), Capacity::Unlimited]
        {
            let rate = BitRate::from_bps(9_999_991);
            let queue = FifoSpec { limit: Limit::Unlimited }.build(capacity, &RngTree::new(1));
            let mut woken = SharedTransmitter::new(queue, &Causes::default());
            let mut ahead = DropTail::new(rate, capacity);
            let (mut out, mut now) = (SharedOutput::default(), SimTime::ZERO);
            let (mut sent, mut expected, mut drops) = (Vec::new(), Vec::new(), 0);
            for number in 0..5_000u64 {
                now += SimDuration::from_nanos(rng.bits() % 1_300_000);
                let size = Bytes::new(40 + rng.bits() % 1_460);
                let packet = packet(number, size, now);
                let service =
                    |packet: &Descriptor| PacketService { rate, wire_size: packet.meta.size };
                woken.enqueue(now, packet, service, &mut out);
                expected.extend(ahead.enqueue(now, size, size).map(|one| one.end));
                drops += out.fates.drops.drain(..).count();
                sent.extend(out.sent.drain(..).map(|(at, _)| at));
                if number % 97 == 0 {
                    ahead.advance(now);
                    assert_eq!(woken.backlog(), ahead.backlog());
                    assert_eq!(woken.counters(), ahead.counters());
                }
            }
            assert!(drops > 100 || capacity == Capacity::Unlimited, "{drops}");
            assert_eq!(sent, expected[..sent.len()]);
        }
    }

    fn packet(number: u64, size: Bytes, now: SimTime) -> Descriptor {
        let mut packet = crate::testing::packet(number, size.get());
        packet.meta.ecn = Ecn::NotEct;
        packet.meta.enter(now);
        packet
    }
}
