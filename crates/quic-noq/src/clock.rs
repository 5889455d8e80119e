//! Virtual time for a stack that counts in [`Instant`]s.

use std::time::{Duration, Instant};

use leobench_base::{SimDuration, SimTime};

/// Maps virtual time onto instants after an arbitrary epoch; only differences matter to the stack.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the only way to make an Instant; never read as a time"
        )]
        let epoch = Instant::now();
        Self { epoch }
    }
}

impl Clock {
    /// The instant of a time.
    pub fn instant(&self, time: SimTime) -> Instant {
        self.epoch + Duration::from_nanos(time.as_nanos())
    }

    /// The time of an instant.
    pub fn time(&self, instant: Instant) -> SimTime {
        SimTime::ZERO + span(instant.saturating_duration_since(self.epoch))
    }
}

pub(super) fn span(duration: Duration) -> SimDuration {
    SimDuration::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

pub(super) fn duration(span: SimDuration) -> Duration {
    Duration::from_nanos(span.as_nanos())
}
