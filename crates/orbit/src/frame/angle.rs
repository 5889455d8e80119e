//! Angles: made from degrees or radians, computed with by `libm`.

use std::f64::consts::{PI, TAU};
use std::ops::{Add, Mul, Neg, Sub};

/// An angle.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Angle(f64);

impl Angle {
    /// No turn at all.
    pub const ZERO: Self = Self(0.0);

    /// An angle in degrees.
    pub const fn from_degrees(degrees: f64) -> Self {
        Self(degrees * (PI / 180.0))
    }

    /// An angle in radians.
    pub const fn from_radians(radians: f64) -> Self {
        Self(radians)
    }

    /// The angle whose sine this is; beyond 1, a right angle.
    pub fn asin(sine: f64) -> Self {
        Self(libm::asin(sine.clamp(-1.0, 1.0)))
    }

    /// The angle whose cosine this is; beyond 1, no angle or a straight one.
    pub fn acos(cosine: f64) -> Self {
        Self(libm::acos(cosine.clamp(-1.0, 1.0)))
    }

    /// The angle of the point (`x`, `y`), from -180 to 180 degrees.
    pub fn atan2(y: f64, x: f64) -> Self {
        Self(libm::atan2(y, x))
    }

    /// In degrees.
    pub const fn degrees(self) -> f64 {
        self.0 * (180.0 / PI)
    }

    /// In radians.
    pub const fn radians(self) -> f64 {
        self.0
    }

    /// Its sine.
    pub fn sin(self) -> f64 {
        libm::sin(self.0)
    }

    /// Its cosine.
    pub fn cos(self) -> f64 {
        libm::cos(self.0)
    }

    /// The same direction, from 0 to below 360 degrees.
    pub fn turned_positive(self) -> Self {
        let rest = self.0 % TAU;
        let positive = if rest < 0.0 { rest + TAU } else { rest };
        // A tiny negative angle rounds up to a full turn.
        Self(if positive >= TAU { 0.0 } else { positive })
    }
}

impl Add for Angle {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Angle {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Angle {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<f64> for Angle {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}
