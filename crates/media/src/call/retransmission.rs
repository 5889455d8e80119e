//! Packets of frames that are missing, and when they are asked for again (after libwebrtc's `nack_requester.cc`).

use std::collections::BTreeMap;
use std::ops::Range;

use leobench_base::{SimDuration, SimTime};

/// Time after which a packet is asked for once more, before the first answer tells the round trip (`kDefaultRtt`), and the
/// shortest such time (`kUpdateInterval`).
const FIRST_WAIT: SimDuration = SimDuration::from_millis(100);
const LEAST_WAIT: SimDuration = SimDuration::from_millis(20);
/// How often a packet is asked for at most (`kMaxNackRetries`).
const MOST_TRIES: u32 = 10;
/// A gap of more packets than this is not asked for (`kMaxPacketAge`).
const MOST_MISSING: u64 = 10_000;

#[derive(Clone, Copy, Debug)]
struct Missing {
    noticed: SimTime,
    due: SimTime,
    tries: u32,
}

#[derive(Debug)]
pub(super) struct Requester {
    /// How long a packet is asked for; zero for never.
    limit: SimDuration,
    missing: BTreeMap<u64, Missing>,
    next: u64,
    wait: SimDuration,
}

impl Requester {
    pub fn new(limit: SimDuration) -> Self {
        Self { limit, missing: BTreeMap::new(), next: 0, wait: FIRST_WAIT }
    }

    /// Learns of a packet by its sequence number, and thereby of a gap before it.
    pub fn on_packet(&mut self, now: SimTime, sequence: u64) {
        if self.limit.is_zero() {
            return;
        }
        if let Some(missing) = self.missing.remove(&sequence)
            && missing.tries > 0
        {
            self.wait = now.saturating_since(missing.noticed).max(LEAST_WAIT);
        }
        if sequence >= self.next {
            let first = self.next.max(sequence.saturating_sub(MOST_MISSING));
            let noticed = Missing { noticed: now, due: now, tries: 0 };
            self.missing.extend((first..sequence).map(|missing| (missing, noticed)));
            self.next = sequence + 1;
        }
    }

    /// Packets that are needed no more.
    pub fn forget(&mut self, sequences: Range<u64>) {
        while let Some((&sequence, _)) = self.missing.range(sequences.clone()).next() {
            self.missing.remove(&sequence);
        }
    }

    /// When a packet is to be asked for.
    pub fn due(&self) -> Option<SimTime> {
        self.missing.values().map(|missing| missing.due).min()
    }

    /// The packets to ask for now.
    pub fn take(&mut self, now: SimTime) -> Vec<u64> {
        let limit = self.limit;
        let may_ask = |missing: &Missing| {
            missing.tries < MOST_TRIES && now.saturating_since(missing.noticed) < limit
        };
        self.missing.retain(|_, missing| missing.due > now || may_ask(missing));
        let mut asked = Vec::new();
        for (sequence, missing) in &mut self.missing {
            if missing.due <= now {
                asked.push(*sequence);
                missing.tries += 1;
                missing.due = now + self.wait;
            }
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::from_nanos(ms * 1_000_000)
    }

    /// Asked at once, after 100 ms, and, once an answer took 40 ms, after 40 ms; for 500 ms.
    #[test]
    fn packets_are_asked_for_until_the_limit() {
        let mut requester = Requester::new(SimDuration::from_millis(500));
        requester.on_packet(at(0), 0);
        assert_eq!(requester.due(), None);
        requester.on_packet(at(10), 3);
        assert_eq!(requester.due(), Some(at(10)));
        assert_eq!(requester.take(at(10)), [1, 2]);
        assert_eq!(requester.due(), Some(at(110)));
        requester.on_packet(at(50), 1);
        assert_eq!(requester.take(at(110)), [2]);
        assert_eq!(requester.due(), Some(at(150)));
        assert_eq!(requester.take(at(150)), [2]);
        assert_eq!(requester.take(at(509)), [2]);
        assert!(requester.take(at(549)).is_empty(), "the limit is over");
        assert_eq!(requester.due(), None);
    }

    #[test]
    fn packets_of_no_use_are_forgotten() {
        let mut requester = Requester::new(SimDuration::from_millis(500));
        requester.on_packet(at(0), 9);
        requester.forget(2..8);
        assert_eq!(requester.take(at(0)), [0, 1, 8]);
    }

    #[test]
    fn a_limit_of_zero_asks_for_nothing() {
        let mut requester = Requester::new(SimDuration::ZERO);
        requester.on_packet(at(0), 9);
        assert_eq!(requester.due(), None);
    }
}
