//! The handovers of a fleet as an iterator.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

use super::fleet::{Fleet, Handover};
use crate::motion::OrbitError;

/// The handovers of a fleet, by time, then by terminal.
pub struct Handovers<'a> {
    fleet: &'a mut Fleet,
    step: SimDuration,
    next: Option<SimTime>,
    end: SimTime,
    ready: VecDeque<Handover>,
}

impl<'a> Handovers<'a> {
    /// The handovers between two times, looked for at steps and whenever a policy wants to choose.
    pub fn new(fleet: &'a mut Fleet, step: SimDuration, from: SimTime, to: SimTime) -> Self {
        Self { fleet, step, next: Some(from), end: to, ready: VecDeque::new() }
    }

    /// The fleet, at the time of the last handover returned, or of the end.
    pub fn fleet(&self) -> &Fleet {
        self.fleet
    }
}

impl Iterator for Handovers<'_> {
    type Item = Result<Handover, OrbitError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(handover) = self.ready.pop_front() {
                return Some(Ok(handover));
            }
            let now = self.next.take().filter(|now| *now <= self.end)?;
            match self.fleet.advance(now) {
                Ok(handovers) => self.ready.extend(handovers),
                Err(error) => return Some(Err(error)),
            }
            let step = self.step.as_nanos();
            let regular = SimTime::from_nanos((now.as_nanos() / step + 1) * step);
            let due = self.fleet.next_due(now);
            self.next = Some(due.map_or(regular, |due| due.min(regular)));
        }
    }
}
