//! A satellite until its signal falls below a threshold and another one's is better by a hysteresis.

use leobench_base::SimTime;

use super::{Choice, ServingPolicy, best};
use crate::motion::SatelliteId;
use crate::visibility::Sighting;

/// The strength of a candidate's signal, in decibels.
pub type Signal = Box<dyn Fn(&Sighting) -> f64 + Send>;

/// A satellite until its signal falls below a threshold and another one's is better by a hysteresis.
pub struct Snr {
    signal: Signal,
    threshold: f64,
    hysteresis: f64,
}

impl Snr {
    /// A policy by a signal; threshold and hysteresis in decibels.
    pub fn new(signal: Signal, threshold: f64, hysteresis: f64) -> Self {
        Self { signal, threshold, hysteresis }
    }
}

impl ServingPolicy for Snr {
    fn is_due(&self, _now: SimTime) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        let strongest = best(choice, &self.signal)?;
        let of = |satellite| {
            choice
                .candidates
                .iter()
                .find(|candidate| candidate.satellite == satellite)
                .map(&self.signal)
        };
        let Some((serving, signal)) = choice.serving.and_then(|s| Some((s, of(s)?))) else {
            return Some(strongest);
        };
        let better = of(strongest).is_some_and(|other| other >= signal + self.hysteresis);
        Some(if signal < self.threshold && better { strongest } else { serving })
    }
}
