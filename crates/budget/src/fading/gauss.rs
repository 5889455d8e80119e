//! Gaussian processes with exponential correlation.

use leobench_base::{SimDuration, SimRng};

/// A stationary Ornstein-Uhlenbeck process of mean 0 and variance 1, at instants `step` apart.
///
/// The step is exact: X' = ρ X + sqrt(1 - ρ²) Z with ρ = exp(-step / τ) has the correlation of the continuous process
/// (Gillespie 1996, "Exact numerical simulation of the Ornstein-Uhlenbeck process and its integral", Physical Review E
/// 54(2)).
#[derive(Debug)]
pub(super) struct OrnsteinUhlenbeck {
    value: f64,
    keep: f64,
    renew: f64,
    rng: SimRng,
}

impl OrnsteinUhlenbeck {
    /// The process with correlation time `correlation`, which starts in its stationary distribution.
    pub fn new(correlation: SimDuration, step: SimDuration, mut rng: SimRng) -> Self {
        let exponent = step.as_secs_f64() / correlation.as_secs_f64();
        let renew = (-libm::expm1(-2.0 * exponent)).sqrt();
        Self { value: rng.normal(), keep: libm::exp(-exponent), renew, rng }
    }

    /// Takes one step.
    pub fn step(&mut self) {
        self.value = self.keep * self.value + self.renew * self.rng.normal();
    }

    /// The value now.
    pub const fn value(&self) -> f64 {
        self.value
    }
}

/// A complex Gaussian process with mean square 1: what many scattered waves add up to.
#[derive(Debug)]
pub(super) struct Scattered {
    parts: [OrnsteinUhlenbeck; 2],
}

impl Scattered {
    /// Both parts with correlation time `correlation`.
    pub fn new(correlation: SimDuration, step: SimDuration, rng: [SimRng; 2]) -> Self {
        Self { parts: rng.map(|rng| OrnsteinUhlenbeck::new(correlation, step, rng)) }
    }

    /// Takes one step.
    pub fn step(&mut self) {
        self.parts.iter_mut().for_each(OrnsteinUhlenbeck::step);
    }

    /// Real and imaginary part.
    pub fn value(&self) -> [f64; 2] {
        [0, 1].map(|part| self.parts[part].value() * std::f64::consts::FRAC_1_SQRT_2)
    }
}
