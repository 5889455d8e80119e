//! Decibels.

/// A ratio of powers in decibels.
pub fn db(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

/// The ratio of powers that `decibels` stand for.
pub fn ratio(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gain of 3 dB is a factor of 1.995.
    #[test]
    fn decibels_are_ratios_of_powers() {
        assert!((ratio(3.0) - 1.995_262_3).abs() < 1e-6);
        assert!((db(2.0) - 3.010_299_96).abs() < 1e-8);
    }
}
