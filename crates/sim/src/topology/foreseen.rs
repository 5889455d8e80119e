//! Topologies that run ahead of the network, so that their changes are known before they happen.

use std::collections::VecDeque;

use leobench_base::SimTime;

use super::{Change, Topology};

/// A topology that depends on nothing but the time. It is advanced as far as somebody asks, at the same instants as without
/// being asked, and its changes wait here until the network gets there.
pub struct Foreseen {
    inner: Box<dyn Topology>,
    /// Changes at instants that the network has not reached.
    steps: VecDeque<(SimTime, Vec<Change>)>,
}

impl Foreseen {
    /// Runs `inner`, which must not watch channels, ahead of the network.
    pub fn new(inner: Box<dyn Topology>) -> Self {
        Self { inner, steps: VecDeque::new() }
    }

    fn fill(&mut self, until: SimTime) {
        while let Some(due) = self.inner.next_change().filter(|due| *due <= until) {
            let mut changes = Vec::new();
            self.inner.advance(due, &mut changes);
            self.steps.push_back((due, changes));
        }
    }
}

impl Topology for Foreseen {
    fn next_change(&self) -> Option<SimTime> {
        self.steps.front().map(|(at, _)| *at).or_else(|| self.inner.next_change())
    }

    fn advance(&mut self, now: SimTime, changes: &mut Vec<Change>) {
        self.fill(now);
        let next = self.steps.pop_front_if(|(at, _)| *at <= now);
        changes.extend(next.into_iter().flat_map(|(_, changes)| changes));
    }

    fn foresee(&mut self, until: SimTime, see: &mut dyn FnMut(SimTime, &Change)) {
        self.fill(until);
        for (at, changes) in self.steps.iter().take_while(|(at, _)| *at <= until) {
            for change in changes {
                see(*at, change);
            }
        }
    }
}
