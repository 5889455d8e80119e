//! Clocks: the instants at which something changes, on a fixed grid or after random intervals. Reconfigurations of a
//! constellation, handovers.

mod phase;

pub use phase::Phase;

use crate::distribution::DurationDistribution;
use crate::rng::{RngTree, SimRng};
use crate::spec::Fault;
use crate::time::{SimDuration, SimTime};

crate::spec! {
    /// When something happens again and again: `every` and `phase`, or an `interval`.
    pub struct ClockSpec: Default check = check {
        /// Period of a fixed grid.
        pub every: Option<SimDuration>,
        /// Offset of the grid: the times are `phase` plus all multiples of `every`. `random` draws it.
        pub phase: Option<Phase>,
        /// Distribution of independent intervals, in place of the grid.
        pub interval: Option<DurationDistribution>,
    }
}

fn check(spec: &ClockSpec) -> Result<(), Fault> {
    if spec.every.is_some_and(SimDuration::is_zero) {
        return Err(Fault::new("every", "is zero", "a time above zero"));
    }
    let Some(interval) = &spec.interval else { return Ok(()) };
    for (key, given) in [("every", spec.every.is_some()), ("phase", spec.phase.is_some())] {
        if given {
            let problem = "is given together with `interval`, which replaces the grid";
            return Err(Fault::new(key, problem, "either `every` and `phase`, or `interval`"));
        }
    }
    if interval.most().is_zero() {
        return Err(Fault::new("interval", "is zero", "times above zero"));
    }
    Ok(())
}

impl ClockSpec {
    /// Builds the clock; `every` and `phase` stand in for those that the scenario leaves out.
    pub fn build(&self, every: SimDuration, phase: Phase, rng: &RngTree) -> Clock {
        if let Some(interval) = &self.interval {
            return Clock::Renewals(Renewals::new(interval.clone(), rng));
        }
        let period = self.every.unwrap_or(every);
        let phase = self.phase.unwrap_or(phase).within(period, &rng.child("phase"));
        Clock::Grid(Grid::new(period, phase))
    }

    /// The mean time from one instant to the next, if `every` stands in for a missing one.
    pub fn mean_interval(&self, every: SimDuration) -> SimDuration {
        match &self.interval {
            Some(interval) => SimDuration::from_nanos(interval.mean().round() as u64),
            None => self.every.unwrap_or(every),
        }
    }

    /// Whether the instants depend on the seed.
    pub fn is_random(&self) -> bool {
        // Even equal intervals start anywhere within the first.
        self.interval.is_some() || self.phase == Some(Phase::Random)
    }
}

/// Instants of virtual time, one after the other.
#[derive(Clone, Debug)]
pub enum Clock {
    /// At equal distances.
    Grid(Grid),
    /// After random intervals.
    Renewals(Renewals),
}

impl Clock {
    /// The first instant later than `after`, which never decreases from call to call.
    pub fn next(&mut self, after: SimTime) -> SimTime {
        match self {
            Self::Grid(grid) => grid.next(after),
            Self::Renewals(renewals) => renewals.next(after),
        }
    }

    /// The time from the last instant before the start of the run, or at it, to the start.
    pub const fn age_at_start(&self) -> SimDuration {
        match self {
            Self::Grid(grid) => grid.age_at_start(),
            Self::Renewals(renewals) => renewals.age,
        }
    }
}

/// The instants `phase + k * period` for all whole k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    period: SimDuration,
    /// The first instant at or after the start of the run.
    first: SimDuration,
}

impl Grid {
    /// The grid of this period through `phase`.
    ///
    /// # Panics
    /// If the period is zero.
    pub const fn new(period: SimDuration, phase: SimDuration) -> Self {
        assert!(!period.is_zero(), "the period of a grid is above zero");
        Self { period, first: SimDuration::from_nanos(phase.as_nanos() % period.as_nanos()) }
    }

    /// The first instant later than `after`; [`SimTime::MAX`] if it is beyond.
    pub fn next(&self, after: SimTime) -> SimTime {
        let first = SimTime::ZERO + self.first;
        if after < first {
            return first;
        }
        let passed = (after - first).as_nanos() / self.period.as_nanos();
        first + self.period * (passed + 1)
    }

    /// The time from the last instant before the start of the run, or at it, to the start.
    pub const fn age_at_start(&self) -> SimDuration {
        if self.first.is_zero() { self.first } else { self.period.saturating_sub(self.first) }
    }
}

/// Instants at independent random distances of at least a nanosecond: a renewal process in equilibrium.
#[derive(Clone, Debug)]
pub struct Renewals {
    interval: DurationDistribution,
    age: SimDuration,
    upcoming: SimTime,
    rng: SimRng,
}

impl Renewals {
    /// A process that has gone on for ever: the run starts at a random point of an interval drawn by its size.
    pub fn new(interval: DurationDistribution, rng: &RngTree) -> Self {
        let mut rng = rng.rng();
        let length = interval.draw_by_size(&mut rng).max(SimDuration::from_nanos(1));
        let rest = SimDuration::from_nanos(1 + rng.below(length.as_nanos()));
        let (age, upcoming) = (length.saturating_sub(rest), SimTime::ZERO + rest);
        Self { interval, age, upcoming, rng }
    }

    /// The first instant later than `after`, which never decreases from call to call.
    pub fn next(&mut self, after: SimTime) -> SimTime {
        while self.upcoming <= after {
            let interval = self.interval.draw(&mut self.rng).max(SimDuration::from_nanos(1));
            if self.upcoming == SimTime::MAX {
                break;
            }
            self.upcoming += interval;
        }
        self.upcoming
    }
}

#[cfg(test)]
mod tests;
