//! Rain attenuation on a slant path (Recommendation ITU-R P.618-13, section 2.2.1.1; P.618-14 keeps the method).

use leobench_base::quantity::{Distance, Frequency, RainRate};
use leobench_base::spec::UpTo;

use super::Path;
use super::specific::{Coefficients, Polarisation, specific_attenuation};
use crate::free_space::{cos_deg, sin_deg};

/// Effective radius of the Earth in km (P.618-13, step 2).
const EARTH_KM: f64 = 8_500.0;

/// Height of the rain above the zero-degree isotherm, in km (Recommendation ITU-R P.839-4, annex 1).
const ABOVE_ISOTHERM_KM: f64 = 0.36;

/// No place has a mean isotherm above 5 km (ITU-R P.839-4); the air itself is that cold everywhere at twice the height.
const HIGHEST: UpTo<Distance> = UpTo(Distance::constant(10e3));

leobench_base::spec! {
    /// Rain, by the statistics of an average year at the terminal's place (ITU-R P.618-13, P.838-3, P.839-4).
    pub struct RainSpec example = r#"{"rate": "42 mm/h", "zero_isotherm": "3.5 km"}"# {
        /// Rain rate exceeded for 0.01 % of an average year, over one minute (ITU-R P.837 has it for every place).
        pub rate: RainRate,
        /// Mean height of the zero-degree isotherm above sea level (ITU-R P.839-4 has it for every place).
        pub zero_isotherm: Distance [HIGHEST],
        /// Polarisation of the wave.
        pub polarisation: Polarisation = Polarisation::Circular,
    }
}

/// Rain at one frequency.
#[derive(Clone, Debug)]
pub struct Rain {
    coefficients: Coefficients,
    ghz: f64,
    rate: f64,
    top_km: f64,
    tilt_deg: f64,
}

impl Rain {
    /// The rain that `spec` describes, at `frequency` (up to 55 GHz).
    pub fn new(spec: &RainSpec, frequency: Frequency) -> Self {
        Self {
            coefficients: Coefficients::at(frequency.ghz()),
            ghz: frequency.ghz(),
            rate: spec.rate.mm_per_h(),
            top_km: spec.zero_isotherm.m() / 1e3 + ABOVE_ISOTHERM_KM,
            tilt_deg: spec.polarisation.tilt_deg(),
        }
    }

    /// Attenuation in dB exceeded for `percent` of an average year, from 0.001 to 5. Zero above the rain, infinite at and
    /// below the horizon.
    pub fn attenuation_db(&self, path: &Path, percent: f64) -> f64 {
        if path.elevation_deg <= 0.0 {
            return f64::INFINITY;
        }
        let rise = self.top_km - path.altitude_km;
        if rise <= 0.0 {
            return 0.0;
        }
        let at_hundredth = self.at_hundredth_percent(path, rise);
        if at_hundredth > 0.0 { scaled(at_hundredth, path, percent) } else { 0.0 }
    }

    /// Steps 2 to 9: attenuation in dB exceeded for 0.01 % of the year, on a path that leaves the rain `rise` km above.
    fn at_hundredth_percent(&self, path: &Path, rise: f64) -> f64 {
        let (sin, cos) = (sin_deg(path.elevation_deg), cos_deg(path.elevation_deg));
        let slant = if path.elevation_deg >= 5.0 {
            rise / sin // equation 1
        } else {
            2.0 * rise / ((sin * sin + 2.0 * rise / EARTH_KM).sqrt() + sin) // equation 2
        };
        let ground = slant * cos.abs(); // equation 3
        let (k, alpha) = self.coefficients.on_path(path.elevation_deg, self.tilt_deg);
        let specific = specific_attenuation(k, alpha, self.rate); // equation 4
        let horizontal = 1.0
            / (1.0 + 0.78 * (ground * specific / self.ghz).sqrt()
                - 0.38 * (1.0 - libm::exp(-2.0 * ground))); // equation 5
        let zeta = libm::atan2(rise, ground * horizontal).to_degrees();
        let length = if zeta > path.elevation_deg { ground * horizontal / cos } else { rise / sin };
        let chi = (36.0 - path.latitude_deg.abs()).max(0.0);
        let vertical = 1.0
            / (1.0
                + sin.sqrt()
                    * (31.0
                        * (1.0 - libm::exp(-path.elevation_deg / (1.0 + chi)))
                        * (length * specific).sqrt()
                        / (self.ghz * self.ghz)
                        - 0.45));
        specific * length * vertical // equations 6 and 7
    }
}

/// Step 10: the attenuation exceeded for `percent` of the year, from that for 0.01 % (equation 8).
fn scaled(at_hundredth: f64, path: &Path, percent: f64) -> f64 {
    let (latitude, sin) = (path.latitude_deg.abs(), sin_deg(path.elevation_deg));
    let beta = if percent >= 1.0 || latitude >= 36.0 {
        0.0
    } else if path.elevation_deg >= 25.0 {
        -0.005 * (latitude - 36.0)
    } else {
        -0.005 * (latitude - 36.0) + 1.8 - 4.25 * sin
    };
    let exponent = 0.655 + 0.033 * libm::log(percent)
        - 0.045 * libm::log(at_hundredth)
        - beta * (1.0 - percent) * sin;
    at_hundredth * libm::pow(percent / 0.01, -exponent)
}
