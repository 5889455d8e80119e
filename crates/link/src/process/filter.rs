//! The Kalman filter of a process (Kalman 1960, "A New Approach to Linear Filtering and Prediction Problems").

use std::f64::consts::PI;

use leobench_base::SimRng;

use super::ProcessSpec;
use super::parts::{Elapsed, Grid, PARTS};
use super::walk::Walk;

/// Variances below it are rounding.
const LEAST: f64 = 1e-12;

/// A value beside the expectation that the values before it raise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Innovation {
    /// Mean of the standard normal number, given all before it.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// The number that it was.
    pub z: f64,
    /// Logarithm of the density of the value, given all before it.
    pub log_density: f64,
}

/// The knowledge of the parts of a process, from the values of a recording so far.
#[derive(Clone, Debug)]
pub struct Filter {
    spec: ProcessSpec,
    grid: Grid,
    mean: [f64; PARTS],
    covariance: [[f64; PARTS]; PARTS],
    time: Option<f64>,
}

impl Filter {
    /// Knows the long-run distribution only.
    pub fn new(spec: ProcessSpec, grid: Grid) -> Self {
        let mut covariance = [[0.0; PARTS]; PARTS];
        for (part, variance) in spec.variances().into_iter().enumerate() {
            covariance[part][part] = variance;
        }
        Self { spec, grid, mean: [0.0; PARTS], covariance, time: None }
    }

    /// Goes on to a time, which is not before the last one.
    pub fn advance(&mut self, time: f64) {
        let Some(before) = self.time.replace(time) else { return };
        let correlations = self.spec.correlations(self.elapsed(before, time));
        let variances = self.spec.variances();
        for i in 0..PARTS {
            self.mean[i] *= correlations[i];
            for j in 0..PARTS {
                self.covariance[i][j] *= correlations[i] * correlations[j];
            }
            self.covariance[i][i] += variances[i] * (1.0 - correlations[i] * correlations[i]);
        }
    }

    fn elapsed(&self, from: f64, to: f64) -> Elapsed {
        let slots = self.grid.slot(to) - self.grid.slot(from);
        Elapsed { seconds: to - from, slots: u32::try_from(slots).unwrap_or(u32::MAX) }
    }

    /// Takes the value at the present time. `None` if the process cannot have it; it then learns nothing.
    pub fn observe(&mut self, value: f64) -> Option<Innovation> {
        let (z, log_slope) = self.spec.unwarp(value)?;
        let mean: f64 = self.mean.iter().sum();
        let with = self.covariance.map(|row| row.iter().sum::<f64>());
        let variance: f64 = with.iter().sum();
        if variance < LEAST {
            return None;
        }
        let error = z - mean;
        for i in 0..PARTS {
            let gain = with[i] / variance;
            self.mean[i] += gain * error;
            for (covariance, with) in self.covariance[i].iter_mut().zip(with) {
                *covariance -= gain * with;
            }
        }
        let log_normal = -0.5 * (libm::log(2.0 * PI * variance) + error * error / variance);
        let log_density = log_normal + log_slope;
        Some(Innovation { mean, deviation: variance.sqrt(), z, log_density })
    }

    /// A walk from the present time onwards, with parts drawn from what is known of them.
    pub fn walk(&self, rng: &mut SimRng) -> Walk {
        let root = root(self.covariance);
        let mut parts = self.mean;
        let normals: [f64; PARTS] = std::array::from_fn(|_| rng.normal());
        for (part, row) in parts.iter_mut().zip(root) {
            *part += row.iter().zip(normals).map(|(weight, normal)| weight * normal).sum::<f64>();
        }
        Walk::at(self.spec.clone(), parts)
    }

    /// Values at `times`, none before the present time: one way of how it may go on.
    pub fn draw(&self, times: &[f64], rng: &mut SimRng) -> Vec<f64> {
        let mut walk = self.walk(rng);
        let mut now = self.time;
        let step = |time: &f64| {
            if let Some(before) = now.replace(*time) {
                walk.advance(self.elapsed(before, *time), rng);
            }
            walk.value()
        };
        times.iter().map(step).collect()
    }
}

/// A lower triangular root of a covariance that may be singular (Cholesky).
fn root(covariance: [[f64; PARTS]; PARTS]) -> [[f64; PARTS]; PARTS] {
    let mut root = [[0.0; PARTS]; PARTS];
    for j in 0..PARTS {
        let left = |i: usize, root: &[[f64; PARTS]; PARTS]| {
            covariance[i][j] - (0..j).map(|k| root[i][k] * root[j][k]).sum::<f64>()
        };
        let pivot = left(j, &root);
        if pivot > LEAST {
            root[j][j] = pivot.sqrt();
            for i in j + 1..PARTS {
                root[i][j] = left(i, &root) / root[j][j];
            }
        }
    }
    root
}
