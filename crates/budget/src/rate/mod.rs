//! Rates: from carrier over noise to bits per second. One file per model, one line here to register it.

pub mod dvb;

use leobench_base::BitRate;

/// A rate, and the modulation and coding that gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Rate; zero where no modulation and coding is decodable.
    pub rate: BitRate,
    /// Index of the modulation and coding in its table; `None` if the model has no table, or none is decodable.
    pub entry: Option<usize>,
}

/// A rate specification.
pub trait RateModel {
    /// The rate at `carrier_to_density` (C over the density of noise and interference, in dB Hz) in `bandwidth_hz`.
    /// `before` is the last choice on the same link, which hysteresis may keep; `None` at the start.
    fn rate(&self, carrier_to_density: f64, bandwidth_hz: f64, before: Option<Choice>) -> Choice;
}

leobench_base::kinds! {
    /// The rate models.
    pub enum RateSpec as dyn RateModel {
        Shannon(pub mod shannon::ShannonSpec) = "shannon",
        Modcod(pub mod modcod::ModcodSpec) = "modcod",
    }
}

impl Default for RateSpec {
    fn default() -> Self {
        Self::Shannon(shannon::ShannonSpec::default())
    }
}

/// A rate of so many bits per second; zero for less than none.
fn rounded(bps: f64) -> BitRate {
    BitRate::from_bps(bps.round() as u64)
}

#[cfg(test)]
mod tests;
