//! A warped Gaussian process in time with slots: one positive quantity of a satellite link, such as the round trip or
//! the capacity.
//!
//! A standard normal number `z` is the sum of independent parts: a drift that goes on over slots, a level that each slot
//! draws, and two that forget within seconds and within milliseconds. The `warp` turns it into the quantity.
//! As the parts are Gaussian, the likelihood of a recording is exact by a Kalman filter, and what comes next has a
//! distribution in closed form.
//!
//! [`ProcessSpec`] are the parameters; [`Walk`] draws from them, [`Filter`] weighs recordings by them.

mod filter;
mod parts;
#[cfg(test)]
mod tests;
mod walk;
mod warp;

use leobench_base::spec::{Fault, Range};

pub use filter::{Filter, Innovation};
pub use parts::{Elapsed, Grid};
pub use walk::Walk;

/// How far the sum of the shares may be from 1, as they are written with some digits.
const ROUNDING: f64 = 1e-6;

leobench_base::spec! {
    /// The shares of the parts in the variance of `z`, which add up to 1.
    pub struct Shares example = r#"{"slot": 0.5, "fast": 0.5}"# {
        /// The part that goes on over slots, and drifts over seconds to hours.
        pub drift: f64 [Range::from(0.0).to(1.0)] = 0.0,
        /// The part that holds for a slot.
        pub slot: f64 [Range::from(0.0).to(1.0)] = 0.0,
        /// The part that changes within a slot, over seconds. Each slot draws it anew.
        pub slow: f64 [Range::from(0.0).to(1.0)] = 0.0,
        /// The part that changes within milliseconds, or faster than it was measured.
        pub fast: f64 [Range::from(0.0).to(1.0)] = 0.0,
    }
}

leobench_base::spec! {
    /// The parameters of a process: a value above `floor` is floor + exp(location + scale sinh((asinh(z) + skewness) / tail)).
    ///
    /// The logarithm of what is above the floor has a sinh-arcsinh distribution (Jones and Pewsey 2009, "Sinh-arcsinh
    /// distributions", Biometrika 96), which is normal with a `skewness` of 0 and a `tail` of 1.
    pub struct ProcessSpec
        example = r#"{"location": 3, "scale": 0.5, "shares": {"slot": 0.5, "fast": 0.5}}"#
        check = check
    {
        /// Bound that the quantity is always above, in its unit.
        pub floor: f64 = 0.0,
        /// Median of the logarithm of what is above the floor, if the skewness is 0.
        pub location: f64,
        /// Scale of that logarithm; above 0.
        pub scale: f64 [Range::above(0.0)],
        /// Above 0 if large values are further from the median than small ones.
        pub skewness: f64 = 0.0,
        /// Weight of the tails: below 1, they are heavier than those of a normal distribution.
        pub tail: f64 [Range::above(0.0)] = 1.0,
        /// The shares of the parts in the variance.
        pub shares: Shares,
        /// Time constant of the drift, in seconds.
        pub drift_s: f64 [Range::above(0.0)] = 1_800.0,
        /// Correlation between the levels of two slots in a row.
        pub slot_correlation: f64 [Range::above(-1.0).below(1.0)] = 0.0,
        /// Time constant of the slow part, in seconds.
        pub slow_s: f64 [Range::above(0.0)] = 3.0,
        /// Time constant of the fast part, in seconds. Without one, it is independent from sample to sample.
        pub fast_s: Option<f64> [Range::above(0.0)],
        /// How often a fast part without a time constant is drawn anew, in seconds.
        pub resolution_s: f64 [Range::above(0.0)] = 0.02,
    }
}

fn check(spec: &ProcessSpec) -> Result<(), Fault> {
    let sum = spec.variances().iter().sum::<f64>();
    if (sum - 1.0).abs() > ROUNDING {
        let problem = format!("add up to {sum}");
        return Err(Fault::new("shares", problem, "shares that add up to 1"));
    }
    Ok(())
}
