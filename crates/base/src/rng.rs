//! Named random streams: one seed per run, and an independent generator for every name under it.
//!
//! A stream depends only on the seed and its own name. A new flow or link therefore leaves every other stream
//! untouched, and two schedulers under one seed meet the same channel and the same arrivals.

use std::hash::Hasher;

use rand_core::Rng;
use rand_pcg::Pcg64;
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::time::SimDuration;

/// The second half of the root's key, an arbitrary one of ours: "leobench" in ASCII.
const ROOT_KEY: u64 = u64::from_be_bytes(*b"leobench");

/// The stream of every generator: PCG's default (documented at `rand_pcg::Lcg128Xsl64::new`). Generators differ in their
/// state alone, as those that differ in their stream may be correlated.
const STREAM: u128 = 0x0a02_bdbf_7bb3_c0a7_ac28_fa16_a64a_bf96;

/// A node in the tree of random streams; leaves are generators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RngTree {
    key: (u64, u64),
}

impl RngTree {
    /// The root of the tree for a run's seed.
    pub fn new(seed: u64) -> Self {
        Self { key: (seed, ROOT_KEY) }.child("leobench")
    }

    /// The subtree under `name`, independent of all other subtrees.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let mut hasher = SipHasher13::new_with_keys(self.key.0, self.key.1);
        hasher.write(name.as_bytes());
        let hash = hasher.finish128();
        Self { key: (hash.h1, hash.h2) }
    }

    /// The generator at this node.
    pub fn rng(&self) -> SimRng {
        let state = (u128::from(self.key.0) << 64) | u128::from(self.key.1);
        SimRng(Pcg64::new(state, STREAM))
    }
}

/// A random stream: the same numbers on every machine.
///
/// PCG XSL RR 128/64 (O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random
/// Number Generation", HMC-CS-2014-0905).
#[derive(Clone, Debug)]
pub struct SimRng(Pcg64);

impl SimRng {
    /// More than any standard exponential number that 53 random bits yield: 53 ln 2 = 36.74.
    pub const LARGEST_EXPONENTIAL: f64 = 36.75;
    /// More than any number that [`normal`](Self::normal) returns: the root of 2 * 53 ln 2 = 8.571.
    pub const LARGEST_NORMAL: f64 = 8.58;

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in [0, 1), with 53 random bits, as many as the significand of a double has (IEEE 754).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform integer below `bound` (Lemire 2019, multiply and reject).
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no integer is below zero");
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            // The remainder is expensive, but it is below the bound.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Whether an event of the given probability occurs.
    pub fn bernoulli(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// An exponential time with the given mean, by inversion.
    pub fn exponential(&mut self, mean: SimDuration) -> SimDuration {
        mean * -libm::log1p(-self.unit())
    }

    /// A standard normal number (Box and Muller 1958, "A Note on the Generation of Random Normal Deviates").
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log1p(-self.unit())).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }

    /// The index of one of `weights`, drawn in proportion to them.
    ///
    /// # Panics
    /// If there are no weights.
    pub fn categorical(&mut self, weights: &[f64]) -> usize {
        let mut rest = self.unit() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            if rest < *weight {
                return index;
            }
            rest -= weight;
        }
        weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(weights.len() - 1)
    }

    /// A Poisson count with the given mean, by counting exponential gaps (its cost grows with the mean).
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let mut count = 0;
        let mut elapsed = -libm::log1p(-self.unit());
        while elapsed < mean {
            count += 1;
            elapsed -= libm::log1p(-self.unit());
        }
        count
    }
}
