//! The rate that arrives (`R_hat`, section 5.5 of the draft), measured as libwebrtc does (`RobustThroughputEstimator`).
//!
//! The draft counts the bits of half a second. A silence then passes for a low rate: after a handover of 150 ms the delay-based rate
//! would fall by a third. libwebrtc leaves the longest gap out, and takes no more than the rate at which the same packets left.

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime};

/// Packets that are kept at least (if not all came within [`LEAST`]), and at most.
const FEWEST: usize = 20;
const MOST: usize = 500;
/// Packets below which nothing is known.
const REQUIRED: usize = 10;
/// Time over which packets are kept: at least, and at most.
const LEAST: SimDuration = SimDuration::from_secs(1);
const LONGEST: SimDuration = SimDuration::from_secs(5);
/// The shortest time of a rate.
const INSTANT: SimDuration = SimDuration::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct Arrived {
    sent: SimTime,
    arrival: SimTime,
    bits: u64,
}

/// Packets in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Throughput {
    packets: VecDeque<Arrived>,
    /// The latest of the times at which packets left that are kept no longer.
    forgotten: SimTime,
}

impl Throughput {
    pub fn on_arrival(&mut self, sent: SimTime, arrival: SimTime, bytes: Bytes) {
        let packet = Arrived { sent, arrival, bits: bytes.bits() };
        let later = self.packets.iter().rev().take_while(|other| other.arrival > arrival).count();
        self.packets.insert(self.packets.len() - later, packet);
        while self.is_full()
            && let Some(packet) = self.packets.pop_front()
        {
            self.forgotten = self.forgotten.max(packet.sent);
        }
    }

    /// Whether the first packet is kept no longer.
    fn is_full(&self) -> bool {
        let (count, span) = (self.packets.len(), self.span());
        count > MOST || span > LONGEST || (count > FEWEST && span > LEAST)
    }

    fn span(&self) -> SimDuration {
        let ends = self.packets.back().zip(self.packets.front());
        ends.map_or(SimDuration::ZERO, |(last, first)| last.arrival.saturating_since(first.arrival))
    }

    /// In bit/s; none while too few packets have arrived.
    pub fn rate(&self) -> Option<f64> {
        if self.packets.len() < REQUIRED {
            return None;
        }
        Some(self.arriving().min(self.leaving()?))
    }

    /// The rate of arrivals: the first packet begins the time, and the longest gap counts as the second longest.
    fn arriving(&self) -> f64 {
        let bits: u64 = self.packets.iter().skip(1).map(|packet| packet.bits).sum();
        let (mut longest, mut second) = (SimDuration::ZERO, SimDuration::ZERO);
        for (before, after) in self.packets.iter().zip(self.packets.iter().skip(1)) {
            let gap = after.arrival.saturating_since(before.arrival);
            (longest, second) =
                if gap > longest { (gap, longest) } else { (longest, second.max(gap)) };
        }
        per_second(bits, self.span().saturating_sub(longest) + second)
    }

    /// The rate at which the packets left: the last one ends the time. Those that left before one that is forgotten do not count.
    fn leaving(&self) -> Option<f64> {
        let counted = || self.packets.iter().filter(|packet| packet.sent >= self.forgotten);
        let first = counted().map(|packet| packet.sent).min()?;
        let last = counted().max_by_key(|packet| packet.sent)?;
        let bits = counted().map(|packet| packet.bits).sum::<u64>() - last.bits;
        Some(per_second(bits, last.sent.saturating_since(first)))
    }
}

fn per_second(bits: u64, time: SimDuration) -> f64 {
    bits as f64 / time.max(INSTANT).as_secs_f64()
}
