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
    refused(
        r#"{"kind": "frames", "period": "5 ms", "day_start": "24 h"}"#,
        "day_start",
        "not a time",
    );
    refused(r#"{"kind": "frames", "period": "5 ms", "day": [1, 2]}"#, "day", "has 2 values");
    refused(r#"{"kind": "fames", "period": "5 ms"}"#, "kind", "unknown");
}
