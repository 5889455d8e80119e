//! Time as it passes.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use leobench_base::{SimDuration, SimTime};

/// The time since a start, by the machine's monotonic clock. Copies agree with each other.
#[derive(Clone, Debug, Default)]
pub struct WallClock {
    start: Arc<OnceLock<Instant>>,
}

impl WallClock {
    /// A clock that shows zero until it is started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts it, and all its copies, unless it has been.
    pub fn start(&self) {
        self.start.get_or_init(instant);
    }

    /// The time since the start; zero before it.
    #[inline]
    pub fn now(&self) -> SimTime {
        let Some(start) = self.start.get() else { return SimTime::ZERO };
        let elapsed = instant().duration_since(*start);
        SimTime::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the driver that owns a clock")]
fn instant() -> Instant {
    Instant::now()
}

/// Processor time of this thread so far.
pub(crate) fn cpu_time() -> SimDuration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    SimDuration::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
