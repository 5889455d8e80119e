//! Transmitters: the power that they radiate. One file per model, one line here to register it.

use leobench_base::quantity::Frequency;

use crate::antenna::Pointing;

/// A transmitter specification.
pub trait TransmitterModel {
    /// Equivalent isotropic radiated power in dBW towards the other end.
    fn eirp_dbw(&self, frequency: Frequency, pointing: Pointing) -> f64;
}

leobench_base::kinds! {
    /// The transmitter models.
    pub enum TransmitterSpec as dyn TransmitterModel {
        Eirp(mod eirp::EirpSpec) = "eirp",
        Power(mod power::PowerSpec) = "power",
    }
}

#[cfg(test)]
mod tests;
