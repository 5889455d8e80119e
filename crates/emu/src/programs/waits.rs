//! Judgement of how long programs waited for processors.

use leobench_base::{SimDuration, SimTime};

use crate::budget::Budget;
use crate::intervals::Intervals;

/// A thread that ran or waited for this share of a window had no time left: what it waited for, it did not do.
const ALL: f64 = 0.9;
/// The part of the limit that such a thread may wait in windows one after the other. Others make up for short
/// waits later, and a burst of work that fits into one window ends a part of that window late.
const STRICTER: f64 = 0.4;

/// A thread or a control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Id {
    Thread {
        process: u32,
        thread: u32,
    },
    /// The number of a control group with a quota.
    Group(u32),
}

/// The kernel's figures for a thread since it began, or for a control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) id: Id,
    /// Nanoseconds in which it ran.
    pub(super) ran: u64,
    /// Nanoseconds in which it would have run, but had no processor or no quota.
    pub(super) waited: u64,
    /// How often it ran, or was held back.
    pub(super) slices: u64,
    pub(super) is_stopped: bool,
}

/// Why a program did not run although it could have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Others had the processors.
    Waited,
    /// The quota of its control group was used up.
    Throttled,
    /// It was stopped by a signal or a debugger.
    Stopped,
}

/// The worst that one kind of wait came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// The part of a window in which it did not run.
    pub share: f64,
    /// How long it waited each time, on average.
    pub mean: SimDuration,
    /// The name of the process, or the folder of the control group.
    pub name: String,
    /// The end of the window.
    pub at: SimTime,
}

/// The times at which programs did not run although they could have.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By kind, the windows that do not count, and the worst.
    kinds: [(Intervals, Option<Worst>); 3],
    /// The largest share of a window that any thread waited, whether it counts or not.
    pub(crate) largest: Option<f64>,
    /// The readings before, sorted.
    before: Vec<Seen>,
    looked_at: Option<SimTime>,
}

/// A reading, and the judgement of the window that ended with it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    reading: Reading,
    /// Whether the thread had no time left, and waited for too much of it.
    is_starved: bool,
}

impl Waits {
    /// The windows that were too bad, and the worst of them.
    pub(crate) fn of(&self, kind: Kind) -> (&Intervals, Option<&Worst>) {
        let (intervals, worst) = &self.kinds[kind as usize];
        (intervals, worst.as_ref())
    }

    /// All windows that do not count.
    pub(crate) fn invalid(&self) -> Intervals {
        let mut all = Intervals::default();
        for (intervals, _) in &self.kinds {
            all.extend(intervals);
        }
        all
    }

    /// Takes the readings of a window that ends at `now`. If it `counts`, they are judged; `name` tells whose they are.
    pub(super) fn look(
        &mut self,
        now: SimTime,
        mut readings: Vec<Reading>,
        budget: &Budget,
        counts: bool,
        name: impl Fn(Id) -> Option<String>,
    ) {
        readings.sort_unstable_by_key(|reading| reading.id);
        let mut before = std::mem::take(&mut self.before).into_iter().peekable();
        let since = self.looked_at.filter(|_| counts);
        let seen = readings.into_iter().map(|reading| {
            while before.next_if(|old| old.reading.id < reading.id).is_some() {}
            let old = before.next_if(|old| old.reading.id == reading.id);
            let judge = |since| self.judge(&reading, old, since, now, budget, &name);
            Seen { reading, is_starved: since.is_some_and(judge) }
        });
        self.before = seen.collect();
        self.looked_at = Some(now);
    }

