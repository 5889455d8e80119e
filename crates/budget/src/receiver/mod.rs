//! Receivers: their figure of merit. One file per model, one line here to register it.

use leobench_base::quantity::Frequency;

use crate::antenna::Pointing;

/// A receiver specification.
pub trait ReceiverModel {
    /// Figure of merit G/T in dB/K towards the other end, with `extra_k` of noise from the atmosphere.
    fn figure_of_merit(&self, frequency: Frequency, pointing: Pointing, extra_k: f64) -> f64;

    /// Whether noise from the atmosphere can be added. The conformance tests check it.
    fn takes_noise(&self) -> bool {
        true
    }
}

leobench_base::kinds! {
    /// The receiver models.
    pub enum ReceiverSpec as dyn ReceiverModel {
        FigureOfMerit(mod g_over_t::FigureSpec) = "g_over_t",
        Antenna(mod antenna::ChainSpec) = "antenna",
    }
}

#[cfg(test)]
mod tests;
