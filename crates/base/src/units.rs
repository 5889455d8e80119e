//! Sizes and rates, with dimensionally correct arithmetic.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use crate::largest_unit::in_largest_unit;
use crate::time::SimDuration;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bits.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }

    /// Whether the size is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// This size minus `other`; `None` if `other` is larger.
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(rest) => Some(Self(rest)),
            None => None,
        }
    }

    /// This size minus `other`, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl BitRate {
    /// A rate of zero.
    pub const ZERO: Self = Self(0);

    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Whether the rate is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The time to send `size` at this rate, with the exact remainder carried: `(whole nanoseconds, remainder)`. The
    /// remainder is in units of 1 / rate nanoseconds; pass it to the next call as `carry`. [`SimDuration::MAX`] on
    /// overflow, `None` at a rate of zero.
    pub const fn serialise(self, size: Bytes, carry: u64) -> Option<(SimDuration, u64)> {
        if self.0 == 0 {
            return None;
        }
        // Packets fit into 64 bits, whose division is much faster.
        if let Some(scaled) = size.bits().checked_mul(1_000_000_000)
            && let Some(scaled) = scaled.checked_add(carry)
        {
            return Some((SimDuration::from_nanos(scaled / self.0), scaled % self.0));
        }
        let scaled = size.bits() as u128 * 1_000_000_000 + carry as u128;
        let nanos = scaled / self.0 as u128;
        let nanos = if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 };
        let remainder = (scaled % self.0 as u128) as u64;
        Some((SimDuration::from_nanos(nanos), remainder))
    }

    /// This rate times a factor, rounded to whole bits per second.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    /// # Panics
    /// If there are fewer bytes than `other`, in release builds too: a wrapped size would pass for a huge one. Where
    /// that may be, see [`Bytes::saturating_sub`] and [`Bytes::checked_sub`].
    fn sub(self, other: Self) -> Self {
        match self.checked_sub(other) {
            Some(rest) => rest,
            None => panic!("negative size: {self} - {other}"),
        }
    }
}

impl SubAssign for Bytes {
    /// # Panics
    /// If there are fewer bytes than `other`.
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::ZERO, Add::add)
    }
}

impl Mul<SimDuration> for BitRate {
    type Output = Bytes;
    /// The whole bytes that this rate sends in `span`.
    fn mul(self, span: SimDuration) -> Bytes {
        Bytes((u128::from(self.0) * u128::from(span.as_nanos()) / 8_000_000_000) as u64)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_largest_unit(
            self.get(),
            &[("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)],
        ))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_largest_unit(
            self.bps(),
            &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000)],
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_subtracted_as_far_as_they_go() {
        let (small, large) = (Bytes::new(3), Bytes::new(5));
        assert_eq!((large - small, large.checked_sub(small)), (Bytes::new(2), Some(Bytes::new(2))));
        assert_eq!((small.checked_sub(large), small.saturating_sub(large)), (None, Bytes::ZERO));
    }

    /// In release builds too, where integers of the language wrap.
    #[test]
    #[should_panic(expected = "negative size: 3 B - 5 B")]
    fn a_negative_size_is_a_bug() {
        let mut size = Bytes::new(3);
        size -= Bytes::new(5);
    }
}
