//! A Kalman filter of one state that is measured itself and walks at random (Kalman, "A new approach to linear filtering
//! and prediction problems", 1960, with a transition of one).

/// The estimate of a state, and its variance. Variances are in the square of the state's unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScalarKalman {
    pub estimate: f64,
    pub variance: f64,
}

impl ScalarKalman {
    /// Predicts the state a step later: the walk adds `process` (Q) to the variance.
    pub fn predict(&mut self, process: f64) {
        self.variance += process;
    }

    /// Corrects the prediction by a measurement with noise of variance `noise` (R). Returns the gain, which is one if neither
    /// prediction nor measurement can be wrong.
    pub fn correct(&mut self, measured: f64, noise: f64) -> f64 {
        let innovation = self.variance + noise;
        let gain = if innovation > 0.0 { self.variance / innovation } else { 1.0 };
        self.estimate += gain * (measured - self.estimate);
        self.variance *= 1.0 - gain;
        gain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written in the information form, in which a correction adds up precisions instead: 1 / P' = 1 / P + 1 / R and
    /// x' = P' (x / P + z / R) (Maybeck, "Stochastic models, estimation, and control", volume 1, 1979, section 5.7).
    #[test]
    fn it_is_the_filter_in_the_information_form() {
        let mut rng = leobench_base::RngTree::new(7).rng();
        for (process, noise) in [(4.0, 4.0), (0.5, 20.0), (30.0, 1.0)] {
            let mut filter = ScalarKalman { estimate: 0.0, variance: 25.0 };
            let (mut x, mut p) = (0.0, 25.0);
            for _ in 0..200 {
                let measured = 1_000.0 + rng.below(500) as f64;
                filter.predict(process);
                filter.correct(measured, noise);
                let precision = 1.0 / (p + process) + 1.0 / noise;
                x = (x / (p + process) + measured / noise) / precision;
                p = 1.0 / precision;
                assert!((filter.estimate - x).abs() < 1e-9 * x, "{filter:?} instead of {x}, {p}");
                assert!((filter.variance - p).abs() < 1e-9 * p, "{filter:?} instead of {x}, {p}");
            }
        }
    }

    /// With Q = R the gain settles at the golden ratio's inverse: g = (P + Q) / (P + Q + R) with P = (1 - g) (P + Q).
    #[test]
    fn the_gain_settles_at_0_618_for_equal_noises() {
        let mut filter = ScalarKalman { estimate: 0.0, variance: 25.0 };
        let mut gain = 0.0;
        for _ in 0..50 {
            filter.predict(4.0);
            gain = filter.correct(1.0, 4.0);
        }
        assert!((gain - 0.618_034).abs() < 1e-6, "{gain}");
    }
}
