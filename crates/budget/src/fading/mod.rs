//! Fading over a link budget: random gains in decibels that change on a grid of times. One file per process, one line here to
//! register it.
//!
//! A process is handed the time. It is stationary from the start, its values are those of a grid that starts with the
//! run, and they do not depend on when it is asked.

mod gauss;

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimDuration, SimTime};

/// The shortest step that is chosen where a specification gives none.
const LEAST_STEP: SimDuration = SimDuration::from_millis(1);

/// A fading process in motion.
pub trait Fading: Send {
    /// Gain in dB at the last instant advanced to (the start of the run at first); below zero in a fade.
    fn gain_db(&self) -> f64;

    /// When the gain changes next.
    fn next_change(&self) -> SimTime;

    /// Goes through all changes up to and including `now`, and returns the gain there.
    fn advance(&mut self, now: SimTime) -> f64;
}

/// A fading specification: builds the process that it describes.
pub trait FadingModel {
    /// Builds the process at the start of a run.
    fn build(&self, rng: &RngTree) -> Box<dyn Fading>;

    /// Mean of the gain as a ratio of powers.
    fn mean_power(&self) -> f64;
}

leobench_base::kinds! {
    /// The fading models.
    pub enum FadingSpec as dyn FadingModel {
        LogNormal(pub mod log_normal::LogNormalSpec) = "log_normal",
        Loo(pub mod loo::LooSpec) = "loo",
        Suzuki(pub mod suzuki::SuzukiSpec) = "suzuki",
    }
}

/// A process in discrete time.
trait Process: Send {
    /// Takes one step.
    fn step(&mut self);

    /// Gain in dB.
    fn gain_db(&self) -> f64;
}

/// A process whose steps are `step` apart.
struct Stepped<P> {
    process: P,
    step: SimDuration,
    next: SimTime,
}

impl<P: Process + 'static> Stepped<P> {
    fn boxed(process: P, step: SimDuration) -> Box<dyn Fading> {
        Box::new(Self { process, step, next: SimTime::ZERO + step })
    }
}

impl<P: Process> Fading for Stepped<P> {
    fn gain_db(&self) -> f64 {
        self.process.gain_db()
    }

    fn next_change(&self) -> SimTime {
        self.next
    }

    fn advance(&mut self, now: SimTime) -> f64 {
        while self.next <= now {
            self.process.step();
            self.next += self.step;
        }
        self.process.gain_db()
    }
}

/// The step of a specification, or a tenth of the shortest correlation time.
fn step(given: Option<SimDuration>, shortest: SimDuration) -> SimDuration {
    given.unwrap_or_else(|| (shortest / 10).max(LEAST_STEP))
}

/// Refuses times of zero.
fn check_times(times: &[(&str, Option<SimDuration>)]) -> Result<(), Fault> {
    match times.iter().find(|(_, time)| time.is_some_and(SimDuration::is_zero)) {
        Some((field, _)) => Err(Fault::new(*field, "is zero", "a time above zero")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
