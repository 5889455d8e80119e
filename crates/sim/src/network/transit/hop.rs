//! One hop: a transmitter with its queue, and the packets that propagate behind it.

use std::collections::VecDeque;

use leobench_base::{BitRate, Bytes, Descriptor, SimDuration, SimTime};
use leobench_link::{Backlog, Causes, DropTail, SharedCounters, SharedTransmitter};

use super::{HopKey, HopParts, HopRate, HopTotals, HopTransmitter};
use crate::record::HopRow;
use crate::topology::LaserLoad;

leobench_base::indices! {
    /// A hop of the network in orbit.
    HopId
}

/// A laser between two satellites.
pub(super) struct Laser {
    pub(super) ends: [u32; 2],
    /// Its delay, and whether it is on.
    pub(super) delay: SimDuration,
    pub(super) is_on: bool,
}

impl Laser {
    pub(super) const fn new(ends: [u32; 2]) -> Self {
        Self { ends, delay: SimDuration::ZERO, is_on: false }
    }
}

/// A packet that propagates; its time of arrival is when it will. It fills a cache line.
#[repr(align(64))]
struct Flying(Descriptor);

const _: () = assert!(size_of::<Flying>() == 64, "a packet in flight fills a cache line");

impl Flying {
    const fn arrival(&self) -> SimTime {
        self.0.meta.arrival
    }
}

/// The transmitter of a hop.
pub(super) enum Transmitter {
    /// Packets only propagate.
    None,
    /// A queue discipline in front of it.
    Shared(Box<SharedTransmitter>, HopRate),
    /// Drop-tail at a fixed rate: packets are in flight as soon as they come.
    DropTail(Box<DropTail>),
}

pub(super) struct Hop {
    pub(super) key: HopKey,
    pub(super) name: String,
    pub(super) transmitter: Transmitter,
    /// In the order of their arrival.
    flight: VecDeque<Flying>,
    /// Its totals at the last sample.
    sampled: Sampled,
}

/// Totals of a hop at a sample.
#[derive(Clone, Copy, Default)]
struct Sampled {
    sent: Bytes,
    busy: SimDuration,
    dropped: u64,
}

impl Hop {
    pub(super) fn new(key: HopKey, parts: HopParts, causes: &Causes) -> Self {
        let HopParts { name, transmitter } = parts;
        let transmitter = match transmitter {
            HopTransmitter::None => Transmitter::None,
            HopTransmitter::Queue(queue, rate) => {
                Transmitter::Shared(Box::new(SharedTransmitter::new(queue, causes)), rate)
            }
            HopTransmitter::DropTail(rate, capacity) => {
                Transmitter::DropTail(Box::new(DropTail::new(rate, capacity)))
            }
        };
        Self { key, name, transmitter, flight: VecDeque::new(), sampled: Sampled::default() }
    }

