//! The Kalman filter.

use leobench_base::{RngTree, SimRng};

use crate::congestion::maco::kalman::{Kalman, Noise};

/// A draw from the standard normal distribution (Box and Muller 1958).
fn normal(rng: &mut SimRng) -> f64 {
    let uniform = |rng: &mut SimRng| (rng.below(1 << 52) as f64 + 0.5) / (1_u64 << 52) as f64;
    let (first, second) = (uniform(rng), uniform(rng));
    libm::sqrt(-2.0 * libm::log(first)) * libm::cos(std::f64::consts::TAU * second)
}

/// Measurements of a random walk with increments and errors of these standard deviations.
fn walk(drift: f64, noise: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut rng = RngTree::new(seed).rng();
    let mut state = 1_000.0;
    let mut step = || {
        state += drift * normal(&mut rng);
        state + noise * normal(&mut rng)
    };
    (0..count).map(|_| step()).collect()
}

/// For `Q = R`, `P = (1 + sqrt(5)) / 2 R` and `K = P / (P + R)`, the golden ratio less one.
#[test]
fn the_gain_for_equal_variances_is_the_golden_ratio_less_one() {
    let noise = Noise { increment: 7.0, measurement: 7.0 };
    let golden = f64::midpoint(1.0, libm::sqrt(5.0)) - 1.0;
    assert!((noise.steady_gain() - golden).abs() < 1e-12, "{}", noise.steady_gain());
    let mut filter = Kalman::new(0.0, noise, 1_000);
    (0..30).for_each(|_| filter.update(1.0));
    assert!((filter.gain - golden).abs() < 1e-9, "{}", filter.gain);
    assert!((filter.gain - 0.618).abs() < 1e-3);
}

/// The textbook's recursion in its information form, which adds inverses of variances: the same posterior by another way
/// (Anderson and Moore, "Optimal filtering", 1979, section 6.3).
#[test]
fn gain_and_variance_are_those_of_the_textbook_step_by_step() {
    let (q, r) = (3.0, 11.0);
    let noise = Noise { increment: q, measurement: r };
    let measurements = walk(1.7, 3.3, 200, 1);
    let mut filter = Kalman::new(measurements[0], noise, 1_000);
    let (mut information, mut weighted) = (1.0 / r, measurements[0] / r);
    for measurement in &measurements[1..] {
        let (mean, prior) = (weighted / information, 1.0 / (1.0 / information + q));
        information = prior + 1.0 / r;
        weighted = prior * mean + measurement / r;
        filter.update(*measurement);
        let gain = 1.0 / (information * r);
        assert!((filter.gain - gain).abs() < 1e-12, "{} and {gain}", filter.gain);
        assert!((filter.state.variance - 1.0 / information).abs() < 1e-9);
        assert!((filter.state.estimate - weighted / information).abs() < 1e-7);
    }
}

/// A window of 100,000 innovations, from a start that is far off. An autocovariance has a standard error of about `C_0 /
/// sqrt(n)`, so `Q` one of `sqrt(K^4 + 4 K^2) C_0 / sqrt(n)` or less, and `R` of less than `sqrt(2) C_0 / sqrt(n)`: four of
/// them are allowed, twice, as the errors of innovations of a wrong gain are correlated.
#[test]
fn both_variances_follow_from_the_innovations_of_a_wrong_filter() {
    const COUNT: usize = 100_000;
    for (seed, [drift, noise], start) in [
        (1, [1.0_f64, 2.0_f64], 1.0),
        (2, [1.0, 2.0], 0.01),
        (3, [1.0, 2.0], 100.0),
        (4, [3.0, 1.0], 1.0),
        (5, [0.3, 1.0], 1.0),
    ] {
        let measurements = walk(drift, noise, COUNT + 1, seed);
        let begun = Noise { increment: start, measurement: 1.0 };
        let mut filter = Kalman::new(measurements[0], begun, COUNT as u32);
        measurements[1..].iter().for_each(|measured| filter.update(*measured));
        let gain = begun.steady_gain();
        let (q, r) = (drift * drift, noise * noise);
        let prediction = (gain * gain * r + q) / (gain * (2.0 - gain));
        let tolerance = 8.0 * (prediction + r) / libm::sqrt(COUNT as f64);
        let Noise { increment, measurement } = filter.noise;
        let spread = libm::sqrt(libm::pow(gain, 4.0) + 4.0 * gain * gain) * tolerance;
        println!(
            "Q {q:.3} estimated {increment:.3} (+-{spread:.3}), R {r:.3} estimated {measurement:.3}"
        );
        assert!((increment - q).abs() < spread, "Q {increment}, not {q}");
        assert!((measurement - r).abs() < tolerance * libm::sqrt(2.0), "R {measurement}, not {r}");
    }
}

/// From a start ten times off in either direction, the filter errs little more than one that knows both variances: 32
/// innovations tell them with a standard error of a quarter, 512 of a sixteenth.
#[test]
fn an_adaptive_filter_errs_little_more_than_one_that_knows() {
    let (drift, noise) = (1.0_f64, 3.0_f64);
    let known = Noise { increment: drift * drift, measurement: noise * noise };
    let mut rng = RngTree::new(9).rng();
    let first = 1_000.0;
    for (window, most) in [(32, 1.5), (512, 1.1)] {
        for start in [0.1, 1.0, 10.0] {
            let begun = Noise { increment: start, measurement: 1.0 };
            let mut filters =
                [Kalman::new(first, begun, window), Kalman::new(first, known, u32::MAX)];
            let (mut state, mut errors) = (first, [0.0; 3]);
            for _ in 0..50_000 {
                state += drift * normal(&mut rng);
                let measured = state + noise * normal(&mut rng);
                errors[2] += (measured - state) * (measured - state);
                for (filter, error) in filters.iter_mut().zip(&mut errors) {
                    filter.update(measured);
                    *error += (filter.state.estimate - state) * (filter.state.estimate - state);
                }
            }
            let [adaptive, best, raw] = errors;
            let (of_best, of_none) = (adaptive / best, adaptive / raw);
            println!(
                "{window}: squared errors {of_best:.3} of the best filter, {of_none:.3} of none"
            );
            assert!(of_best < most && of_none < 0.5);
        }
    }
}

/// A rate that never changes, and one that jumps: no variance is negative, and the estimate arrives.
#[test]
fn constant_rates_and_jumps_are_followed() {
    let noise = Noise { increment: 1.0, measurement: 1.0 };
    let mut filter = Kalman::new(100.0, noise, 8);
    for rate in [100.0, 100.0, 0.0, 5_000.0, 5_000.0, 1e12, 1.0] {
        for _ in 0..400 {
            filter.update(rate);
            assert!(filter.noise.increment >= 0.0 && filter.noise.measurement >= 0.0);
            assert!(filter.state.variance >= 0.0 && (0.0..=1.0).contains(&filter.gain));
        }
        assert!(
            (filter.state.estimate - rate).abs() <= 1e-6 * (1.0 + rate),
            "{} {rate}",
            filter.state.estimate
        );
    }
}
