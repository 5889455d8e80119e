//! Time as it passes.

use std::time::Instant;

use leobench_base::SimTime;

/// The time since a start, by the machine's monotonic clock. Copies agree with each other.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    start: Instant,
}

impl WallClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { start: instant() }
    }

    /// What it shows.
    #[inline]
    pub fn now(&self) -> SimTime {
        let elapsed = instant().duration_since(self.start);
        SimTime::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the driver that owns a clock")]
fn instant() -> Instant {
    Instant::now()
}
