//! A link that loses, reorders, repeats and damages datagrams.

use std::collections::{BTreeMap, BTreeSet};

use bytes::BytesMut;
use leobench_base::{RngTree, SimDuration, SimRng, SimTime};

use super::plan::{Plan, Trouble};
use super::tally::Tally;

/// A datagram on its way.
struct Flying {
    to: usize,
    datagram: BytesMut,
    /// The same for all copies; none if it is damaged.
    intact: Option<u64>,
}

/// A datagram that arrives.
pub(super) struct Arrival {
    pub(super) to: usize,
    pub(super) datagram: BytesMut,
    /// Whether it is the first intact copy.
    pub(super) is_new: bool,
}

pub(super) struct Link {
    rng: SimRng,
    delay: SimDuration,
    trouble: [Trouble; 2],
    /// By time of arrival and order of sending.
    flying: BTreeMap<(SimTime, u64), Flying>,
    next: u64,
    /// Datagrams of which an intact copy arrived.
    arrived: BTreeSet<u64>,
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
            arrived: BTreeSet::new(),
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

    /// The next datagram that arrives by now.
    pub(super) fn arrival(&mut self, now: SimTime) -> Option<Arrival> {
        let entry = self.flying.first_entry().filter(|entry| entry.key().0 <= now)?;
        let Flying { to, datagram, intact } = entry.remove();
        let is_new = intact.is_some_and(|number| self.arrived.insert(number));
        Some(Arrival { to, datagram, is_new })
    }

    /// Sends a datagram from an end to the other one.
    pub(super) fn send(
        &mut self,
        now: SimTime,
        from: usize,
        datagram: &[u8],
        in_order: bool,
        tally: &mut Tally,
    ) {
        let Trouble { lost, repeated, damaged, late, by } = self.trouble[from];
        if self.strikes(lost) {
            tally.lost += 1;
            return;
        }
        let number = self.next;
        let copies = 1 + u64::from(self.strikes(repeated));
        tally.repeated += copies - 1;
        for _ in 0..copies {
            let mut copy = BytesMut::from(datagram);
            let is_damaged = self.strikes(damaged);
            if is_damaged {
                tally.damaged += 1;
                self.damage(&mut copy);
            }
            let is_late = self.strikes(late) && !in_order;
            let extra = if is_late { self.rng.below(by.as_nanos() + 1) } else { 0 };
            let mut at = now + self.delay + SimDuration::from_nanos(extra);
            if in_order {
                at = at.max(self.last[1 - from]);
            }
            tally.reordered += u64::from(at < self.last[1 - from]);
            self.last[1 - from] = self.last[1 - from].max(at);
            let intact = (!is_damaged).then_some(number);
            let flying = Flying { to: 1 - from, datagram: copy, intact };
            self.flying.insert((at, self.next), flying);
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
