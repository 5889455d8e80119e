//! How busy the processors are that a run may use.

use std::fs;
use std::ops::{AddAssign, Sub};

/// The most processors that the C library's mask has room for.
const MOST: usize = rustix::thread::CpuSet::MAX_CPU;
/// The kernel counts in hundredths of a second (`USER_HZ`): fewer of them tell no share.
const LEAST: u64 = 50;

/// The time of processors, in ticks of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processors {
    /// In which they were at work, for whomever, or lent to another machine.
    pub(crate) busy: u64,
    /// In all.
    pub(crate) total: u64,
}

impl Processors {
    /// Those that this thread may use, since the machine started; nothing where the kernel does not tell.
    pub(crate) fn read() -> Self {
        let Ok(mask) = rustix::thread::sched_getaffinity(None) else { return Self::default() };
        let times = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self::of(&times, |number| number < MOST && mask.is_set(number))
    }

    /// Those of some numbers: behind a name, the times of users, nice users, the kernel, nobody, nobody but the disk, two kinds of
    /// interrupts, and of other machines (`proc_stat(5)`).
    fn of(times: &str, is_asked: impl Fn(usize) -> bool) -> Self {
        let mut sum = Self::default();
        for line in times.lines() {
            let mut words = line.split_ascii_whitespace();
            let name = words.next().and_then(|name| name.strip_prefix("cpu"));
            let number = name.and_then(|number| number.parse().ok());
            if number.is_some_and(&is_asked) {
                let ticks = words.take(8).map(|word| word.parse().unwrap_or(0));
                sum += ticks.enumerate().fold(Self::default(), |sum, (place, ticks)| Self {
                    busy: sum.busy + if matches!(place, 3 | 4) { 0 } else { ticks },
                    total: sum.total + ticks,
                });
            }
        }
        sum
    }

    /// The share of the time in which they were at work; nothing if that is too short to tell.
    pub fn share(self) -> Option<f64> {
        (self.total >= LEAST).then(|| self.busy as f64 / self.total as f64)
    }
}

impl AddAssign for Processors {
    fn add_assign(&mut self, other: Self) {
        self.busy += other.busy;
        self.total += other.total;
    }
}

impl Sub for Processors {
    type Output = Self;

    /// Since an earlier time.
    fn sub(self, earlier: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            total: self.total.saturating_sub(earlier.total),
        }
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::{SimDuration, SimTime};

    use super::*;
    use crate::clock::WallClock;

    /// As Linux 6.18 prints them, with the sum of all before them, and guests that the first two times have already.
    const TIMES: &str = "\
cpu  1000 200 300 5000 600 70 80 90 400 50
cpu0 100 10 30 500 60 7 8 9 40 5
cpu1 900 190 270 4500 540 63 72 81 360 45
intr 12345 0 9
ctxt 67890
";

    #[test]
    fn times_are_those_of_the_processors_asked_for() {
        let first = Processors { busy: 164, total: 724 };
        assert_eq!(Processors::of(TIMES, |number| number == 0), first);
        let both = Processors::of(TIMES, |_| true);
        assert_eq!(both, Processors { busy: 1_740, total: 7_340 });
        assert_eq!((both - first).share(), Some(1_576.0 / 6_616.0));
        assert_eq!(Processors::of("", |_| true).share(), None);
    }

    #[test]
    fn a_few_ticks_tell_no_share() {
        assert_eq!(Processors { busy: 49, total: 49 }.share(), None);
        assert_eq!(Processors { busy: 49, total: 50 }.share(), Some(0.98));
    }

    /// A thread that computes for a second keeps one processor busy; for longer where the machine itself is lent to others
    /// meanwhile, which not every kernel notices.
    #[test]
    fn the_kernel_counts_what_this_thread_computes() {
        let before = Processors::read();
        let clock = WallClock::new();
        clock.start();
        let mut spent = Processors::default();
        while spent.busy < 80 && clock.now() < SimTime::from_nanos(30_000_000_000) {
            let until = clock.now() + SimDuration::from_millis(100);
            while clock.now() < until {
                std::hint::spin_loop();
            }
            spent = Processors::read() - before;
        }
        assert!(spent.busy >= 80, "{spent:?}");
        assert!(spent.total >= spent.busy);
    }
}
