//! How far the times of a run can be trusted.

use leobench_base::{LogHistogram, SimDuration, SimTime};

use crate::losses::Losses;
use crate::processors::Processors;

/// Limits on a run's deviations from its own times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// By how much 99 of 100 packets may leave too late at most.
    pub lateness: SimDuration,
    /// For how long the driver may stand still at most.
    pub stall: SimDuration,
    /// The share of their time for which the processors may be at work while programs need them.
    pub busy: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            lateness: SimDuration::from_millis(1),
            stall: SimDuration::from_millis(20),
            busy: 0.95,
        }
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

/// How the kernel schedules the driver beside other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// It goes on at once when something is due (`SCHED_FIFO`), which needs a privilege.
    RealTime,
    /// It gets a larger share of the processor (a nice value of -20), which needs a privilege too.
    Raised,
    /// As other programs.
    #[default]
    Usual,
}

impl Precedence {
    /// The word for it in the results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::Raised => "raised",
            Self::Usual => "usual",
        }
    }
}

/// The timing and losses of a run in real time, beside its results.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// How the kernel scheduled the driver.
    pub precedence: Precedence,
    /// How long it took.
    pub elapsed: SimDuration,
    /// Packets that came in.
    pub packets_in: u64,
    /// Packets that went out.
    pub packets_out: u64,
    /// Frames in which they came in, read one by one: a long segment is one.
    pub frames_in: u64,
    /// Frames in which they went out, written one by one.
    pub frames_out: u64,
    /// Bytes that came in and were no IP packets.
    pub malformed: u64,
    /// Packets that a device did not take.
    pub refused: u64,
    /// The most frames that waited in a device at once, or fewer: those read before it was seen empty.
    pub device_queue_peak: u64,
    /// Packets that hosts lost by themselves.
    pub losses: Losses,
    /// Whether the sockets on the hosts belong to flows of the network, and not to programs.
    pub owns_sockets: bool,
    /// Nanoseconds that frames waited in a device before they were read at most: the time since it was seen empty.
    pub queued: LogHistogram,
    /// How late packets left.
    pub lateness: Lateness,
    /// The longest time for which the driver stood still although it wanted to go on.
    pub longest_stall: SimDuration,
    /// The time of the processors that it could use.
    pub processors: Processors,
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
        let p99 = self.queued.quantile(0.99).map(SimDuration::from_nanos);
        if let Some(p99) = p99.filter(|p99| *p99 > budget.lateness) {
            let (p99, allowed) = (ms(p99), ms(budget.lateness));
            doubts.push(format!(
                "one frame in 100 from programs waited {p99:.2} ms or longer before it was read; allowed: {allowed} ms"
            ));
        }
        if self.longest_stall > budget.stall {
            let (stall, allowed) = (ms(self.longest_stall), ms(budget.stall));
            doubts.push(format!("the driver stalled for {stall:.1} ms; allowed: {allowed} ms"));
        }
        // The driver goes before others, and flows of the network go with it.
        let busy = self.processors.share().filter(|_| !self.owns_sockets);
        if let Some(busy) = busy.filter(|busy| *busy > budget.busy) {
            let (busy, allowed) = (busy * 100.0, budget.busy * 100.0);
            doubts.push(format!(
                "the processors were busy for {busy:.1} % of the time, so programs waited for them; allowed: {allowed} %"
            ));
        }
        if self.refused > 0 {
            doubts.push(format!("hosts rejected {} packets", self.refused));
        }
        if self.losses.ring > 0 {
            doubts.push(format!(
                "TUN devices dropped {} packets from programs because the driver read too late",
                self.losses.ring
            ));
        }
        // What programs do not read in time is up to them.
        if self.owns_sockets && self.losses.sockets > 0 {
            let count = self.losses.sockets;
            doubts.push(format!("socket buffers had no room for {count} datagrams of flows"));
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
        assert_eq!(stalled(50), ["the driver stalled for 50.0 ms; allowed: 20 ms"]);
    }

    /// On saturated processors, programs may send less than they would otherwise.
    #[test]
    fn processors_without_rest_are_a_doubt_beside_programs() {
        let budget = Budget { busy: 0.5, ..Budget::default() };
        let doubts = |busy, owns_sockets| {
            let processors = Processors { busy, total: 200 };
            Verdict { owns_sockets, processors, ..Verdict::default() }.doubts(&budget)
        };
        assert_eq!(doubts(100, false), Vec::<String>::new());
        assert_eq!(
            doubts(199, false),
            [
                "the processors were busy for 99.5 % of the time, so programs waited for them; allowed: 50 %"
            ]
        );
        assert_eq!(doubts(199, true), Vec::<String>::new());
    }

    #[test]
    fn packets_that_never_came_in_are_a_doubt() {
        let losses = Losses { ring: 3, sockets: 5 };
        let mut verdict = Verdict { losses, ..Verdict::default() };
        let doubts = verdict.doubts(&Budget::default());
        assert_eq!(doubts.len(), 1);
        assert!(doubts[0].starts_with("TUN devices dropped 3 packets"), "{doubts:?}");
        verdict.owns_sockets = true;
        let doubts = verdict.doubts(&Budget::default());
        assert_eq!(doubts[1..], ["socket buffers had no room for 5 datagrams of flows"]);
    }

    /// A packet that waits in a device for long is not counted as late, because its time begins when it is read.
    #[test]
    fn frames_that_wait_in_a_device_are_a_doubt() {
        let waited = |millis: u64| {
            let mut verdict = Verdict::default();
            for number in 0..100 {
                verdict.queued.record(if number < 98 { 20_000 } else { millis * 1_000_000 });
            }
            verdict.doubts(&Budget::default())
        };
        assert_eq!(waited(0), Vec::<String>::new());
        let doubts = waited(4);
        assert_eq!(doubts.len(), 1);
        assert!(doubts[0].starts_with("one frame in 100 from programs waited"), "{doubts:?}");
    }
}
