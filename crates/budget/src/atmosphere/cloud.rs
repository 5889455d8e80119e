//! Attenuation by clouds (Recommendation ITU-R P.840-8).

use leobench_base::quantity::{Column, Frequency};

use super::Path;
use crate::free_space::sin_deg;

/// The temperature that reduced columns of water refer to, in K (P.840-8, annex 1).
const REFERENCE_K: f64 = 273.15;

leobench_base::spec! {
    /// Clouds, by their liquid water (ITU-R P.840-8).
    pub struct CloudSpec example = r#"{"water": "0.4 kg/m2"}"# {
        /// Total column of liquid water above the terminal, reduced to 0 degrees Celsius (ITU-R P.840 has it for every place
        /// and share of the year).
        pub water: Column,
    }
}

/// Specific attenuation coefficient of cloud liquid water in (dB/km)/(g/m3), by the double-Debye model (P.840-8,
/// annex 1, section 2), up to 200 GHz.
pub fn coefficient(frequency_ghz: f64, kelvin: f64) -> f64 {
    let warmth = 300.0 / kelvin - 1.0;
    let static_permittivity = 77.66 + 103.3 * warmth;
    let between = 0.0671 * static_permittivity;
    let optical = 3.52;
    let principal_ghz = 20.20 - 146.0 * warmth + 316.0 * warmth * warmth;
    let secondary_ghz = 39.8 * principal_ghz;
    let terms = [
        (static_permittivity - between, frequency_ghz / principal_ghz),
        (between - optical, frequency_ghz / secondary_ghz),
    ];
    let relaxed = terms.map(|(step, relative)| (step / (1.0 + relative * relative), relative));
    let real = optical + relaxed.iter().map(|(step, _)| step).sum::<f64>();
    let imaginary = relaxed.iter().map(|(step, relative)| step * relative).sum::<f64>();
    let eta = (2.0 + real) / imaginary;
    0.819 * frequency_ghz / (imaginary * (1.0 + eta * eta))
}

/// Clouds at one frequency.
#[derive(Clone, Debug)]
pub struct Cloud {
    zenith_db: f64,
}

impl Cloud {
    /// The clouds that `spec` describes, at `frequency` (up to 200 GHz).
    pub fn new(spec: &CloudSpec, frequency: Frequency) -> Self {
        Self { zenith_db: spec.water.kg_per_m2() * coefficient(frequency.ghz(), REFERENCE_K) }
    }

    /// Attenuation in dB: that of the zenith over the sine of the elevation (annex 1, section 3), which overestimates below 5
    /// degrees. Infinite at and below the horizon.
    pub fn attenuation_db(&self, path: &Path) -> f64 {
        if path.elevation_deg <= 0.0 {
            return f64::INFINITY;
        }
        self.zenith_db / sin_deg(path.elevation_deg)
    }
}
