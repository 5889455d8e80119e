//! Limits on what a run in real time may deviate from its own times.

use leobench_base::SimDuration;

/// Limits on a run's deviations from its own times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// By how much 99 of 100 packets may leave too late at most.
    pub lateness: SimDuration,
    /// For how long the driver may stand still at most.
    pub stall: SimDuration,
    /// The share of their time for which the processors may be at work while programs need them.
    pub busy: f64,
    /// The share of any tenth of a second for which a program may wait for a processor.
    pub waited: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            lateness: SimDuration::from_millis(1),
            stall: SimDuration::from_millis(20),
            busy: 0.95,
            waited: 0.25,
        }
    }
}
