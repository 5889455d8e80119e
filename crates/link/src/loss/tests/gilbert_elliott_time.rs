use leobench_base::{RngTree, SimTime};

use crate::LossSpec;
use crate::testing::{assert_mean, assert_refused, packet, read};

/// Mean durations of the good and the bad state in seconds, and the stationary share of the bad one.
const GOOD: f64 = 0.2;
const BAD: f64 = 0.05;
const SHARE: f64 = BAD / (GOOD + BAD);
const SPEC: &str = r#"{"kind": "gilbert_elliott_time", "good": "200 ms", "bad": "50 ms"}"#;

/// Whether the packets that end at these times are lost.
fn losses(spec: &str, seed: u64, nanos: impl IntoIterator<Item = u64>) -> Vec<bool> {
    let spec: LossSpec = read(spec).unwrap();
    let mut process = spec.model().build(&RngTree::new(seed));
    let meta = packet(0, 1000).meta;
    nanos.into_iter().map(|at| process.lost(SimTime::from_nanos(at), &meta)).collect()
}

/// A packet every `spacing` nanoseconds, `count` of them.
fn every(spacing: u64, count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(move |index| index * spacing)
}

/// `P(bad at t | bad at 0)`, from Kolmogorov's equations for two states.
fn stays_bad(seconds: f64) -> f64 {
    SHARE + (1.0 - SHARE) * libm::exp(-(1.0 / GOOD + 1.0 / BAD) * seconds)
}

#[test]
fn the_loss_rate_is_the_share_of_bad_time_at_every_spacing() {
    for (spacing, batch) in [(100_000, 5_000_000), (7_000_000, 80_000), (900_000_000, 20_000)] {
        let draws = losses(SPEC, 7, every(spacing, 20 * batch));
        let rate =
            |chunk: &[bool]| chunk.iter().filter(|lost| **lost).count() as f64 / batch as f64;
        let rates: Vec<_> = draws.chunks(batch).map(rate).collect();
        assert_mean(&format!("loss rate at {spacing} ns"), &rates, SHARE, 0.025);
    }
}

#[test]
fn losses_correlate_over_time_as_the_chain_does() {
    // 5 ms between packets, at lags of 5, 20, 40 and 100 ms.
    const BATCH: usize = 500_000;
    let draws = losses(SPEC, 8, every(5_000_000, 40 * BATCH));
    for lag in [1, 4, 8, 20] {
        let both = |chunk: &[bool]| {
            let pairs = chunk.iter().zip(&chunk[lag..]);
            pairs.filter(|(first, second)| **first && **second).count() as f64
                / (chunk.len() - lag) as f64
        };
        let batches: Vec<_> = draws.chunks(BATCH).map(both).collect();
        let theory = SHARE * stays_bad(0.005 * lag as f64);
        assert_mean(&format!("both of two packets lost, {lag} apart"), &batches, theory, 0.02);
    }
}

#[test]
fn bursts_last_as_the_bad_state_does() {
    // Seen every 2 ms, the chain is one in discrete time: the length of a run of losses is geometric.
    const BATCH: usize = 1_000_000;
    let stay = stays_bad(0.002);
    let (mut means, mut longer) = (Vec::new(), Vec::new());
    let draws = losses(SPEC, 9, every(2_000_000, 40 * BATCH));
    for chunk in draws.chunks(BATCH) {
        // The runs at the ends of a batch are cut off and left out.
        let runs: Vec<_> = chunk.split(|lost| !lost).map(<[bool]>::len).collect();
        let whole: Vec<_> = runs[1..runs.len() - 1].iter().filter(|run| **run > 0).collect();
        let count = whole.len() as f64;
        means.push(whole.iter().copied().sum::<usize>() as f64 / count);
        longer.push(whole.iter().filter(|run| ***run > 25).count() as f64 / count);
    }
    assert_mean("packets in a burst", &means, 1.0 / (1.0 - stay), 0.02);
    assert_mean("share of bursts beyond 50 ms", &longer, libm::pow(stay, 25.0), 0.02);
}

#[test]
fn the_chain_starts_stationary_and_moves_on_while_nothing_is_sent() {
    // 20,000 seeds: the loss of a first packet, and of one 10 s after a packet that was lost.
    const SEEDS: u64 = 20_000;
    let (mut first, mut later) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let [at_start, after_idling] = losses(SPEC, seed, [0, 10_000_000_000])[..] else {
            panic!("two packets are two decisions")
        };
        first += f64::from(u8::from(at_start));
        later += f64::from(u8::from(at_start && after_idling));
    }
    let seeds = SEEDS as f64;
    let error = 3.0 * (seeds * SHARE * (1.0 - SHARE)).sqrt();
    assert!((first - seeds * SHARE).abs() < error, "{first} first packets lost");
    let error = 3.0 * (first * SHARE * (1.0 - SHARE)).sqrt();
    assert!((later - first * SHARE).abs() < error, "{later} of {first} lost again");
}

#[test]
fn the_state_at_a_time_does_not_depend_on_who_asks() {
    const MILLI: u64 = 1_000_000;
    let dense = losses(SPEC, 3, every(MILLI, 20_000));
    for step in [2, 7, 333, 4_999] {
        let sparse = losses(SPEC, 3, every(step * MILLI, 20_000 / step as usize));
        let same: Vec<_> =
            dense.iter().copied().step_by(step as usize).take(sparse.len()).collect();
        assert_eq!(sparse, same, "every {step} ms");
    }
    let twice = losses(SPEC, 3, every(MILLI, 20_000).flat_map(|at| [at, at]));
    assert!(twice.chunks(2).zip(&dense).all(|(pair, lost)| pair == [*lost, *lost]));
}

#[test]
fn partial_loss_leaves_the_states_untouched() {
    const PARTIAL: &str =
        r#"{"kind": "gilbert_elliott_time", "good": "200 ms", "bad": "50 ms", "loss_bad": 0.5}"#;
    let bad = losses(SPEC, 4, every(1_000_000, 100_000));
    let partial = losses(PARTIAL, 4, every(1_000_000, 100_000));
    assert!(partial.iter().zip(&bad).all(|(lost, bad)| !lost || *bad), "lost in the good state");
    let [bad, lost] = [bad, partial].map(|seen| seen.iter().filter(|seen| **seen).count() as f64);
    assert!((lost - bad / 2.0).abs() < 3.0 * (bad / 4.0).sqrt(), "{lost} of {bad} lost");
}

#[test]
fn the_losses_of_both_states_add_up() {
    const MIXED: &str = r#"{"kind": "gilbert_elliott_time", "good": "20 ms", "bad": "5 ms",
                            "loss_good": 0.02, "loss_bad": 0.4}"#;
    let draws = losses(MIXED, 5, every(1_000_000, 20_000_000));
    let rate = |chunk: &[bool]| chunk.iter().filter(|lost| **lost).count() as f64 / 500_000.0;
    let rates: Vec<_> = draws.chunks(500_000).map(rate).collect();
    assert_mean("mixed loss rate", &rates, SHARE * 0.4 + (1.0 - SHARE) * 0.02, 0.02);
}

#[test]
fn states_too_short_for_packets_are_refused() {
    for (good, bad, field) in [("0 s", "1 s", "good"), ("1 s", "999 ns", "bad")] {
        let json =
            format!(r#"{{"kind": "gilbert_elliott_time", "good": "{good}", "bad": "{bad}"}}"#);
        assert_refused::<LossSpec>(&json, field, "too short");
    }
}
