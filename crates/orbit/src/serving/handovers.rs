//! The handovers of an assignment as an iterator.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

use super::assignment::{Assignment, Handover};
use crate::motion::OrbitError;

/// The handovers of an assignment, by time, then by terminal.
pub struct Handovers<'a> {
    assignment: &'a mut Assignment,
    step: SimDuration,
    next: Option<SimTime>,
    end: SimTime,
    ready: VecDeque<Handover>,
}

impl<'a> Handovers<'a> {
    /// The handovers between two times, looked for at steps and whenever a policy wants to choose.
    pub fn new(
        assignment: &'a mut Assignment,
        step: SimDuration,
        from: SimTime,
        to: SimTime,
    ) -> Self {
        Self { assignment, step, next: Some(from), end: to, ready: VecDeque::new() }
    }

    /// The assignment, at the time of the last handover returned, or of the end.
    pub fn assignment(&self) -> &Assignment {
        self.assignment
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
            match self.assignment.advance(now) {
                Ok(handovers) => self.ready.extend(handovers),
                Err(error) => return Some(Err(error)),
            }
            let step = self.step.as_nanos();
            let regular = SimTime::from_nanos((now.as_nanos() / step + 1) * step);
            let due = self.assignment.next_due(now);
            self.next = Some(due.map_or(regular, |due| due.min(regular)));
        }
    }
}
