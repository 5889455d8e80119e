//! Against closed forms: moments, correlations, a likelihood by the whole covariance.

use leobench_base::spec::{At, Spec};
use leobench_base::{RngTree, SimRng};

use super::{Elapsed, Filter, Grid, ProcessSpec, Walk};

const GRID: Grid = Grid { every: 15.0, phase: 12.0 };

fn spec(json: &str) -> ProcessSpec {
    ProcessSpec::read(&serde_json::from_str(json).unwrap(), &At::ROOT).unwrap()
}

fn refused(json: &str) -> String {
    let value = serde_json::from_str(json).unwrap();
    ProcessSpec::read(&value, &At::ROOT).unwrap_err().to_string()
}

fn whole() -> ProcessSpec {
    spec(
        r#"{"floor": 18, "location": 3, "scale": 0.5, "skewness": 0.2, "tail": 0.8,
        "shares": {"drift": 0.1, "slot": 0.4, "slow": 0.2, "fast": 0.3}, "drift_s": 600,
        "slot_correlation": 0.3, "slow_s": 3, "fast_s": 0.05}"#,
    )
}

fn rng(seed: u64) -> SimRng {
    RngTree::new(seed).rng()
}

#[test]
fn shares_add_up() {
    let error = refused(r#"{"location": 1, "scale": 1, "shares": {"slot": 0.5, "fast": 0.4}}"#);
    assert!(error.contains("shares") && error.contains("add up to 0.9"), "{error}");
    assert!(refused(r#"{"location": 1, "scale": 0, "shares": {"fast": 1}}"#).contains("scale"));
}

#[test]
fn a_value_unwarps_to_its_number() {
    let spec = whole();
    for z in [-3.5, -1.0, 0.0, 0.7, 4.0] {
        let (back, log_slope) = spec.unwarp(spec.warp(z)).unwrap();
        assert!((back - z).abs() < 1e-9, "{z} {back}");
        let step = 1e-5;
        let slope = 2.0 * step / (spec.warp(z + step) - spec.warp(z - step));
        assert!((log_slope - libm::log(slope)).abs() < 1e-6, "{z}");
    }
    assert_eq!(spec.unwarp(18.0), None);
    assert_eq!(spec.unwarp(f64::NAN), None);
}

/// Jones and Pewsey 2009: without skewness and with a tail of 1 the logarithm is normal.
#[test]
fn the_plainest_warp_is_log_normal() {
    let spec = spec(r#"{"location": 2, "scale": 0.5, "shares": {"fast": 1}}"#);
    for z in [-2.0, 0.0, 1.5] {
        assert!((spec.warp(z) - libm::exp(2.0 + 0.5 * z)).abs() < 1e-9);
    }
}

/// Means over many walks of the products of numbers at two times.
#[test]
fn the_parts_forget_as_they_should() {
    let spec = whole();
    let at = [(0.01, 0), (1.0, 0), (5.0, 1), (30.0, 2)];
    for (seconds, slots) in at {
        let mut rng = rng(7);
        let (mut product, mut square) = (0.0, 0.0);
        let count = 40_000;
        for _ in 0..count {
            let mut walk = Walk::new(spec.clone(), &mut rng);
            let z = |walk: &Walk| spec.unwarp(walk.value()).unwrap().0;
            let before = z(&walk);
            walk.advance(Elapsed { seconds, slots }, &mut rng);
            product += before * z(&walk) / f64::from(count);
            square += z(&walk) * z(&walk) / f64::from(count);
        }
        let within_slot = if slots == 0 { 0.2 * libm::exp(-seconds / 3.0) } else { 0.0 };
        let slot = 0.4 * libm::pow(0.3, f64::from(slots));
        let fast = 0.3 * libm::exp(-seconds / 0.05);
        let expected = 0.1 * libm::exp(-seconds / 600.0) + slot + within_slot + fast;
        assert!((product - expected).abs() < 0.02, "{seconds} s: {product} {expected}");
        assert!((square - 1.0).abs() < 0.03, "{square}");
    }
}

/// In many small steps as in a large one, but for the numbers drawn; a fast part without a time constant holds.
#[test]
fn a_fast_part_without_a_time_constant_is_drawn_every_resolution() {
    let spec = spec(r#"{"location": 0, "scale": 1, "shares": {"fast": 1}, "resolution_s": 0.02}"#);
    let mut rng = rng(3);
    let mut walk = Walk::new(spec, &mut rng);
    let mut values = vec![walk.value()];
    for _ in 0..8 {
        walk.advance(Elapsed { seconds: 0.005, slots: 0 }, &mut rng);
        values.push(walk.value());
    }
    let changes = values.windows(2).map(|pair| pair[0].to_bits() != pair[1].to_bits());
    let changes: Vec<_> = changes.collect();
    assert_eq!(changes, [false, false, false, true, false, false, false, true]);
}

/// The density of all numbers at once, by the determinant and the inverse of their covariance.
#[test]
fn the_likelihood_is_that_of_the_whole_covariance() {
    let spec = whole();
    let times = [100.0, 100.02, 101.0, 103.0, 119.0, 140.0];
    let mut rng = rng(5);
    let values = Filter::new(spec.clone(), GRID).draw(&times, &mut rng);
    let mut filter = Filter::new(spec.clone(), GRID);
    let mut log_likelihood = 0.0;
    for (time, value) in times.iter().zip(&values) {
        filter.advance(*time);
        log_likelihood += filter.observe(*value).unwrap().log_density;
    }
    assert!((log_likelihood - by_covariance(&spec, &times, &values)).abs() < 1e-8);
}

fn by_covariance(spec: &ProcessSpec, times: &[f64], values: &[f64]) -> f64 {
    let covariance = |i: usize, j: usize| {
        let (first, last) = (times[i.min(j)], times[i.max(j)]);
        let slots = GRID.slot(last) - GRID.slot(first);
        let elapsed = Elapsed { seconds: last - first, slots: u32::try_from(slots).unwrap() };
        let each = spec.correlations(elapsed).into_iter().zip(spec.variances());
        each.map(|(correlation, variance)| correlation * variance).sum::<f64>()
    };
    let unwarped: Vec<_> = values.iter().map(|value| spec.unwarp(*value).unwrap()).collect();
    // Gaussian elimination of the covariance beside the numbers.
    let count = times.len();
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|i| (0..count).map(|j| covariance(i, j)).chain([unwarped[i].0]).collect())
        .collect();
    let mut log_determinant = 0.0;
    for pivot in 0..count {
        log_determinant += libm::log(rows[pivot][pivot]);
        for i in pivot + 1..count {
            let factor = rows[i][pivot] / rows[pivot][pivot];
            let above = rows[pivot].clone();
            for (cell, above) in rows[i].iter_mut().zip(above) {
                *cell -= factor * above;
            }
        }
    }
    let square: f64 =
        rows.iter().enumerate().map(|(i, row)| row[count] * row[count] / row[i]).sum();
    let slopes: f64 = unwarped.iter().map(|(_, log_slope)| log_slope).sum();
    let constant = count as f64 * libm::log(2.0 * std::f64::consts::PI);
    slopes - 0.5 * (constant + log_determinant + square)
}

/// Draws of what comes next, given what was, have the mean and the spread that the filter states.
#[test]
fn draws_go_on_from_what_is_known() {
    let spec = whole();
    let mut filter = Filter::new(spec.clone(), GRID);
    for (time, value) in [(100.0, 60.0), (100.5, 65.0), (101.0, 58.0)] {
        filter.advance(time);
        filter.observe(value).unwrap();
    }
    let mut rng = rng(11);
    let count = 20_000;
    let (mut mean, mut square) = (0.0, 0.0);
    for _ in 0..count {
        let z = spec.unwarp(filter.draw(&[103.0], &mut rng)[0]).unwrap().0;
        mean += z / f64::from(count);
        square += z * z / f64::from(count);
    }
    let mut next = filter.clone();
    next.advance(103.0);
    let expected = next.observe(60.0).unwrap();
    assert!((mean - expected.mean).abs() < 0.03, "{mean} {expected:?}");
    let deviation = (square - mean * mean).sqrt();
    assert!((deviation - expected.deviation).abs() < 0.02, "{deviation} {expected:?}");
}

#[test]
fn what_cannot_be_teaches_nothing() {
    let mut filter = Filter::new(whole(), GRID);
    filter.advance(100.0);
    assert_eq!(filter.observe(17.0), None);
    let fresh = Filter::new(whole(), GRID).observe(40.0);
    assert_eq!(filter.observe(40.0), fresh);
}
