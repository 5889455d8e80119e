//! A link that loses, reorders, repeats and damages datagrams.

use std::collections::BTreeMap;

use bytes::BytesMut;
use leobench_base::{RngTree, SimDuration, SimRng, SimTime};

use super::plan::{Plan, Trouble};
use super::tally::Tally;

pub(super) struct Link {
    rng: SimRng,
    delay: SimDuration,
    trouble: [Trouble; 2],
    /// By time of arrival and order of sending: the receiving end, and the datagram.
    flying: BTreeMap<(SimTime, u64), (usize, BytesMut)>,
    next: u64,
    /// The last arrival at each end, for those that must stay in order.
    last: [SimTime; 2],
}

impl Link {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            rng: RngTree::new(plan.seed).child("link").rng(),
            delay: plan.delay,
            trouble: plan.trouble,
            flying: BTreeMap::new(),
            next: 0,
            last: [SimTime::ZERO; 2],
        }
    }

    fn strikes(&mut self, per_mille: u64) -> bool {
        self.rng.below(1_000) < per_mille
    }

    /// When the next datagram arrives.
    pub(super) fn next_arrival(&self) -> Option<SimTime> {
        self.flying.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next datagram that arrives by now, and the end it arrives at.
    pub(super) fn arrival(&mut self, now: SimTime) -> Option<(usize, BytesMut)> {
        let entry = self.flying.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    /// Sends a datagram from an end to the other one.
    pub(super) fn send(
        &mut self,
        now: SimTime,
        from: usize,
        datagram: BytesMut,
        in_order: bool,
        tally: &mut Tally,
    ) {
        let Trouble { lost, repeated, damaged, late, by } = self.trouble[from];
        if self.strikes(lost) {
            tally.lost += 1;
            return;
        }
        let copies = 1 + u64::from(self.strikes(repeated));
        tally.repeated += copies - 1;
        for _ in 0..copies {
            let mut copy = datagram.clone();
            if self.strikes(damaged) {
                tally.damaged += 1;
                self.damage(&mut copy);
            }
            let is_late = self.strikes(late) && !in_order;
            let extra =
                if is_late { self.rng.below(by.as_nanos() + 1) } else { 0 };
            let mut at = now + self.delay + SimDuration::from_nanos(extra);
            if in_order {
                at = at.max(self.last[1 - from]);
            }
            tally.reordered += u64::from(at < self.last[1 - from]);
            self.last[1 - from] = self.last[1 - from].max(at);
            self.flying.insert((at, self.next), (1 - from, copy));
            self.next += 1;
        }
    }

    /// Flips a few bits, or cuts the end off.
    fn damage(&mut self, datagram: &mut BytesMut) {
        let size = datagram.len() as u64;
        if self.rng.below(4) == 0 {
            datagram.truncate(self.rng.below(size) as usize);
            return;
        }
        for _ in 0..=self.rng.below(3) {
            // Headers are where damage is not simply found by a tag.
            let end = if self.rng.below(2) == 0 { size.min(40) } else { size };
            datagram[self.rng.below(end) as usize] ^= 1 << self.rng.below(8);
        }
    }
}
