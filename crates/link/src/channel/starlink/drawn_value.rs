//! A delay or a capacity: constant, or drawn from a process.

use leobench_base::spec::UpTo;
use leobench_base::{BitRate, RngTree, SimDuration, SimRng};

use crate::process::{Elapsed, ProcessSpec, Walk};

/// The largest capacity, in Mbit/s, where a process has no bound.
pub(super) const MOST_MBPS: f64 = 1e6;

/// Half of a round-trip time in milliseconds.
pub(super) fn one_way(round_ms: f64) -> SimDuration {
    SimDuration::from_secs_f64(round_ms / 2_000.0).min(UpTo::DELAY.0)
}

/// A capacity in Mbit/s.
pub(super) fn mbps(value: f64) -> BitRate {
    BitRate::from_bps((value.min(MOST_MBPS) * 1e6).round() as u64)
}

/// The mean of a function of a process's values in the long run, by the trapezoidal rule over the normal density, which
/// converges faster than any power of the step for smooth functions (Trefethen and Weideman 2014, SIAM Review 56).
pub(super) fn mean(process: &ProcessSpec, of: impl Fn(f64) -> f64) -> f64 {
    const STEPS_PER_UNIT: i32 = 64;
    let far = SimRng::LARGEST_NORMAL as i32 * STEPS_PER_UNIT;
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in -far..=far {
        let z = f64::from(step) / f64::from(STEPS_PER_UNIT);
        let weight = libm::exp(-z * z / 2.0);
        sum += weight * of(process.warp(z));
        weights += weight;
    }
    sum / weights
}

/// A value in its unit, which may change from step to step.
#[derive(Debug)]
pub(super) enum DrawnValue<T> {
    Constant(T),
    Drawn {
        walk: Box<Walk>,
        rng: SimRng,
        /// Whether it changes within slots.
        moves: bool,
        /// From the unit of the process.
        convert: fn(f64) -> T,
    },
}

impl<T: Copy> DrawnValue<T> {
    /// Draws from the process, if there is one.
    pub fn new(
        process: Option<&ProcessSpec>,
        constant: T,
        convert: fn(f64) -> T,
        rng: &RngTree,
    ) -> Self {
        let Some(process) = process else { return Self::Constant(constant) };
        let shares = &process.shares;
        let moves = shares.drift + shares.slow + shares.fast > 0.0;
        let mut rng = rng.rng();
        let walk = Box::new(Walk::new(process.clone(), &mut rng));
        Self::Drawn { walk, rng, moves, convert }
    }

    /// The present value.
    pub fn value(&self) -> T {
        match self {
            Self::Constant(value) => *value,
            Self::Drawn { walk, convert, .. } => convert(walk.value()),
        }
    }

    /// Whether it changes within slots.
    pub fn moves(&self) -> bool {
        matches!(self, Self::Drawn { moves: true, .. })
    }

    /// Lets time pass.
    pub fn advance(&mut self, elapsed: Elapsed) {
        if let Self::Drawn { walk, rng, .. } = self {
            walk.advance(elapsed, rng);
        }
    }
}
