//! Vectors in space.

use std::ops::{Add, Mul, Neg, Sub};

use super::angle::Angle;

/// A vector in a frame of three axes, in metres or metres per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vector {
    /// Along the first axis.
    pub x: f64,
    /// Along the second axis.
    pub y: f64,
    /// Along the third axis.
    pub z: f64,
}

impl Vector {
    /// A vector of three coordinates.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// The scalar product.
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// The vector product.
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// Its length.
    pub fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The vector of length 1 in its direction.
    pub fn unit(self) -> Self {
        self * (1.0 / self.norm())
    }

    /// Turned about the third axis, counter-clockwise, by an angle with this cosine and sine.
    pub fn turned_about_z(self, cos: f64, sin: f64) -> Self {
        Self::new(cos * self.x - sin * self.y, sin * self.x + cos * self.y, self.z)
    }

    /// The smallest distance from the origin to the straight line between two points.
    pub fn closest_to_origin(self, to: Self) -> f64 {
        let along = to - self;
        let length = along.dot(along);
        let share = if length > 0.0 { (-self.dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
        (self + along * share).norm()
    }
}

/// The angle between two directions of length 1.
pub fn separation(one: Vector, other: Vector) -> Angle {
    Angle::atan2(one.cross(other).norm(), one.dot(other))
}

impl Add for Vector {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vector {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Neg for Vector {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl Mul<f64> for Vector {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}
