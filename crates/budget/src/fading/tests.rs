use leobench_base::decibel::ratio;
use leobench_base::spec::{At, Spec};
use leobench_base::{RngTree, SimDuration, SimTime};

use super::*;
use crate::testing::{assert_near, assert_refused, read};

fn build(json: &str, seed: u64) -> Box<dyn Fading> {
    read::<FadingSpec>(json).unwrap().model().build(&RngTree::new(seed))
}

/// The gains at the first `count` instants of the grid.
fn gains(json: &str, seed: u64, count: usize) -> Vec<f64> {
    let mut fading = build(json, seed);
    let next = |fading: &mut Box<dyn Fading>| fading.advance(fading.next_change());
    (0..count).map(|_| next(&mut fading)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Steps of 1 s and correlation times of 50 ms: what is left of one value in the next is exp(-20).
const INDEPENDENT: &str = r#""correlation": "50 ms", "step": "1 s""#;
const MULTIPATH: &str = r#""multipath_correlation": "50 ms""#;
const SAMPLES: usize = 40_000;

/// The distribution function of independent samples, at some levels, within the Kolmogorov-Smirnov distance that chance
/// exceeds once in 1,000 times: 1.949 / sqrt(n).
fn assert_distribution(json: &str, theory: &[(f64, f64)]) {
    let gains = gains(json, 11, SAMPLES);
    for (level, expected) in theory {
        let share = gains.iter().filter(|gain| *gain <= level).count() as f64 / SAMPLES as f64;
        assert_near(
            &format!("{json} at {level} dB"),
            share,
            *expected,
            1.949 / (SAMPLES as f64).sqrt(),
        );
    }
}

/// The mean power, within four standard errors.
fn assert_mean_power(json: &str) {
    let powers: Vec<_> = gains(json, 12, SAMPLES).into_iter().map(ratio).collect();
    let average = mean(&powers);
    let squares: Vec<_> = powers.iter().map(|it| (it - average) * (it - average)).collect();
    let error = (mean(&squares) / SAMPLES as f64).sqrt();
    let expected = read::<FadingSpec>(json).unwrap().model().mean_power();
    assert!(4.0 * error < 0.1 * expected, "{json}: the sample is too small");
    assert_near(json, average, expected, 4.0 * error);
}

/// The normal distribution function at -2, -1, 0, 1 and 2 standard deviations (any table).
#[test]
fn shadowing_is_log_normal() {
    let json =
        format!(r#"{{"kind": "log_normal", "mean": "-2 dB", "deviation": "3 dB", {INDEPENDENT}}}"#);
    let theory =
        [(-8.0, 0.022_750), (-5.0, 0.158_655), (-2.0, 0.5), (1.0, 0.841_345), (4.0, 0.977_250)];
    assert_distribution(&json, &theory);
    assert_mean_power(&json);
}

/// P(gain <= level) by `scipy.integrate.quad` over the shadowing of `scipy.stats.ncx2(df=2, nc=a²/σ²).cdf(r²/σ²)`, the
/// distribution of Rice (scipy 1.17.1), which Loo 1985 integrates over.
#[test]
fn loo_fading_has_its_distribution() {
    let spec = |direct, deviation, multipath| {
        format!(
            r#"{{"kind": "loo", "direct": "{direct} dB", "deviation": "{deviation} dB", "multipath": "{multipath} dB", {INDEPENDENT}, {MULTIPATH}}}"#
        )
    };
    let open = [
        (-10.0, 0.005_877),
        (-6.0, 0.045_702),
        (-4.0, 0.127_758),
        (-3.0, 0.205_658),
        (-2.0, 0.316_455),
        (-1.0, 0.458_411),
        (0.0, 0.617_167),
        (1.0, 0.766_972),
        (2.0, 0.882_204),
        (3.0, 0.952_173),
    ];
    assert_distribution(&spec(-1, 2, -12), &open);
    assert_mean_power(&spec(-1, 2, -12));
    let shadowed = [
        (-25.0, 0.008_247),
        (-20.0, 0.025_998),
        (-15.0, 0.081_261),
        (-12.0, 0.158_723),
        (-10.0, 0.244_098),
        (-8.0, 0.365_856),
        (-6.0, 0.524_290),
        (-4.0, 0.700_468),
        (-2.0, 0.853_553),
        (1.0, 0.972_566),
    ];
    assert_distribution(&spec(-8, 4, -10), &shadowed);
    assert_mean_power(&spec(-8, 4, -10));
}

/// P(gain <= level) by `scipy.integrate.quad` over the shadowing of 1 - exp(-r²/s²), the distribution of Rayleigh.
#[test]
fn suzuki_fading_has_its_distribution() {
    let json = format!(
        r#"{{"kind": "suzuki", "mean": "-2 dB", "deviation": "4 dB", {INDEPENDENT}, {MULTIPATH}}}"#
    );
    let theory = [
        (-25.0, 0.007_592),
        (-20.0, 0.023_565),
        (-15.0, 0.070_530),
        (-10.0, 0.192_453),
        (-7.0, 0.323_323),
        (-4.0, 0.495_650),
        (-2.0, 0.620_632),
        (0.0, 0.738_868),
        (3.0, 0.877_774),
        (6.0, 0.956_769),
    ];
    assert_distribution(&json, &theory);
    assert_mean_power(&json);
}

/// exp(-t/τ) at 0.5, 1, 2 and 4 s for τ = 2 s, whatever the step. With 200,000 steps of 0.5 s or 0.1 s the standard error of a
/// correlation is at most sqrt(2 τ / T): 0.014 for the shorter run; three of them are 0.042.
#[test]
fn the_correlation_falls_exponentially_whatever_the_step() {
    for (step_ms, tolerance) in [(500, 0.019), (100, 0.042)] {
        let json = format!(
            r#"{{"kind": "log_normal", "deviation": "1 dB", "correlation": "2 s", "step": "{step_ms} ms"}}"#
        );
        let gains = gains(&json, 5, 200_000);
        let power = mean(&gains.iter().map(|gain| gain * gain).collect::<Vec<_>>());
        // Squares have half the correlation time, and a variance of 2: the standard error of their mean is sqrt(2 τ / T).
        assert_near("variance", power, 1.0, tolerance);
        for seconds in [0.5, 1.0, 2.0, 4.0] {
            let lag = (seconds * 1_000.0 / f64::from(step_ms)) as usize;
            let products: Vec<_> = gains.iter().zip(&gains[lag..]).map(|(a, b)| a * b).collect();
            let expected = libm::exp(-seconds / 2.0);
            assert_near(&json, mean(&products) / power, expected, tolerance);
        }
    }
}

/// The first value is drawn from the stationary distribution: mean and variance over seeds, within four standard errors.
#[test]
fn processes_are_stationary_from_the_start() {
    let json =
        r#"{"kind": "log_normal", "mean": "1 dB", "deviation": "3 dB", "correlation": "10 s"}"#;
    let first: Vec<_> = (0..4_000).map(|seed| build(json, seed).gain_db()).collect();
    let average = mean(&first);
    let variance =
        mean(&first.iter().map(|it| (it - average) * (it - average)).collect::<Vec<_>>());
    let count = 4_000.0_f64;
    assert_near("mean", average, 1.0, 4.0 * 3.0 / count.sqrt());
    assert_near("variance", variance, 9.0, 4.0 * 9.0 * (2.0 / count).sqrt());
}

#[test]
fn values_do_not_depend_on_when_they_are_asked_for() {
    for spec in FadingSpec::examples() {
        let [mut often, mut once] = [3, 3].map(|seed| spec.model().build(&RngTree::new(seed)));
        let start = often.gain_db();
        for millis in (0..10_000).step_by(7) {
            often.advance(SimTime::ZERO + SimDuration::from_millis(millis));
        }
        let end = SimTime::ZERO + SimDuration::from_secs(10);
        assert_eq!(often.advance(end), once.advance(end), "{}", spec.kind());
        assert_eq!(often.next_change(), once.next_change());
        assert!(often.next_change() > end);
        assert_ne!(once.gain_db(), start);
        assert_ne!(spec.model().build(&RngTree::new(4)).gain_db(), start, "{}", spec.kind());
        let mean = spec.model().mean_power();
        assert!(mean.is_finite() && mean > 0.0, "{}: {mean}", spec.kind());
    }
}

/// The gain holds between the instants of the grid, which by default are a tenth of the shortest correlation time apart.
#[test]
fn values_change_on_the_grid() {
    let json = r#"{"kind": "log_normal", "deviation": "3 dB", "correlation": "10 s"}"#;
    let mut fading = build(json, 1);
    let first = fading.gain_db();
    assert_eq!(fading.next_change(), SimTime::ZERO + SimDuration::from_secs(1));
    assert_eq!(fading.advance(SimTime::ZERO + SimDuration::from_millis(999)), first);
    assert_ne!(fading.advance(SimTime::ZERO + SimDuration::from_secs(1)), first);
    let fast = r#"{"kind": "loo", "direct": "0 dB", "deviation": "3 dB", "multipath": "-10 dB", "correlation": "10 s", "multipath_correlation": "1 ms"}"#;
    assert_eq!(build(fast, 1).next_change(), SimTime::ZERO + SimDuration::from_millis(1));
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in FadingSpec::examples() {
        assert_eq!(FadingSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[test]
fn wrong_fading_is_refused() {
    let refused = assert_refused::<FadingSpec>;
    refused(
        r#"{"kind": "log_normal", "deviation": "3 dB", "correlation": "0 s"}"#,
        "correlation",
        "zero",
    );
    refused(
        r#"{"kind": "log_normal", "deviation": "-3 dB", "correlation": "1 s"}"#,
        "deviation",
        "out of range",
    );
    refused(
        r#"{"kind": "log_normal", "deviation": "3 dB", "correlation": "1 s", "step": "0 s"}"#,
        "step",
        "zero",
    );
    let rest =
        r#""direct": "0 dB", "deviation": "3 dB", "multipath": "-10 dB", "correlation": "1 s""#;
    refused(
        &format!(r#"{{"kind": "loo", {rest}, "multipath_correlation": "0 s"}}"#),
        "multipath_correlation",
        "zero",
    );
    refused(&format!(r#"{{"kind": "loo", {rest}}}"#), "multipath_correlation", "missing");
    refused(r#"{"kind": "rice"}"#, "kind", "unknown kind");
}
