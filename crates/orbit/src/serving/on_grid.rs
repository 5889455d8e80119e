//! Another policy, asked only at the instants of a grid or when its satellite is lost.

use leobench_base::{SimDuration, SimTime};

use super::{Choice, ServingPolicy};
use crate::motion::SatelliteId;

/// Another policy, asked only at the instants of a grid or when its satellite is lost.
pub struct OnGrid {
    policy: Box<dyn ServingPolicy>,
    every: SimDuration,
    phase: SimDuration,
}

impl OnGrid {
    /// A policy on the grid of `phase` plus all multiples of `every`.
    ///
    /// # Panics
    /// With a period of zero.
    pub fn new(policy: Box<dyn ServingPolicy>, every: SimDuration, phase: SimDuration) -> Self {
        assert!(!every.is_zero(), "instants of a grid lie apart");
        let phase = SimDuration::from_nanos(phase.as_nanos() % every.as_nanos());
        Self { policy, every, phase }
    }
}

impl ServingPolicy for OnGrid {
    fn is_due(&self, now: SimTime) -> bool {
        let since = now.as_nanos() + self.every.as_nanos() - self.phase.as_nanos();
        since.is_multiple_of(self.every.as_nanos())
    }

    fn next_due(&self, after: SimTime) -> Option<SimTime> {
        let (every, phase) = (self.every.as_nanos(), self.phase.as_nanos());
        let slots = (after.as_nanos() + every - phase) / every;
        Some(SimTime::from_nanos(slots * every + phase))
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        self.policy.choose(choice)
    }
}
