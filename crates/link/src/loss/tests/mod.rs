mod gilbert_elliott_time;

use leobench_base::spec::{At, Spec};
use leobench_base::{RngTree, SimTime};

use super::*;
use crate::testing::{assert_mean, assert_refused, packet, read};

const PACKETS: usize = 10_000;

fn draws(spec: &LossSpec, seed: u64, count: usize) -> Vec<bool> {
    let mut process = spec.model().build(&RngTree::new(seed));
    let meta = packet(0, 1000).meta;
    // One packet per millisecond.
    let times = (0..count as u64).map(|index| SimTime::from_nanos(index * 1_000_000));
    times.map(|now| process.lost(now, &meta)).collect()
}

#[test]
fn every_process_repeats_and_follows_its_seed_if_random() {
    for spec in LossSpec::examples() {
        assert_eq!(LossSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
        assert_eq!(draws(&spec, 1, PACKETS), draws(&spec, 1, PACKETS), "{}", spec.kind());
        let differs = draws(&spec, 1, PACKETS) != draws(&spec, 2, PACKETS);
        assert_eq!(differs, spec.model().is_random(), "{}", spec.kind());
    }
}

#[test]
fn every_process_that_is_lossy_loses_some_packets_and_not_all() {
    for spec in LossSpec::examples() {
        let lost = draws(&spec, 3, PACKETS).into_iter().filter(|lost| *lost).count();
        assert!(lost < PACKETS, "{} lost {lost}", spec.kind());
        assert_eq!(lost > 0, spec.model().is_lossy(), "{} lost {lost}", spec.kind());
    }
}

/// The loss rate of each of 100 batches of packets, and the mean length of the runs of losses that end in it.
fn rates_and_bursts(spec: &LossSpec, batch: usize) -> (Vec<f64>, Vec<f64>) {
    let draws = draws(spec, 7, 100 * batch);
    let mut run = 0u32;
    let batches = draws.chunks(batch).map(|chunk| {
        let (mut lost, mut ended, mut length) = (0u32, 0u32, 0u32);
        for packet in chunk {
            if *packet {
                (run, lost) = (run + 1, lost + 1);
            } else if run > 0 {
                (ended, length, run) = (ended + 1, length + run, 0);
            }
        }
        (f64::from(lost) / batch as f64, f64::from(length) / f64::from(ended))
    });
    batches.unzip()
}

#[test]
fn bernoulli_loses_its_share_in_runs_as_independence_says() {
    let spec = read(r#"{"kind": "bernoulli", "probability": 0.05}"#).unwrap();
    let (rates, bursts) = rates_and_bursts(&spec, 20_000);
    assert_mean("Bernoulli loss rate", &rates, 0.05, 0.02);
    assert_mean("Bernoulli burst length", &bursts, 1.0 / 0.95, 0.02);
}

#[test]
fn gilbert_elliott_has_its_loss_rate_and_burst_length() {
    let spec = read(r#"{"kind": "gilbert_elliott", "p": 0.01, "r": 0.25}"#).unwrap();
    let (rates, bursts) = rates_and_bursts(&spec, 50_000);
    assert_mean("Gilbert-Elliott loss rate", &rates, 0.01 / 0.26, 0.02);
    assert_mean("Gilbert-Elliott burst length", &bursts, 1.0 / 0.25, 0.02);
}

#[test]
fn gilbert_elliott_mixes_the_losses_of_its_states() {
    let spec =
        r#"{"kind": "gilbert_elliott", "p": 0.02, "r": 0.1, "loss_good": 0.01, "loss_bad": 0.4}"#;
    let (rates, _) = rates_and_bursts(&read(spec).unwrap(), 50_000);
    let bad = 0.02 / 0.12;
    assert_mean("mixed loss rate", &rates, bad * 0.4 + (1.0 - bad) * 0.01, 0.02);
}

#[test]
fn gilbert_elliott_starts_stationary() {
    // In its first packet already: 20,000 seeds, three standard errors.
    let spec = read(r#"{"kind": "gilbert_elliott", "p": 0.1, "r": 0.3}"#).unwrap();
    let lost = (0..20_000).filter(|seed| draws(&spec, *seed, 1)[0]).count() as f64;
    let error = (20_000.0_f64 * 0.25 * 0.75).sqrt();
    assert!((lost - 5_000.0).abs() < 3.0 * error, "{lost} of 20,000 lost, not 5,000");
}

#[test]
fn what_is_no_loss_process_is_refused() {
    assert_refused::<LossSpec>(
        r#"{"kind": "bernoulli", "probability": 1.5}"#,
        "probability",
        "out of range",
    );
    assert_refused::<LossSpec>(
        r#"{"kind": "bernoulli", "probability": -0.1}"#,
        "probability",
        "out of range",
    );
    assert_refused::<LossSpec>(
        r#"{"kind": "gilbert_elliott", "p": 0, "r": 0}"#,
        "r",
        "neither state",
    );
    let error = read::<LossSpec>(r#"{"kind": "gilbert_elliott", "p": 0.1}"#).unwrap_err();
    assert_eq!(error.to_string(), "r: is required but missing");
}
