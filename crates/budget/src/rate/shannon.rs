//! Shannon's capacity with a gap and an efficiency.

use leobench_base::decibel::{db, ratio};
use leobench_base::quantity::Decibels;
use leobench_base::spec::Range;

use super::{Choice, RateModel, rounded};

leobench_base::spec! {
    /// Shannon's capacity η W log2(1 + SNR / Γ) with an efficiency η and a gap Γ.
    ///
    /// With a gap of 0 dB this is equation 3 of Yang et al. 2024.
    pub struct ShannonSpec : Default {
        /// Efficiency η.
        pub efficiency: f64 [Range::above(0.0).to(1.0)] = 1.0,
        /// Gap Γ to the capacity.
        pub gap: Decibels = Decibels::constant(0.0),
        /// The largest number of bits per second and hertz of the modem; unlimited by default.
        pub ceiling: Option<f64> [Range::above(0.0).to(20.0)],
    }
}

impl RateModel for ShannonSpec {
    fn rate(&self, carrier_to_density: f64, bandwidth_hz: f64, _before: Option<Choice>) -> Choice {
        let snr = ratio(carrier_to_density - db(bandwidth_hz) - self.gap.db());
        let capacity = self.efficiency * libm::log1p(snr) / std::f64::consts::LN_2;
        let per_hertz = self.ceiling.map_or(capacity, |ceiling| capacity.min(ceiling));
        Choice { rate: rounded(bandwidth_hz * per_hertz), entry: None }
    }
}
