//! How far the times of a run can be trusted.

use leobench_base::{LogHistogram, SimDuration, SimTime};

use crate::budget::Budget;
use crate::intervals::Intervals;
use crate::losses::Losses;
use crate::precedence::Precedence;
use crate::processors::Processors;
use crate::programs::{Kind, SocketOverrun, Waits};

/// Lateness is looked at in windows of this length, to tell which seconds it concerns.
const WINDOW: SimDuration = SimDuration::from_millis(100);

/// When packets left, against when they were due; or when frames were read, against when they may have come.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// Nanoseconds by which packets left late.
    pub histogram: LogHistogram,
    /// Packets later than the budget allows 99 of 100 to be.
    pub over_budget: u64,
    window: Window,
    /// Windows in which more than one packet in 100 was over the budget, before this one.
    before: Intervals,
}

/// The packets of a tenth of a second.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    from: SimTime,
    to: SimTime,
    count: u64,
    over: u64,
}

impl Lateness {
    /// A packet that was due at `due` leaves at `now`.
    #[inline]
    pub fn record(&mut self, due: SimTime, now: SimTime, budget: &Budget) {
        let late = now.saturating_since(due);
        let is_over = u64::from(late > budget.lateness);
        self.histogram.record(late.as_nanos());
        self.over_budget += is_over;
        if now >= self.window.from + WINDOW {
            self.before = self.seconds();
            self.window = Window { from: due, ..Window::default() };
        }
        self.window.to = now;
        self.window.count += 1;
        self.window.over += is_over;
    }

    /// Adds those that another thread has recorded.
    pub(crate) fn add(&mut self, other: &Self) {
        self.before = self.seconds();
        self.before.extend(&other.seconds());
        self.window = Window::default();
        self.histogram.add(&other.histogram);
        self.over_budget += other.over_budget;
    }

    /// Windows in which more than one packet in 100 was over the budget.
    fn seconds(&self) -> Intervals {
        let Window { from, to, count, over } = self.window;
        let mut seconds = self.before.clone();
        if 100 * over > count {
            seconds.add(from, to);
        }
        seconds
    }

    /// The lateness that 99 of 100 packets do not exceed, if it is over the budget.
    fn p99_over(&self, budget: &Budget) -> Option<SimDuration> {
        let p99 = self.histogram.quantile(0.99).map(SimDuration::from_nanos);
        p99.filter(|p99| *p99 > budget.lateness)
    }
}

/// The times at which the driver stood still although it wanted to go on.
#[derive(Clone, Debug, Default)]
pub struct Stalls {
    /// The longest.
    pub longest: SimDuration,
    /// Those that were longer than allowed.
    pub seconds: Intervals,
}

