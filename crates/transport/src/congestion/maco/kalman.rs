//! The adaptive Kalman filter of algorithm 1 (equations 5 to 10): a rate that walks at random, measured with noise, whose two
//! variances follow from the innovations.
//!
//! The walk has increments of variance `Q`, and a measurement has an error of variance `R`. Let `K` be the gain, `P` the
//! variance of the error of a prediction, and `C_j` the autocovariance of the innovations (measurement less prediction) at a
//! lag of `j`. In the steady state of any constant gain, the best one or not (Mehra, "On the identification of variances and
//! adaptive Kalman filtering", IEEE Transactions on Automatic Control 15(2), 1970):
//!
//! - the error `e` of a prediction becomes `(1 - K) e - K v + d` with the noise `v` and the increment `d`, so `P = (K² R + Q) /
//!   (K (2 - K))`;
//! - `C_0 = P + R`, `C_1 = (1 - K) P - K R`, and `C_j = (1 - K)^(j - 1) C_1`.
//!
//! The `C_j` are linear in `Q` and `R`. Autocovariance least squares (Odelson, Rajamani and Rawlings, "A new autocovariance
//! least-squares method for estimating noise covariances", Automatica 42(2), 2006) fits both to the measured ones. For a
//! scalar, `(Q, R)` and `(C_0, C_1)` determine each other, and the fit has a closed form: `C_0` is its measured value, `C_1` the
//! sum of `(1 - K)^(j - 1) C_j` over that of `(1 - K)^(2 (j - 1))`, and
//!
//! - `R = (1 - K) C_0 - C_1`,
//! - `Q = K² C_0 + 2 K C_1`.

use crate::congestion::kalman::ScalarKalman;

/// Lags of the autocovariance beside zero. At a gain of 0.618, `C_4` is 6 % of `C_1`; more would add noise only.
const LAGS: usize = 4;
/// The smallest ratio of `Q` to `R`: a gain of 0.05 (`K² / (1 - K)`). At a gain of zero the filter would never learn again.
const LEAST_RATIO: f64 = 0.05 * 0.05 / 0.95;

/// The two variances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    /// Of an increment of the rate (`Q`).
    pub increment: f64,
    /// Of a measurement (`R`).
    pub measurement: f64,
}

impl Noise {
    /// The variance of a prediction's error in the steady state of the best gain.
    fn steady_prediction(self) -> f64 {
        let Self { increment: q, measurement: r } = self;
        f64::midpoint(q, libm::sqrt(q * q + 4.0 * q * r))
    }

    /// The best gain in the steady state: for equal variances, the golden ratio less one.
    pub fn steady_gain(self) -> f64 {
        let prediction = self.steady_prediction();
        let innovation = prediction + self.measurement;
        if innovation > 0.0 { prediction / innovation } else { 1.0 }
    }

    /// The variances under which a filter of a constant `gain` has innovations of these autocovariances, by least squares.
    /// None if nothing varied. If one would be negative, it is zero, and the variance of the innovations stays.
    fn fitted(gain: f64, covariances: &[f64; LAGS + 1]) -> Option<Self> {
        let (rest, variance) = (1.0 - gain, covariances[0]);
        if variance <= 0.0 {
            return None;
        }
        let (mut weight, mut above, mut below) = (1.0, 0.0, 0.0);
        for covariance in &covariances[1..] {
            above += weight * covariance;
            below += weight * weight;
            weight *= rest;
        }
        let first = (above / below).clamp(-gain * variance / 2.0, rest * variance);
        let measurement = rest * variance - first;
        let increment = gain * gain * variance + 2.0 * gain * first;
        Some(Self { increment: increment.max(measurement * LEAST_RATIO), measurement })
    }
}

/// Autocovariance of the innovations since the last estimate of the variances.
#[derive(Clone, Copy, Debug, Default)]
struct Innovations {
    /// The last ones, the newest first.
    last: [f64; LAGS],
    sums: [f64; LAGS + 1],
    count: u32,
}

impl Innovations {
    fn add(&mut self, innovation: f64) {
        self.sums[0] += innovation * innovation;
        for (sum, earlier) in self.sums[1..].iter_mut().zip(self.last) {
            *sum += innovation * earlier;
        }
        self.last.rotate_right(1);
        self.last[0] = innovation;
        self.count += 1;
    }

    fn covariances(&self) -> [f64; LAGS + 1] {
        let mut covariances = self.sums;
        for (lag, covariance) in covariances.iter_mut().enumerate() {
            *covariance /= f64::from(self.count) - lag as f64;
        }
        covariances
    }
}

/// The filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kalman {
    /// The estimate after the last measurement, and the variance of its error (`Z`).
    pub state: ScalarKalman,
    /// The gain of the last measurement.
    pub gain: f64,
    /// The variance of the last innovation: of the prediction's error and of the measurement together.
    pub spread: f64,
    pub noise: Noise,
    innovations: Innovations,
    /// Innovations from which the variances are estimated.
    window: u32,
}

impl Kalman {
    /// A filter that knows one measurement only, and estimates the variances anew after every `window` innovations.
    pub fn new(first: f64, noise: Noise, window: u32) -> Self {
        Self {
            state: ScalarKalman { estimate: first, variance: noise.measurement },
            gain: 1.0,
            spread: noise.measurement,
            noise,
            innovations: Innovations::default(),
            window: window.max(LAGS as u32 + 1),
        }
    }

    /// Takes a measurement. The increment's mean is zero, so nothing is added to the prediction (equation 5).
    pub fn update(&mut self, measured: f64) {
        self.innovations.add(measured - self.state.estimate);
        self.state.predict(self.noise.increment);
        self.spread = self.state.variance + self.noise.measurement;
        self.gain = self.state.correct(measured, self.noise.measurement);
        if self.innovations.count >= self.window {
            self.adapt();
        }
    }

    /// Estimates the variances anew. The gain goes to its steady state at once, as the autocovariances assume.
    fn adapt(&mut self) {
        let innovations = std::mem::take(&mut self.innovations);
        let gain = self.noise.steady_gain();
        if let Some(noise) = Noise::fitted(gain, &innovations.covariances()) {
            self.noise = noise;
            self.state.variance = noise.steady_prediction() * (1.0 - noise.steady_gain());
        }
    }
}
