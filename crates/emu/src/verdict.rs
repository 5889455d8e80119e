//! How far the times of a run can be trusted.

use leobench_base::{LogHistogram, SimDuration, SimTime};

/// What a run may deviate from its own times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// By how much 99 of 100 packets may leave too late at most.
    pub lateness: SimDuration,
    /// For how long the driver may stand still at most.
    pub stall: SimDuration,
}

impl Default for Budget {
    fn default() -> Self {
        Self { lateness: SimDuration::from_millis(1), stall: SimDuration::from_millis(20) }
    }
}

/// When packets left, against when they were due.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// Nanoseconds by which packets left late.
    pub histogram: LogHistogram,
    /// Packets later than the budget allows 99 of 100 to be.
    pub over_budget: u64,
}

impl Lateness {
    /// A packet that was due at `due` leaves at `now`.
    #[inline]
    pub fn record(&mut self, due: SimTime, now: SimTime, budget: &Budget) {
        let late = now.saturating_since(due);
        self.histogram.record(late.as_nanos());
        self.over_budget += u64::from(late > budget.lateness);
    }
}

/// What a run in real time came to, beside its results.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// How long it took.
    pub elapsed: SimDuration,
    /// Packets that came in.
    pub packets_in: u64,
    /// Packets that went out.
    pub packets_out: u64,
    /// Bytes that came in and were no IP packets.
    pub malformed: u64,
    /// Packets that a device did not take.
    pub refused: u64,
    /// The most frames that waited in a device at once, or fewer: those read before it was seen empty.
    pub device_queue_peak: u64,
    /// Packets of hosts that their devices had no room for, as the driver did not read them in time.
    pub overruns: u64,
    /// How late packets left.
    pub lateness: Lateness,
    /// The longest time for which the driver stood still although it wanted to go on.
    pub longest_stall: SimDuration,
    /// Processor time of the driver.
    pub cpu: SimDuration,
    /// The part of it in which the driver was awake only to be on time.
    pub spun: SimDuration,
}

impl Verdict {
    /// Why the run's times are not to be trusted; nothing if they are.
    pub fn doubts(&self, budget: &Budget) -> Vec<String> {
        let ms = |duration: SimDuration| duration.as_secs_f64() * 1e3;
        let mut doubts = Vec::new();
        let p99 = self.lateness.histogram.quantile(0.99).map(SimDuration::from_nanos);
        if let Some(p99) = p99.filter(|p99| *p99 > budget.lateness) {
            let (p99, allowed) = (ms(p99), ms(budget.lateness));
            doubts.push(format!(
                "one packet in 100 left {p99:.2} ms late or later; allowed: {allowed} ms"
            ));
        }
        if self.longest_stall > budget.stall {
            let (stall, allowed) = (ms(self.longest_stall), ms(budget.stall));
            doubts.push(format!("the driver stood still for {stall:.1} ms; allowed: {allowed} ms"));
        }
        if self.refused > 0 {
            doubts.push(format!("hosts did not take {} packets", self.refused));
        }
        if self.overruns > 0 {
            doubts.push(format!(
                "devices had no room for {} packets of programs, as the driver read too late",
                self.overruns
            ));
        }
        doubts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 99 of 100 packets on time, or 98 of them.
    #[test]
    fn one_late_packet_in_a_hundred_is_no_doubt() {
        let budget = Budget::default();
        let verdict = |late: u64| {
            let mut verdict = Verdict::default();
            for number in 0..100 {
                let now = SimTime::from_nanos(if number < late { 2_000_000 } else { 10_000 });
                verdict.lateness.record(SimTime::ZERO, now, &budget);
            }
            assert_eq!(verdict.lateness.over_budget, late);
            verdict.doubts(&budget).len()
        };
        assert_eq!((verdict(1), verdict(2)), (0, 1));
    }

    #[test]
    fn a_stall_is_a_doubt() {
        let stalled = |millis| {
            let longest_stall = SimDuration::from_millis(millis);
            Verdict { longest_stall, ..Verdict::default() }.doubts(&Budget::default())
        };
        assert_eq!(stalled(20), Vec::<String>::new());
        assert_eq!(stalled(50), ["the driver stood still for 50.0 ms; allowed: 20 ms"]);
    }

    #[test]
    fn packets_that_never_came_in_are_a_doubt() {
        let verdict = Verdict { overruns: 3, ..Verdict::default() };
        let doubts = verdict.doubts(&Budget::default());
        assert_eq!(doubts.len(), 1);
        assert!(doubts[0].starts_with("devices had no room for 3 packets"), "{doubts:?}");
    }
}
