//! `RED` against Floyd and Jacobson 1993.

use super::super::red::{Average, Decision, Outcome, RedSpec};
use super::*;

fn decision(json: &str) -> Decision {
    Decision::new(&read::<RedSpec>(json).unwrap())
}

const COUNT: u32 = 100_000;

#[test]
fn the_gap_between_drops_is_uniform_at_a_constant_probability() {
    // Half-way between the thresholds, p_b is half of 0.2: gaps are uniform over 1 to 10 (section 7).
    let mut decision = decision(r#"{"max_probability": 0.2}"#);
    let mut rng = RngTree::new(3).rng();
    let (mut gaps, mut gap) = ([0u32; 10], 0);
    while gaps.iter().sum::<u32>() < COUNT {
        gap += 1;
        if decision.decide(10.0, |p| rng.bernoulli(p)) == Outcome::Early {
            gaps[gap - 1] += 1;
            gap = 0;
        }
    }
    // Binomial with p = 0.1; ten counts within 3.5 standard errors each.
    let error = 3.5 * (f64::from(COUNT) * 0.1 * 0.9).sqrt();
    let off = |count: &u32| (f64::from(*count) - f64::from(COUNT) * 0.1).abs();
    assert!(gaps.iter().all(|count| off(count) < error), "{gaps:?}");
}

#[test]
fn the_probability_grows_between_the_thresholds_and_gently_beyond() {
    let gentle = decision(r#"{"max_probability": 0.1}"#);
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
    assert_eq!((gentle.probability(4.9), gentle.probability(5.0)), (Some(0.0), Some(0.0)));
    assert!(near(gentle.probability(7.5), 0.025) && near(gentle.probability(15.0), 0.1));
    assert!(
        near(gentle.probability(22.5), 0.55) && near(gentle.probability(29.999_999), 0.999_999_94)
    );
    assert_eq!(gentle.probability(30.0), None);
    let abrupt = decision(r#"{"gentle": false}"#);
    assert!(near(abrupt.probability(14.999_999), 0.019_999_998));
    assert_eq!(abrupt.probability(15.0), None);
}

#[test]
fn the_average_follows_the_length_and_falls_while_nothing_waits() {
    let mut average = Average::new(0.25);
    for (length, expected) in [(8.0, 2.0), (8.0, 3.5), (0.0, 2.625)] {
        average.add(length);
        assert!((average.length - expected).abs() < 1e-12);
    }
    // In the time of two packets: 2.625 x 0.75 x 0.75.
    average.idle(2.0);
    assert!((average.length - 1.476_562_5).abs() < 1e-12);
}

/// Fills the queue for a while, lets it run empty, and sends again after `pause` milliseconds; early drops then.
fn drops_after(pause: u64, keys: &str) -> usize {
    let mut probe =
        Probe::new(&format!(r#"{{"kind": "red", "weight": 0.1, "max_probability": 1.0 {keys}}}"#));
    for tick in 0..100 {
        while probe.queue.backlog().packets < 12 {
            probe.offer(1_000 * tick, tick, 1000, 1);
        }
        probe.take(1_000 * tick);
    }
    for tick in 100..113 {
        probe.take(1_000 * tick);
    }
    assert_eq!(probe.queue.backlog().packets, 0);
    probe.fates = Fates::default();
    for id in 0..10 {
        probe.offer(112_000 + 1_000 * pause, id, 1000, 1);
    }
    probe.fates.drops.len()
}

#[test]
fn an_idle_time_counts_as_packets_that_could_have_been_sent() {
    // The average is near 11 and falls by a factor of 0.9 in every millisecond, which a packet was measured to take or is
    // said to take: after 30 ms it is below the lower threshold.
    for keys in ["", r#", "packet_time": "1 ms""#] {
        assert!(drops_after(0, keys) > 2, "{keys}");
        assert_eq!(drops_after(30, keys), 0, "{keys}");
    }
    assert!(drops_after(30, r#", "packet_time": "1 s""#) > 2);
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let refused = |keys: &str, place: &str, problem: &str| {
        assert_refused::<QueueSpec>(&format!(r#"{{"kind": "red", {keys}}}"#), place, problem);
    };
    refused(r#""min_threshold": "15 packets""#, "min_threshold", "is not below `max_threshold`");
    refused(r#""min_threshold": "0 packets""#, "min_threshold", "is zero");
    refused(r#""min_threshold": "5 kB""#, "max_threshold", "has another unit than `min_threshold`");
    refused(r#""min_threshold": "1 BDP""#, "min_threshold", "depends on a link");
    refused(r#""max_threshold": "unlimited""#, "max_threshold", "is not a length");
    refused(r#""max_probability": 1.5"#, "max_probability", "out of range");
    refused(r#""weight": 0"#, "weight", "out of range");
    refused(r#""packet_time": "0 s""#, "packet_time", "is zero");
}
