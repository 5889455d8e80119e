//! A given spectral density of noise power.

use leobench_base::decibel::ratio;
use leobench_base::quantity::NoiseDensity;

use super::NoiseModel;
use crate::free_space::BOLTZMANN_J_PER_K;

leobench_base::spec! {
    /// A spectral density of noise power.
    pub struct DensitySpec example = r#"{"density": "1.6e-20 W/Hz"}"# {
        /// Power per hertz.
        pub density: NoiseDensity,
    }
}

impl NoiseModel for DensitySpec {
    fn system_k(&self) -> f64 {
        ratio(self.density.dbw_per_hz()) / BOLTZMANN_J_PER_K
    }
}
