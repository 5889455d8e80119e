use leobench_base::{RngTree, SimTime};

use super::AccessSpec;
use crate::testing::{assert_mean, assert_refused, read};

const MS: f64 = 1e6;

/// Waits in ms of lone packets that are ready at random, 1 s apart on average.
fn waits(json: &str, count: usize) -> Vec<f64> {
    let spec: AccessSpec = read(json).unwrap();
    let mut access = spec.model().build(&RngTree::new(5));
    let mut rng = RngTree::new(6).rng();
    let mut ready = SimTime::ZERO;
    let arrivals = (0..count).map(|_| {
        ready += leobench_base::SimDuration::from_nanos(rng.below(2_000_000_000));
        (access.leaves(ready) - ready).as_nanos() as f64 / MS
    });
    arrivals.collect()
}

fn means(waits: &[f64], power: i32) -> Vec<f64> {
    let size = waits.len() / 100;
    waits
        .chunks(size)
        .map(|batch| {
            batch.iter().map(|wait| libm::pow(*wait, f64::from(power))).sum::<f64>() / size as f64
        })
        .collect()
}

#[test]
fn without_others_the_wait_is_uniform_over_a_frame() {
    let waits = waits(r#"{"kind": "frames", "period": "6 ms"}"#, 100_000);
    assert!(waits.iter().all(|wait| (0.0..6.0).contains(wait)));
    assert_mean("mean", &means(&waits, 1), 3.0, 0.01);
    assert_mean("second moment", &means(&waits, 2), 12.0, 0.01);
}

#[test]
fn frames_of_others_add_a_geometric_number_of_frames() {
    let waits = waits(r#"{"kind": "frames", "period": "5 ms", "wait": "15 ms"}"#, 100_000);
    // Each frame is another's with probability 15 / (15 + 5).
    let busy = 0.75_f64;
    assert_mean("mean", &means(&waits, 1), 2.5 + 15.0, 0.02);
    // Uniform: T^2 / 3. Geometric: T^2 b (1 + b) / (1 - b)^2. Product of the means: twice 2.5 times 15.
    let second = 25.0 / 3.0 + 25.0 * busy * (1.0 + busy) / (0.25 * 0.25) + 2.0 * 2.5 * 15.0;
    assert_mean("second moment", &means(&waits, 2), second, 0.04);
    for frames in 0..8 {
        let longer: Vec<f64> = waits
            .iter()
            .map(|wait| if *wait >= 5.0 * f64::from(frames) { 1.0 } else { 0.0 })
            .collect();
        assert_mean(
            "share beyond a number of frames",
            &means(&longer, 1),
            libm::pow(busy, f64::from(frames)),
            0.04,
        );
    }
}

/// With a correlation, the marginal distribution of `frames_of_others_add_a_geometric_number_of_frames`.
#[test]
fn correlated_frames_of_others_are_geometric_too() {
    let json = r#"{"kind": "frames", "period": "5 ms", "wait": "15 ms", "correlation": "3 s"}"#;
    let waits = waits(json, 400_000);
    assert_mean("mean", &means(&waits, 1), 2.5 + 15.0, 0.02);
    for frames in 1..8 {
        let beyond = 5.0 * f64::from(frames);
        let longer: Vec<f64> =
            waits.iter().map(|wait| if *wait >= beyond { 1.0 } else { 0.0 }).collect();
        let expected = libm::pow(0.75, f64::from(frames));
        assert_mean("share beyond a number of frames", &means(&longer, 1), expected, 0.05);
    }
}

/// The same in a stream that has a packet for every frame: waits do not depend on how many packets there are.
#[test]
fn correlated_waits_of_a_dense_stream_are_geometric_too() {
    let json = r#"{"kind": "frames", "period": "5 ms", "start": "0 ms", "wait": "15 ms", "correlation": "2 s"}"#;
    let spec: AccessSpec = read(json).unwrap();
    let mut access = spec.model().build(&RngTree::new(8));
    let waits: Vec<f64> = (0..4_000_000u64)
        .map(|frame| {
            let ready = SimTime::from_nanos(frame * 5_000_000);
            (access.leaves(ready) - ready).as_nanos() as f64 / MS
        })
        .collect();
    assert_mean("mean", &means(&waits, 1), 15.0, 0.05);
    // 5² b (1 + b) / (1 - b)², b = 0.75.
    assert_mean("second moment", &means(&waits, 2), 525.0, 0.1);
}

#[test]
fn correlated_waits_never_reorder() {
    for correlation in ["1 ms", "20 ms", "1 s"] {
        let json = format!(
            r#"{{"kind": "frames", "period": "2 ms", "wait": "15 ms", "correlation": "{correlation}"}}"#
        );
        let spec: AccessSpec = read(&json).unwrap();
        let mut access = spec.model().build(&RngTree::new(9));
        let times = (0..20_000u64).map(|k| SimTime::from_nanos(k * 700_000));
        let leaves: Vec<_> = times.map(|ready| (ready, access.leaves(ready))).collect();
        assert!(leaves.iter().all(|(ready, leaves)| leaves >= ready));
        assert!(leaves.is_sorted_by_key(|(_, leaves)| *leaves), "{correlation}");
    }
}

/// The orthant probability of two normal numbers of correlation ρ: 1/4 + asin(ρ) / 2π (Sheppard 1899).
///
/// A frame is another's with probability 1/2, so a packet that is ready at the start of one waits if X is above 0.
#[test]
fn loads_are_correlated_as_the_copula_says() {
    let json = r#"{"kind": "frames", "period": "1 ms", "start": "0 ms", "wait": "1 ms", "correlation": "2 s"}"#;
    let spec: AccessSpec = read(json).unwrap();
    let mut access = spec.model().build(&RngTree::new(3));
    let busy: Vec<bool> = (0..400_040u64)
        .map(|second| {
            let ready = SimTime::from_nanos(second * 1_000_000_000);
            access.leaves(ready) > ready
        })
        .collect();
    for lag in [1, 2, 4, 40] {
        let both: Vec<f64> = busy
            .windows(lag + 1)
            .take(400_000)
            .map(|pair| f64::from(u8::from(pair[0] && pair[lag])))
            .collect();
        let correlation = libm::exp(-(lag as f64) / 2.0);
        let expected = 0.25 + libm::asin(correlation) / (2.0 * std::f64::consts::PI);
        assert_mean(&format!("both busy {lag} s apart"), &means(&both, 1), expected, 0.02);
    }
}

/// Two waits in a row differ by the variance of the geometric law twice if independent, and hardly at 1/100 of the
/// correlation time.
#[test]
fn waits_in_a_row_are_alike_if_correlated() {
    let difference = |correlation: &str| {
        let json = format!(
            r#"{{"kind": "frames", "period": "1 ms", "start": "0 ms", "wait": "10 ms"{correlation}}}"#
        );
        let spec: AccessSpec = read(&json).unwrap();
        let mut access = spec.model().build(&RngTree::new(4));
        let mut wait = |millis: u64| {
            let ready = SimTime::from_nanos(millis * 1_000_000);
            (access.leaves(ready) - ready).as_nanos() as f64 / MS
        };
        let squares = (0..20_000u64).map(|pair| {
            // Every 100 s, two packets 1 s apart: no wait takes a second.
            let change = wait(pair * 100_000) - wait(pair * 100_000 + 1_000);
            change * change
        });
        squares.sum::<f64>() / 20_000.0
    };
    // Twice the variance m (m + 1) of the number of frames, m = 10; its standard error is 2 %.
    let independent = difference("");
    assert!((independent / 220.0 - 1.0).abs() < 0.06, "{independent}");
    let correlated = difference(r#", "correlation": "100 s""#);
    // About 220 (1 - ρ), ρ = exp(-1/100), were the waits normal; the skewed tail of the law doubles it at most.
    assert!((1.0..2.0).contains(&(correlated / (220.0 * 0.01))), "{correlated}");
}

#[test]
fn packets_that_wait_leave_together_on_the_grid() {
    let json = r#"{"kind": "frames", "period": "5 ms", "start": "12 ms", "wait": "10 ms"}"#;
    let spec: AccessSpec = read(json).unwrap();
    let mut access = spec.model().build(&RngTree::new(1));
    let leaves: Vec<_> = (0..100_000u64)
        .map(|k| access.leaves(SimTime::from_nanos(k * 1_000_000)).as_nanos())
        .collect();
    assert!(leaves.iter().all(|nanos| nanos % 5_000_000 == 2_000_000), "2 ms is on the grid");
    let mut used = leaves;
    used.dedup();
    // Frames come every 5 ms; a third of them are free, and each free one is used.
    let share = used.len() as f64 / 20_000.0;
    let error = (1.0_f64 / 3.0 * 2.0 / 3.0 / 20_000.0).sqrt();
    assert!((share - 1.0 / 3.0).abs() < 3.0 * error, "{share}");
}

#[test]
fn a_packet_ready_at_the_start_of_a_frame_takes_it() {
    let spec: AccessSpec =
        read(r#"{"kind": "frames", "period": "5 ms", "start": "0 ms"}"#).unwrap();
    let mut access = spec.model().build(&RngTree::new(1));
    let mut leaves = |nanos| access.leaves(SimTime::from_nanos(nanos)).as_nanos();
    assert_eq!(
        [leaves(0), leaves(1), leaves(5_000_000), leaves(5_000_001)],
        [0, 5_000_000, 5_000_000, 10_000_000]
    );
}

#[test]
fn each_reassignment_draws_a_wait() {
    let json = r#"{"kind": "frames", "period": "1 ms", "start": "0 ms", "every": "15 s", "phase": "5 s",
        "wait": {"kind": "uniform", "from": "0 ms", "to": "40 ms"}}"#;
    let spec: AccessSpec = read(json).unwrap();
    let mut access = spec.model().build(&RngTree::new(2));
    // A packet at the start of every hundredth frame: 150 of each assignment, from 5 s on.
    let slots = (0..3_000).map(|slot| {
        let waits = (0..150u64).map(|k| {
            let ready =
                SimTime::from_nanos(5_000_000_000 + slot * 15_000_000_000 + k * 100_000_000);
            (access.leaves(ready) - ready).as_nanos() as f64 / MS
        });
        waits.sum::<f64>() / 150.0
    });
    let slots: Vec<f64> = slots.collect();
    let mean = slots.iter().sum::<f64>() / 3_000.0;
    let spread = slots.iter().map(|slot| (slot - mean) * (slot - mean)).sum::<f64>() / 2_999.0;
    // Between assignments 40^2 / 12; within, (m + m^2) / 150 with m of 20 and m^2 of 40^2 / 3.
    let expected: f64 = 1_600.0 / 12.0 + (20.0 + 1_600.0 / 3.0) / 150.0;
    assert!((mean - 20.0).abs() < 3.0 * (expected / 3_000.0).sqrt(), "{mean}");
    assert!((spread / expected - 1.0).abs() < 0.08, "{spread}, not {expected}");
}

#[test]
fn the_hour_scales_the_wait() {
    let mut day = vec!["1"; 24];
    day[1] = "3";
    let json = format!(
        r#"{{"kind": "frames", "period": "1 ms", "wait": "10 ms", "day": [{}], "day_start": "30 min"}}"#,
        day.join(",")
    );
    let spec: AccessSpec = read(&json).unwrap();
    let mut access = spec.model().build(&RngTree::new(2));
    let mut mean = |from: u64| {
        let waits: Vec<f64> = (0..10_000u64)
            .map(|k| {
                let ready = SimTime::from_nanos(from * 1_000_000_000 + k * 150_000_000);
                (access.leaves(ready) - ready).as_nanos() as f64 / MS
            })
            .collect();
        means(&waits, 1)
    };
    // From 0:30 to 0:55, and from 1:15 to 1:40.
    assert_mean("the hour before", &mean(0), 10.5, 0.05);
    assert_mean("the busy hour", &mean(2_700), 30.5, 0.05);
}

#[test]
fn what_has_no_frames_is_refused() {
    let refused = |json, place, problem| assert_refused::<AccessSpec>(json, place, problem);
    refused(r#"{"kind": "frames", "period": "0 ms"}"#, "period", "is zero");
    refused(r#"{"kind": "frames", "period": "5 ms", "wait": "2 min"}"#, "wait", "too long");
    refused(r#"{"kind": "frames", "period": "5 ms", "every": "0 s"}"#, "every", "is zero");
    let timeless = r#"{"kind": "frames", "period": "5 ms", "correlation": "0 s"}"#;
    refused(timeless, "correlation", "is zero");
    refused(
        r#"{"kind": "frames", "period": "5 ms", "day_start": "24 h"}"#,
        "day_start",
        "not a time",
    );
    refused(r#"{"kind": "frames", "period": "5 ms", "day": [1, 2]}"#, "day", "has 2 values");
    refused(r#"{"kind": "fames", "period": "5 ms"}"#, "kind", "unknown");
}
