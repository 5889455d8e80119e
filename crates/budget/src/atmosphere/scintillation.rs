//! Fading by tropospheric scintillation (Recommendation ITU-R P.618-13, section 2.4.1).

use leobench_base::quantity::{Distance, Frequency};
use leobench_base::spec::Range;

use super::Path;
use crate::free_space::sin_deg;

/// Height of the turbulent layer in m (step 4).
const LAYER_M: f64 = 1_000.0;

leobench_base::spec! {
    /// Tropospheric scintillation at the terminal's antenna (ITU-R P.618-13, section 2.4.1).
    pub struct ScintillationSpec example = r#"{"diameter": "60 cm", "wet_refractivity": 50.0}"# {
        /// Diameter of the terminal's antenna.
        pub diameter: Distance [Distance::APERTURE],
        /// Efficiency of the terminal's antenna.
        pub efficiency: f64 [Range::above(0.0).to(1.0)] = 0.5,
        /// Median wet term of the surface refractivity over a year (ITU-R P.453 has it for every place).
        pub wet_refractivity: f64 [Range::from(0.0).to(500.0)],
    }
}

/// Scintillation at one frequency.
#[derive(Clone, Debug)]
pub struct Scintillation {
    ghz: f64,
    effective_m2: f64,
    reference_db: f64,
}

impl Scintillation {
    /// The scintillation that `spec` describes, at `frequency` (4 to 55 GHz).
    pub fn new(spec: &ScintillationSpec, frequency: Frequency) -> Self {
        Self {
            ghz: frequency.ghz(),
            effective_m2: spec.efficiency * spec.diameter.m() * spec.diameter.m(),
            reference_db: 3.6e-3 + 1e-4 * spec.wet_refractivity,
        }
    }

    /// Standard deviation of the signal in dB (steps 3 to 7).
    pub fn deviation_db(&self, path: &Path) -> f64 {
        let sin = sin_deg(path.elevation_deg);
        let length = 2.0 * LAYER_M / ((sin * sin + 2.35e-4).sqrt() + sin);
        let x = 1.22 * self.effective_m2 * self.ghz / length;
        let angle = 11.0 / 6.0 * libm::atan2(1.0, x);
        let averaged = 3.86 * libm::pow(x * x + 1.0, 11.0 / 12.0) * libm::sin(angle)
            - 7.08 * libm::pow(x, 5.0 / 6.0);
        // A large antenna averages the scintillation out: step 6 has zero there.
        let averaging = averaged.max(0.0).sqrt();
        self.reference_db * libm::pow(self.ghz, 7.0 / 12.0) * averaging / libm::pow(sin, 1.2)
    }

    /// Fade depth in dB exceeded for `percent` of the time, from 0.01 to 50 (steps 8 and 9). Infinite at and below the
    /// horizon.
    pub fn attenuation_db(&self, path: &Path, percent: f64) -> f64 {
        if path.elevation_deg <= 0.0 {
            return f64::INFINITY;
        }
        let log = libm::log10(percent);
        let factor = -0.061 * log * log * log + 0.072 * log * log - 1.71 * log + 3.0;
        factor * self.deviation_db(path)
    }
}