impl Stalls {
    /// The driver wanted to go on at `due`, and does at `now`.
    #[inline]
    pub fn record(&mut self, due: SimTime, now: SimTime, budget: &Budget) {
        let stall = now.saturating_since(due);
        self.longest = self.longest.max(stall);
        if stall > budget.stall {
            self.seconds.add(due, now);
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
    /// Bytes of the packets that came in, by device.
    pub bytes_in: Vec<u64>,
    /// Bytes of the packets that went out, by device.
    pub bytes_out: Vec<u64>,
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
    /// The sockets of programs that had no room for datagrams.
    pub overruns: Vec<SocketOverrun>,
    /// Whether the sockets on the hosts belong to flows of the network, and not to programs.
    pub owns_sockets: bool,
    /// For how long frames waited in a device before they were read at most: the time since it was seen empty.
    pub queued: Lateness,
    /// How late packets left.
    pub lateness: Lateness,
    /// When the driver stood still although it wanted to go on.
    pub stalls: Stalls,
    /// When programs did not run although they could have.
    pub waits: Waits,
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
        let allowed = ms(budget.lateness);
        if let Some(p99) = self.lateness.p99_over(budget) {
            let p99 = ms(p99);
            doubts.push(format!(
                "one packet in 100 left {p99:.2} ms late or later; allowed: {allowed} ms"
            ));
        }
        if let Some(p99) = self.queued.p99_over(budget) {
            let p99 = ms(p99);
            doubts.push(format!(
                "one frame in 100 from programs waited {p99:.2} ms or longer before it was read; allowed: {allowed} ms"
            ));
        }
        if self.stalls.longest > budget.stall {
            let (stall, allowed) = (ms(self.stalls.longest), ms(budget.stall));
            doubts.push(format!("the driver stalled for {stall:.1} ms; allowed: {allowed} ms"));
        }
        doubts.extend(self.doubts_on_programs(budget));
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

    /// Why what programs did is not to be trusted.
    fn doubts_on_programs(&self, budget: &Budget) -> impl Iterator<Item = String> {
        let allowed = budget.waited * 100.0;
        [Kind::Waited, Kind::Throttled, Kind::Stopped].into_iter().filter_map(move |kind| {
            let (intervals, worst) = self.waits.of(kind);
            if intervals.is_empty() {
                return None;
            }
            let (share, mean, name) = worst.map_or((100.0, 0.0, "one"), |worst| {
                (worst.share * 100.0, worst.mean.as_secs_f64() * 1e3, worst.name.as_str())
            });
            let told = intervals.describe();
            Some(match kind {
                Kind::Waited => format!(
                    "programs waited for a processor in {told}: `{name}` for {share:.0} % of 0.1 s, {mean:.2} ms each time; allowed: {allowed} %"
                ),
                Kind::Throttled => format!(
                    "the quota of a control group held programs back in {told}: {name} for {share:.0} % of 0.1 s; allowed: {allowed} %"
                ),
                Kind::Stopped => format!("programs were stopped in {told}: `{name}`"),
            })
        })
    }

    /// The seconds that the doubts concern, as far as they concern some and not all.
    pub fn invalid_seconds(&self, budget: &Budget) -> Intervals {
        let mut invalid = self.waits.invalid();
        invalid.extend(&self.stalls.seconds);
        for lateness in [&self.lateness, &self.queued] {
            if lateness.p99_over(budget).is_some() {
                invalid.extend(&lateness.seconds());
            }
        }
        invalid
    }

    /// Losses that are the hosts' own, and so leave the run valid.
    pub fn warnings(&self) -> Vec<String> {
        let warning = |overrun: &SocketOverrun| {
            let SocketOverrun { host, address, program, datagrams } = overrun;
            let whose = match (address, program) {
                (Some(address), Some(program)) => format!("the socket of `{program}` at {address}"),
                (Some(address), None) => format!("the socket at {address}"),
                (None, _) => "sockets that are closed".into(),
            };
            format!(
                "{host}: {whose} had no room for {datagrams} datagrams, which its program read too late: no link lost them"
            )
        };
        self.overruns.iter().map(warning).collect()
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
            let (mut verdict, at) = (Verdict::default(), SimTime::from_nanos(1_000_000_000));
            let until = at + SimDuration::from_millis(millis);
            verdict.stalls.record(at, until, &Budget::default());
            let seconds = verdict.invalid_seconds(&Budget::default()).seconds();
            assert_eq!(seconds.len(), usize::from(millis > 20), "{seconds:?}");
            verdict.doubts(&Budget::default())
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
            let (mut verdict, budget) = (Verdict::default(), Budget::default());
            for number in 0..100 {
                let nanos = if number < 98 { 20_000 } else { millis * 1_000_000 };
                verdict.queued.record(SimTime::ZERO, SimTime::from_nanos(nanos), &budget);
            }
            let seconds = verdict.invalid_seconds(&budget).seconds();
            assert_eq!(seconds, if millis > 1 { vec![[0.0, 0.004]] } else { vec![] });
            verdict.doubts(&budget)
        };
        assert_eq!(waited(0), Vec::<String>::new());
        let doubts = waited(4);
        assert_eq!(doubts.len(), 1);
        assert!(doubts[0].starts_with("one frame in 100 from programs waited"), "{doubts:?}");
    }

    /// They are the host's own, and no link's.
    #[test]
    fn datagrams_lost_in_sockets_of_programs_are_a_warning() {
        let overrun = |address: Option<&str>, program: Option<&str>| SocketOverrun {
            host: "server".into(),
            address: address.map(|address| address.parse().unwrap()),
            program: program.map(str::to_owned),
            datagrams: 12,
        };
        let overruns = vec![overrun(Some("172.16.0.2:7000"), Some("sink")), overrun(None, None)];
        let losses = Losses { ring: 0, sockets: 24 };
        let verdict = Verdict { losses, overruns, ..Verdict::default() };
        assert_eq!(verdict.doubts(&Budget::default()), Vec::<String>::new());
        assert_eq!(
            verdict.warnings(),
            [
                "server: the socket of `sink` at 172.16.0.2:7000 had no room for 12 datagrams, which its program read too late: no link lost them",
                "server: sockets that are closed had no room for 12 datagrams, which its program read too late: no link lost them"
            ]
        );
    }
}
