//! One hop: a transmitter with its queue.

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};
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
    /// The latest arrival behind it so far.
    last: SimTime,
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
        Self { key, name, transmitter, last: SimTime::ZERO, sampled: Sampled::default() }
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

    /// The latest arrival behind it so far.
    pub(super) const fn flies_until(&self) -> SimTime {
        self.last
    }

    /// Nothing propagates any more.
    pub(super) const fn forget_arrivals(&mut self) {
        self.last = SimTime::ZERO;
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

    /// When a transmission ends, or the queue is asked again.
    pub(super) fn next_wake(&self) -> SimTime {
        let due = match &self.transmitter {
            Transmitter::Shared(transmitter, _) => transmitter.next_wake(),
            Transmitter::None | Transmitter::DropTail(_) => None,
        };
        due.unwrap_or(SimTime::MAX)
    }

    /// Reads the state that the next packet changes, to prefetch it. The number means nothing.
    #[inline]
    pub(super) fn touch(&self) -> u64 {
        let transmitter = match &self.transmitter {
            Transmitter::DropTail(one) => one.touch(),
            Transmitter::None | Transmitter::Shared(..) => 0,
        };
        self.last.as_nanos() ^ transmitter
    }

    /// When a packet arrives that would propagate until `arrival`. Over lasers and cables, none overtakes another; stations and
    /// satellites send over different ways.
    #[inline]
    pub(super) fn arrival(&mut self, arrival: SimTime) -> SimTime {
        let last = self.last.max(arrival);
        self.last = last;
        match self.key {
            HopKey::Laser(_) | HopKey::Backhaul { .. } => last,
            HopKey::Up(_) | HopKey::Down { .. } => arrival,
        }
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