    /// Takes a sample of what has happened since the last one; none if nothing has, and nothing waits.
    pub(super) fn sample(&mut self, now: SimTime) -> Option<HopRow<'_>> {
        let (counters, backlog) = self.state(now)?;
        let totals = Sampled {
            sent: counters.wire_bytes,
            busy: counters.busy,
            dropped: counters.dropped.packets(),
        };
        let before = std::mem::replace(&mut self.sampled, totals);
        let row = HopRow {
            name: &self.name,
            backlog,
            sent: totals.sent - before.sent,
            busy: totals.busy.saturating_sub(before.busy),
            dropped: totals.dropped - before.dropped,
        };
        let idle = row.sent.is_zero() && row.dropped == 0 && backlog.packets == 0;
        (!idle).then_some(row)
    }

    pub(super) fn restart(&mut self, now: SimTime, causes: &Causes) {
        self.sampled = Sampled::default();
        match &mut self.transmitter {
            Transmitter::None => {}
            Transmitter::Shared(transmitter, _) => transmitter.restart(causes),
            Transmitter::DropTail(transmitter) => {
                transmitter.advance(now);
                transmitter.restart();
            }
        }
    }

    /// Totals and backlog at `now`, if there is a queue.
    fn state(&mut self, now: SimTime) -> Option<(&SharedCounters, Backlog)> {
        match &mut self.transmitter {
            Transmitter::None => None,
            Transmitter::Shared(one, _) => Some((one.counters(), one.backlog())),
            Transmitter::DropTail(one) => {
                one.advance(now);
                let backlog = one.backlog();
                Some((one.counters(), backlog))
            }
        }
    }

    /// Traffic so far, if there is a queue.
    pub(super) fn load(&mut self, now: SimTime) -> Option<LaserLoad> {
        let (counters, _) = self.state(now)?;
        let (waited, _) = counters.wait;
        let waited = SimDuration::from_nanos(u64::try_from(waited).unwrap_or(u64::MAX));
        Some(LaserLoad { busy: counters.busy, waited, packets: counters.started })
    }

    /// The totals, if anything has been sent or dropped.
    pub(super) fn totals(&mut self, now: SimTime) -> Option<HopTotals> {
        let (counters, _) = self.state(now)?;
        let counters = (counters.enqueued.packets > 0).then(|| counters.clone())?;
        Some(HopTotals { name: self.name.clone(), counters })
    }

    /// When a transmission ends, the queue is asked again, or a packet arrives.
    pub(super) fn next_wake(&self) -> SimTime {
        let due = match &self.transmitter {
            Transmitter::Shared(transmitter, _) => transmitter.next_wake(),
            Transmitter::None | Transmitter::DropTail(_) => None,
        };
        let arrival = self.flight.front().map(Flying::arrival);
        due.unwrap_or(SimTime::MAX).min(arrival.unwrap_or(SimTime::MAX))
    }

    /// A packet propagates until `arrival`. Over lasers and cables, none overtakes another; stations and satellites send over different
    /// ways.
    pub(super) fn fly(&mut self, arrival: SimTime, mut packet: Descriptor) {
        let last = self.flight.back().map_or(SimTime::ZERO, Flying::arrival);
        packet.meta.arrival = arrival;
        match self.key {
            HopKey::Laser(_) | HopKey::Backhaul { .. } => packet.meta.arrival = arrival.max(last),
            HopKey::Up(_) | HopKey::Down { .. } if arrival < last => {
                let at = self.flight.partition_point(|flying| flying.arrival() <= arrival);
                return self.flight.insert(at, Flying(packet));
            }
            HopKey::Up(_) | HopKey::Down { .. } => {}
        }
        self.flight.push_back(Flying(packet));
    }

    /// Whether no packet propagates.
    pub(super) fn is_empty(&self) -> bool {
        self.flight.is_empty()
    }

    /// The next packet that has arrived by `now`.
    pub(super) fn land(&mut self, now: SimTime) -> Option<Descriptor> {
        self.flight.pop_front_if(|flying| flying.arrival() <= now).map(|Flying(packet)| packet)
    }

    /// Takes packets that wait out of the queue at `now`, in order of arrival.
    pub(super) fn withdraw(
        &mut self,
        now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
    ) -> Vec<Descriptor> {
        let mut packets = Vec::new();
        match &mut self.transmitter {
            Transmitter::None => {}
            Transmitter::Shared(transmitter, _) => transmitter.withdraw(now, leaves, &mut packets),
            Transmitter::DropTail(transmitter) => {
                // Packets of a laser leave all together.
                let last = self.flight.len() - transmitter.withdraw(now);
                packets.extend(self.flight.drain(last..).map(|Flying(packet)| packet));
            }
        }
        packets
    }

    /// Takes packets off the wire, and those that propagate.
    pub(super) fn cut(
        &mut self,
        now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
    ) -> Vec<Descriptor> {
        let on_wire = match &mut self.transmitter {
            Transmitter::Shared(one, _) => one.cut(now, leaves),
            Transmitter::DropTail(one) => {
                one.cut(now);
                None
            }
            Transmitter::None => None,
        };
        let mut packets: Vec<_> = on_wire.into_iter().collect();
        for _ in 0..self.flight.len() {
            let Some(flying) = self.flight.pop_front() else { break };
            if leaves(&flying.0) {
                packets.push(flying.0);
            } else {
                self.flight.push_back(flying);
            }
        }
        packets
    }
}

impl HopRate {
    /// The rate of a packet whose link has this rate, between a satellite and a terminal or elsewhere.
    #[inline]
    pub(super) const fn of(self, link: BitRate, at_terminal: bool) -> BitRate {
        match self {
            Self::OfLinks(_) if at_terminal => link,
            Self::Fixed(rate) | Self::OfLinks(rate) => rate,
        }
    }
}
