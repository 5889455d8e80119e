//! Delivery rates in floating point. A [`BitRate`] is whole bits per second: rounding every sample and every product with
//! a gain to it would change what BBR computes.

use std::ops::{Add, Mul};

use leobench_base::{BitRate, SimDuration};

/// A rate in bytes per second, with its fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) struct DeliveryRate(f64);

impl DeliveryRate {
    /// Nothing delivered.
    pub const ZERO: Self = Self(0.0);
    /// A bound that is not set.
    pub const UNBOUNDED: Self = Self(f64::INFINITY);

    /// `bits` per second.
    pub const fn from_bps(bits: f64) -> Self {
        Self(bits / 8.0)
    }

    /// `bytes` in `span`.
    pub fn over(bytes: f64, span: SimDuration) -> Self {
        Self(bytes / span.as_secs_f64())
    }

    /// Whether it is a bound that is set.
    pub fn is_bounded(self) -> bool {
        self.0.is_finite()
    }

    /// The smaller of two rates.
    pub fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    /// The larger of two rates.
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// By how much two rates differ.
    pub fn abs_diff(self, other: Self) -> Self {
        Self((self.0 - other.0).abs())
    }

    /// The mean of two rates.
    pub fn midpoint(self, other: Self) -> Self {
        Self(f64::midpoint(self.0, other.0))
    }

    /// Whole bits per second, rounded down.
    pub fn to_bit_rate(self) -> BitRate {
        BitRate::from_bps((self.0 * 8.0) as u64)
    }

    /// Bits per second.
    #[cfg(test)]
    pub fn bps(self) -> f64 {
        self.0 * 8.0
    }
}

impl Add for DeliveryRate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Mul<f64> for DeliveryRate {
    type Output = Self;
    fn mul(self, gain: f64) -> Self {
        Self(self.0 * gain)
    }
}

impl Mul<SimDuration> for DeliveryRate {
    type Output = f64;
    /// Bytes delivered in `span`.
    fn mul(self, span: SimDuration) -> f64 {
        self.0 * span.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_come_out_right() {
        let rate = DeliveryRate::over(1_000.0, SimDuration::from_millis(10));
        assert_eq!(rate, DeliveryRate::from_bps(800_000.0));
        assert_eq!(rate.to_bit_rate(), BitRate::from_bps(800_000));
        assert!((rate * 0.5 * SimDuration::from_secs(2) - 100_000.0).abs() < 1e-6);
        assert_eq!(rate.min(DeliveryRate::UNBOUNDED), rate);
        assert!(rate.is_bounded() && !DeliveryRate::UNBOUNDED.is_bounded());
    }
}
