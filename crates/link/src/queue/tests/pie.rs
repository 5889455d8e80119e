//! `PIE` against the equations of RFC 8033, worked by hand.

use leobench_base::spec::Limit;

use super::super::pie::{Control, DepartureRate, PieSpec};
use super::*;

fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12, "{found}, not {expected}");
}

#[test]
fn the_probability_follows_the_controller_with_scaled_steps_and_a_cap() {
    let spec = PieSpec::default();
    let mut control = Control::new(&spec);
    // Step = 0.125 (delay - 0.015) + 1.25 (delay - old delay), over the divisor for the probability so far.
    for (delay, step, divisor) in [
        (40, 0.003_125 + 0.05, 2048.0), // at 0
        (40, 0.003_125, 128.0),         // at 2.6e-5
        (60, 0.005_625 + 0.025, 128.0), // at 5.0e-5
        (100, 0.010_625 + 0.05, 32.0),  // at 2.9e-4
        (300, 0.035_625 + 0.25, 8.0),   // at 0.0022
        (600, 0.073_125 + 0.375, 2.0),  // at 0.038
    ] {
        let before = control.probability;
        control.update(&spec, ms(delay));
        assert_near(control.probability, before + step / divisor);
    }
    assert_near(control.probability, 0.261_949_768_066_406_25);
    // From 10 % on, a step is at most 2 %; down it is not limited.
    control.update(&spec, ms(1_000));
    assert_near(control.probability, 0.281_949_768_066_406_25);
    control.update(&spec, ms(900));
    assert_near(control.probability, 0.281_949_768_066_406_25 + 0.110_625 - 0.125);
    control.update(&spec, ms(0));
    assert_near(control.probability, 0.0);
}

#[test]
fn an_idle_queue_lets_the_probability_decay() {
    let spec = PieSpec::default();
    let mut control = Control { probability: 0.5, ..Control::new(&spec) };
    control.update(&spec, ms(0));
    assert_near(control.probability, (0.5 - 0.001_875) * 0.98);
    control.update(&spec, ms(0));
    assert_near(control.probability, ((0.5 - 0.001_875) * 0.98 - 0.001_875) * 0.98);
}

#[test]
fn a_burst_passes_for_150_ms_after_a_quiet_time() {
    let spec = PieSpec::default();
    let mut control = Control::new(&spec);
    let bursts = |control: &mut Control, delay, updates| {
        (0..updates)
            .map(|_| {
                control.update(&spec, ms(delay));
                control.burst
            })
            .collect::<Vec<_>>()
    };
    let falling: Vec<_> = (0..10).rev().map(|left| ms(15 * left)).collect();
    assert_eq!(bursts(&mut control, 40, 10), falling);
    assert_eq!(bursts(&mut control, 40, 3), [ms(0); 3]);
    // It comes back when the probability is zero and both the last delays are below half the target.
    control.probability = 0.0;
    assert_eq!(bursts(&mut control, 7, 2), [ms(0), ms(150)]);
}

#[test]
fn drops_are_neither_too_close_nor_too_far_apart() {
    let spec = PieSpec::default();
    let mut control = Control { probability: 0.125, ..Control::new(&spec) };
    // The first six packets after a drop pass (6 x 0.125 < 0.85), then chance decides.
    assert!((0..6).all(|_| !control.decide(|_| panic!("no draw"))));
    assert!(control.decide(|probability| (probability - 0.125).abs() < 1e-12));
    // Without luck, the 68th is dropped (68 x 0.125 = 8.5).
    assert!((0..67).all(|_| !control.decide(|_| false)));
    assert!(control.decide(|_| panic!("no draw")));
}

#[test]
fn the_departure_rate_is_measured_over_16_kib() {
    let mut rate = DepartureRate::default();
    let mut now = 0;
    let mut depart = |rate: &mut DepartureRate, count, gap| {
        for _ in 0..count {
            now += gap;
            rate.on_departure(at(now), Bytes::new(1_024), Bytes::new(50_000));
        }
    };
    // 16 packets of 1,024 bytes are 2^14 bytes: 16 ms at one in a millisecond, the first of 17 starting the clock.
    depart(&mut rate, 17, 1_000);
    assert_eq!(rate.time_for(Bytes::new(8_192)), ms(8));
    // The next measurement takes 32 ms and counts a quarter.
    depart(&mut rate, 16, 2_000);
    assert_eq!(rate.time_for(Bytes::new(1 << 14)), ms(20));
    // A short queue is not measured.
    let mut rate = DepartureRate::default();
    for number in 0..100 {
        rate.on_departure(at(number), Bytes::new(1_024), Bytes::new(10_000));
    }
    assert_eq!(rate.time_for(Bytes::new(1 << 14)), ms(0));
}

/// Keeps 100 packets waiting for `ticks` milliseconds, one of them sent in each.
fn overload(json: &str, ecn: Ecn, ticks: u64) -> Probe {
    let mut probe = Probe::new(json);
    let mut id = 0;
    for tick in 0..ticks {
        for _ in 0..3 {
            if probe.queue.backlog().packets < 100 {
                let mut packet = packet(id, 1000);
                packet.meta.ecn = ecn;
                probe.offer_packet(1_000 * tick, packet);
                id += 1;
            }
        }
        probe.take(1_000 * tick);
    }
    probe
}

#[test]
fn marks_become_drops_above_ten_percent() {
    for estimate in ["timestamp", "departure_rate"] {
        let json = format!(r#"{{"kind": "pie", "estimate": "{estimate}"}}"#);
        let probe = overload(&json, Ecn::Ect0, 4_000);
        let (marks, drops) = (&probe.fates.marks, &probe.fates.drops);
        assert!(marks.len() > 5 && drops.len() > 5, "{} {}", marks.len(), drops.len());
        assert!(drops.iter().all(|drop| drop.cause.name() == "pie"));
        // A burst of 150 ms passes, and the probability takes time to grow.
        assert!(marks[0].meta.arrival > at(150_000), "{:?}", marks[0].meta.arrival);
        assert!(drops[0].packet.meta.arrival > marks[0].meta.arrival);
        assert!(overload(&json, Ecn::NotEct, 4_000).fates.marks.is_empty());
    }
}

#[test]
fn the_probability_is_forgotten_while_the_queue_is_empty() {
    let mut probe = overload(r#""pie""#, Ecn::NotEct, 4_000);
    while probe.take(4_000_000).is_some() {}
    let before = probe.dropped().len();
    // A minute later, a burst passes again.
    for id in 0..100 {
        probe.offer(64_000_000, 10_000 + id, 1000, 1);
    }
    assert_eq!(probe.dropped().len(), before);
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let refused = |keys: &str, place: &str, problem: &str| {
        assert_refused::<QueueSpec>(&format!(r#"{{"kind": "pie", {keys}}}"#), place, problem);
    };
    refused(r#""target": "0 s""#, "target", "zero");
    refused(r#""update": "0 s""#, "update", "out of range");
    refused(r#""update": "1 ns""#, "update", "out of range");
    refused(r#""alpha": 1e300"#, "alpha", "out of range");
    refused(r#""alpha": 0"#, "alpha", "out of range");
    refused(r#""beta": -1"#, "beta", "out of range");
    refused(r#""ecn_threshold": 1.5"#, "ecn_threshold", "out of range");
    refused(r#""limit": "0 BDP""#, "limit", "zero");
    assert_eq!(PieSpec::default().limit, Limit::Packets(1_000));
}
