//! A path as the controller imagines it, and how well it explains what was observed.

use super::observations::Observations;

/// Limits of the inherent loss: the least, and the most with what it has on top at low rates, in bit/s
/// (`InherentLossLowerBound`, `InherentLossUpperBoundOffset`, `InherentLossUpperBoundBwBalance`).
const LEAST: f64 = 1e-3;
const MOST: f64 = 0.05;
const MOST_AT_RATE: f64 = 100_000.0;
/// Share of a Newton step that is taken (`NewtonStepSize`).
const STEP: f64 = 0.75;
/// Probabilities stay so far from 0 and 1 (`GetLossProbability`).
const MARGIN: f64 = 1e-6;
/// Preference of higher rates, a kbit/s and a unit of its logarithm (`HigherBwBiasFactor`, `HigherLogBwBiasFactor`).
const BIAS: f64 = 2e-4;
const LOG_BIAS: f64 = 0.02;
/// The loss above which lower rates are preferred instead, and how gradually
/// (`LossThresholdOfHighBandwidthPreference`, `BandwidthPreferenceSmoothingFactor`).
const TURN: f64 = 0.2;
const SMOOTHNESS: f64 = 0.002;

/// A path that loses a share of all packets at random, and whatever is beyond its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Channel {
    /// In bit/s.
    pub rate: f64,
    pub inherent_loss: f64,
}

impl Channel {
    /// The share that is lost at a rate in bit/s.
    pub fn loss(&self, sent: f64) -> f64 {
        let excess = ((sent - self.rate) / sent).max(0.0);
        let loss = self.inherent_loss + (1.0 - self.inherent_loss) * excess;
        loss.clamp(MARGIN, 1.0 - MARGIN)
    }

    /// With an inherent loss within its limits.
    fn feasible(self) -> Self {
        let most = (MOST + MOST_AT_RATE / self.rate).min(1.0);
        Self { inherent_loss: self.inherent_loss.max(LEAST).min(most), ..self }
    }

    /// With the inherent loss that a step of Newton's method finds more likely.
    pub fn fitted(self, observations: &Observations) -> Self {
        let start = self.feasible();
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, each) in observations.weighted() {
            let (loss, arrived) = (start.loss(each.rate), each.bytes - each.lost);
            first += weight * (each.lost / loss - arrived / (1.0 - loss));
            second -=
                weight * (each.lost / (loss * loss) + arrived / ((1.0 - loss) * (1.0 - loss)));
        }
        let inherent_loss = start.inherent_loss - STEP * first / second;
        Self { inherent_loss, ..start }.feasible()
    }

    /// The logarithm of the likelihood of the observations, and the preference of its rate: the larger, the better.
    pub fn objective(&self, observations: &Observations) -> f64 {
        let below = TURN - observations.loss();
        let preference = below / (SMOOTHNESS + below.abs());
        let kbps = self.rate / 1e3;
        let bias = preference * (BIAS * kbps + LOG_BIAS * libm::log(1.0 + kbps));
        let likelihood = observations.weighted().map(|(weight, each)| {
            let loss = self.loss(each.rate);
            let arrived = each.bytes - each.lost;
            let log = each.lost * libm::log(loss) + arrived * libm::log(1.0 - loss);
            weight * (log + bias * each.bytes)
        });
        likelihood.sum()
    }
}