    /// Judges a window, and returns whether the thread was starved in it.
    fn judge(
        &mut self,
        reading: &Reading,
        old: Option<Seen>,
        since: SimTime,
        now: SimTime,
        budget: &Budget,
        name: &impl Fn(Id) -> Option<String>,
    ) -> bool {
        let window = now.saturating_since(since);
        let delta = |of: fn(&Reading) -> u64| {
            // A group that had no member may have waited before.
            let start = old
                .map_or(if matches!(reading.id, Id::Group(_)) { of(reading) } else { 0 }, |old| {
                    of(&old.reading)
                });
            of(reading).saturating_sub(start)
        };
        let (kind, waited) = match reading.id {
            _ if reading.is_stopped => (Kind::Stopped, window),
            Id::Group(_) => (Kind::Throttled, SimDuration::from_nanos(delta(|it| it.waited))),
            Id::Thread { .. } => (Kind::Waited, SimDuration::from_nanos(delta(|it| it.waited))),
        };
        let share = (waited.as_nanos() as f64 / window.as_nanos().max(1) as f64).min(1.0);
        self.largest = Some(self.largest.map_or(share, |largest| largest.max(share)));
        let mean = waited / delta(|it| it.slices).max(1);
        let ran = SimDuration::from_nanos(delta(|it| it.ran));
        let has_none_left = (waited + ran).as_secs_f64() > ALL * window.as_secs_f64();
        let is_starved = has_none_left && share > STRICTER * budget.waited && budget.waited < 1.0;
        let was_starved = old.is_some_and(|old| old.is_starved);
        let is_long = kind == Kind::Stopped || mean > budget.lateness;
        if !(is_starved && was_starved || is_long && share > budget.waited) {
            return is_starved;
        }
        let (intervals, worst) = &mut self.kinds[kind as usize];
        // The kernel counts a wait when it ends: it may have begun before the window.
        let length = if is_starved && was_starved { window * 2 } else { window };
        let from = now.as_nanos().saturating_sub(waited.max(length).as_nanos());
        intervals.add(SimTime::from_nanos(from), now);
        if worst.as_ref().is_none_or(|worst| share > worst.share)
            && let Some(name) = name(reading.id)
        {
            *worst = Some(Worst { share, mean, name, at: now });
        }
        is_starved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(millis: u64) -> SimTime {
        SimTime::from_nanos(millis * MS)
    }

    fn thread(waited_ms: u64, slices: u64) -> Reading {
        let id = Id::Thread { process: 7, thread: 7 };
        Reading { id, ran: 0, waited: waited_ms * MS, slices, is_stopped: false }
    }

    /// Windows of 100 ms with these readings.
    fn judged(readings: &[Reading]) -> Waits {
        let mut waits = Waits::default();
        for (number, reading) in readings.iter().enumerate() {
            let now = at(100 * number as u64);
            waits.look(now, vec![*reading], &Budget::default(), true, |_| Some("it".into()));
        }
        waits
    }

    /// 26 ms of 100 in 20 waits, then in 30: these are no longer than a packet may be late.
    #[test]
    fn a_thread_that_sleeps_may_wait_often_but_not_long() {
        let waits = judged(&[thread(5, 10), thread(31, 30), thread(57, 60), thread(82, 61)]);
        let (intervals, worst) = waits.of(Kind::Waited);
        assert_eq!(intervals.seconds(), [[0.0, 0.1]]);
        let worst = worst.unwrap();
        assert_eq!((worst.share, worst.name.as_str(), worst.at), (0.26, "it", at(100)));
        assert_eq!(waits.largest, Some(0.26));
        assert_eq!(waits.invalid(), *intervals);
    }

    /// It ran for 80 ms of 100, and waited for 10, 11 or 9 in many slices; or it ran for 70. Twice.
    #[test]
    fn a_thread_without_time_left_may_wait_for_a_tenth() {
        let judge = |ran: u64, waited: u64| {
            let after = |windows| {
                let thread = thread(waited * windows, 1_000 * windows);
                Reading { ran: ran * windows * MS, ..thread }
            };
            judged(&[thread(0, 0), after(1), after(2)]).invalid().is_empty()
        };
        assert_eq!([10, 11].map(|waited| judge(80, waited)), [true, false]);
        assert!(judge(70, 20), "a tenth was left");
        assert!(!judge(70, 21));
    }

    /// It had no time left in one window, in another after a pause, and in two in a row.
    #[test]
    fn a_burst_that_fits_into_a_window_may_wait_shortly() {
        let burst = |windows: u64| Reading {
            ran: 40 * windows * MS,
            ..thread(60 * windows, 1_000 * windows)
        };
        let (one, two) = (burst(1), burst(2));
        assert!(judged(&[thread(0, 0), one, one, two, two]).invalid().is_empty());
        let waits = judged(&[thread(0, 0), one, one, two, burst(3)]);
        assert_eq!(waits.invalid().seconds(), [[0.2, 0.4]]);
    }

    /// The first look only finds what was before it.
    #[test]
    fn waits_before_the_first_look_are_not_judged() {
        assert!(judged(&[thread(90, 2), thread(90, 3)]).invalid().is_empty());
    }

    /// The kernel counts a wait of 350 ms when it ends.
    #[test]
    fn a_wait_reaches_back_over_several_windows() {
        let readings = [0, 0, 0, 0, 350].map(|waited| thread(waited, waited / 350));
        assert_eq!(judged(&readings).invalid().seconds(), [[0.05, 0.4]]);
    }

    #[test]
    fn a_stopped_program_does_not_count_as_running() {
        let stopped = Reading { is_stopped: true, ..thread(0, 1) };
        let waits = judged(&[thread(0, 1), stopped, stopped, thread(0, 2)]);
        let (intervals, worst) = waits.of(Kind::Stopped);
        assert_eq!(intervals.seconds(), [[0.0, 0.2]]);
        assert_eq!(worst.map(|worst| worst.share), Some(1.0));
    }

    /// A group is known with its first member, and has waited before.
    #[test]
    fn a_quota_counts_from_the_second_look() {
        let group = |waited, slices| Reading { id: Id::Group(0), ..thread(waited, slices) };
        let waits = judged(&[thread(0, 0), group(500, 9), group(530, 10), group(531, 11)]);
        let (intervals, _) = waits.of(Kind::Throttled);
        assert_eq!(intervals.seconds(), [[0.1, 0.2]]);
    }

    #[test]
    fn a_new_thread_counts_from_its_begin() {
        let other = Reading { id: Id::Thread { process: 3, thread: 3 }, ..thread(0, 0) };
        assert_eq!(judged(&[other, thread(40, 9)]).invalid().seconds(), [[0.0, 0.1]]);
    }

    #[test]
    fn windows_without_traffic_do_not_count() {
        let mut waits = Waits::default();
        for (number, counts) in [false, false, true, true].into_iter().enumerate() {
            let reading = thread(50 * number as u64, number as u64);
            let now = at(100 * number as u64);
            waits.look(now, vec![reading], &Budget::default(), counts, |_| None);
        }
        assert_eq!(waits.invalid().seconds(), [[0.1, 0.3]]);
    }
}
