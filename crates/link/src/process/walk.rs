//! Draws from a process.

use leobench_base::SimRng;

use super::ProcessSpec;
use super::parts::{Elapsed, FAST, PARTS};

/// A process in motion.
#[derive(Clone, Debug)]
pub struct Walk {
    spec: ProcessSpec,
    parts: [f64; PARTS],
    /// The step before, the correlations over it, and the deviations of what is new after it: steps are mostly alike.
    step: Option<(Elapsed, [f64; PARTS], [f64; PARTS])>,
    /// Time since a fast part without a time constant was drawn, in seconds.
    since_fast: f64,
}

impl Walk {
    /// Begins in the long-run distribution.
    pub fn new(spec: ProcessSpec, rng: &mut SimRng) -> Self {
        let parts = spec.variances().map(|variance| variance.sqrt() * rng.normal());
        Self::at(spec, parts)
    }

    /// Begins with these parts.
    pub(super) const fn at(spec: ProcessSpec, parts: [f64; PARTS]) -> Self {
        Self { spec, parts, step: None, since_fast: 0.0 }
    }

    /// The present value.
    pub fn value(&self) -> f64 {
        self.spec.warp(self.parts.iter().sum())
    }

    /// Goes on by some time. Parts that forget nothing draw nothing.
    pub fn advance(&mut self, elapsed: Elapsed, rng: &mut SimRng) {
        let (correlations, deviations) = self.over(elapsed);
        let holds_fast = self.spec.fast_s.is_none() && self.holds_fast(elapsed.seconds);
        for part in 0..PARTS {
            let deviation = deviations[part];
            if deviation > 0.0 && !(part == FAST && holds_fast) {
                self.parts[part] = correlations[part] * self.parts[part] + deviation * rng.normal();
            }
        }
    }

    /// Whether a fast part without a time constant remains for now.
    fn holds_fast(&mut self, seconds: f64) -> bool {
        // Rounding: a step of the resolution is not below it.
        const SLACK: f64 = 1.0 - 1e-9;
        self.since_fast += seconds;
        let holds = self.since_fast < self.spec.resolution_s * SLACK;
        if !holds {
            self.since_fast = 0.0;
        }
        holds
    }

    fn over(&mut self, elapsed: Elapsed) -> ([f64; PARTS], [f64; PARTS]) {
        if let Some((_, correlations, deviations)) = self.step.filter(|step| step.0 == elapsed) {
            return (correlations, deviations);
        }
        let correlations = self.spec.correlations(elapsed);
        let mut deviations = self.spec.variances();
        for (deviation, correlation) in deviations.iter_mut().zip(correlations) {
            *deviation = (*deviation * (1.0 - correlation * correlation)).sqrt();
        }
        self.step = Some((elapsed, correlations, deviations));
        (correlations, deviations)
    }
}
