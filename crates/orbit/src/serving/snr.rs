//! A satellite until its signal falls below a threshold and another one's is better by a hysteresis.

use leobench_base::SimTime;
use leobench_base::quantity::{Decibels, Level};
use leobench_base::spec::Fault;

use super::{Choice, PolicyContext, PolicyModel, ServingPolicy, Signal, best};
use crate::motion::SatelliteId;

leobench_base::spec! {
    /// Keeps a satellite until its carrier over noise falls below a threshold and another one is better by a hysteresis.
    pub struct SnrSpec example = r#"{"threshold": "8 dB"}"# {
        /// Carrier over noise of the downlink below which another satellite may be chosen.
        pub threshold: Level,
        /// How much better the other one has to be.
        pub hysteresis: Decibels = Decibels::constant(1.0),
    }
}

impl PolicyModel for SnrSpec {
    fn build(&self, context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        let Some(signal) = context.signal else {
            let allowed = "a link with a `downlink` budget, or another policy";
            return Err(Fault::new("policy", "`snr` needs a signal level", allowed));
        };
        let (threshold, hysteresis) = (self.threshold.db(), self.hysteresis.db());
        Ok(Box::new(Snr { signal, threshold, hysteresis }))
    }
}

/// Threshold and hysteresis are in decibels.
struct Snr {
    signal: Signal,
    threshold: f64,
    hysteresis: f64,
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
