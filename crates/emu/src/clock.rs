//! Time as it passes.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use leobench_base::{SimDuration, SimTime};
use rustix::time::{ClockId, clock_gettime};

/// The time since a start, by the machine's monotonic clock. Copies agree with each other.
#[derive(Clone, Debug, Default)]
pub struct WallClock {
    start: Arc<OnceLock<Start>>,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    instant: Instant,
    machine: MachineTime,
}

/// One instant by two clocks of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineTime {
    /// Nanoseconds since 1970-01-01 00:00:00 UTC.
    pub unix_ns: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
}

impl MachineTime {
    /// The present.
    pub fn now() -> Self {
        let nanos = |clock| {
            let time = clock_gettime(clock);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        Self { unix_ns: nanos(ClockId::Realtime), monotonic_ns: nanos(ClockId::Monotonic) }
    }

    /// By how many nanoseconds the clock of the day has run ahead of the monotonic one since `start`, as it is set and slewed.
    pub fn drift_since(self, start: Self) -> i64 {
        let offset = |time: Self| time.unix_ns as i64 - time.monotonic_ns as i64;
        offset(self) - offset(start)
    }
}

impl WallClock {
    /// A clock that shows zero until it is started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts it, and all its copies, unless it has been.
    pub fn start(&self) {
        self.start.get_or_init(|| Start { instant: instant(), machine: MachineTime::now() });
    }

    /// The time since the start; zero before it.
    #[inline]
    pub fn now(&self) -> SimTime {
        let Some(start) = self.start.get() else { return SimTime::ZERO };
        let elapsed = instant().duration_since(start.instant);
        SimTime::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// When it was started; the present before that.
    pub fn started(&self) -> MachineTime {
        self.start.get().map_or_else(MachineTime::now, |start| start.machine)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the driver that owns a clock")]
fn instant() -> Instant {
    Instant::now()
}

/// Processor time of this thread so far.
pub(crate) fn cpu_time() -> SimDuration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    SimDuration::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drift_is_that_of_the_clock_of_the_day() {
        let start = MachineTime { unix_ns: 1_000, monotonic_ns: 10 };
        let end = MachineTime { unix_ns: 1_095, monotonic_ns: 110 };
        assert_eq!(end.drift_since(start), -5);
    }

    #[test]
    fn a_clock_keeps_when_it_was_started() {
        let (clock, before) = (WallClock::new(), MachineTime::now());
        clock.start();
        let started = clock.started();
        let after = MachineTime::now();
        clock.start();
        assert_eq!(clock.started(), started);
        assert!((before.monotonic_ns..=after.monotonic_ns).contains(&started.monotonic_ns));
        let drift = started.drift_since(before);
        assert!(drift.abs() < 1_000_000_000, "{drift}");
    }
}
