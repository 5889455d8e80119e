//! The constants of free space, and functions of angles in degrees.

use leobench_base::decibel::db;

/// Speed of light in m/s (exact, SI).
pub const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// Boltzmann's constant in J/K (exact, SI).
pub const BOLTZMANN_J_PER_K: f64 = 1.380_649e-23;

/// The reference temperature of noise figures in K (Recommendation ITU-R P.372).
pub const REFERENCE_K: f64 = 290.0;

/// The sine of an angle in degrees.
pub fn sin_deg(degrees: f64) -> f64 {
    libm::sin(degrees.to_radians())
}

/// The cosine of an angle in degrees.
pub fn cos_deg(degrees: f64) -> f64 {
    libm::cos(degrees.to_radians())
}

/// Free-space path loss in dB over `range_m` at `frequency_hz`: 20 log10(4π d / λ) (Recommendation ITU-R P.525-4,
/// equation 3; the denominator of Yang et al. 2024, equation 2).
pub fn free_space_loss_db(range_m: f64, frequency_hz: f64) -> f64 {
    let wavelengths = range_m * frequency_hz / LIGHT_M_PER_S;
    2.0 * db(4.0 * std::f64::consts::PI * wavelengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P.525-4, equation 4: 32.4 + 20 log f (MHz) + 20 log d (km), whose constant is 32.4478 in full.
    #[test]
    fn the_loss_is_that_of_the_recommendation() {
        for (range_km, mhz) in [(550.0, 12_000.0), (1_200.0, 20_000.0), (35_786.0, 1_500.0)] {
            let expected = 32.447_783 + 20.0 * libm::log10(mhz) + 20.0 * libm::log10(range_km);
            let found = free_space_loss_db(range_km * 1e3, mhz * 1e6);
            assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
        }
    }
}
