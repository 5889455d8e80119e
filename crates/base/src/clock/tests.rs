use super::*;
use crate::spec::{At, Spec, SpecError};

const EVERY: SimDuration = SimDuration::from_secs(15);
const PHASE: Phase = Phase::Fixed(SimDuration::from_secs(12));

fn seconds(secs: f64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs_f64(secs)
}

fn read(json: &str) -> Result<ClockSpec, SpecError> {
    ClockSpec::read(&serde_json::from_str(json).unwrap(), &At::ROOT)
}

fn build(json: &str, seed: u64) -> Clock {
    read(json).unwrap().build(EVERY, PHASE, &RngTree::new(seed))
}

/// The instants up to `end`.
fn instants(clock: &mut Clock, end: f64) -> Vec<f64> {
    let mut now = SimTime::ZERO;
    std::iter::from_fn(|| {
        now = clock.next(now);
        (now <= seconds(end)).then_some(now.as_secs_f64())
    })
    .collect()
}

#[test]
fn a_grid_is_the_phase_and_all_multiples_of_the_period() {
    let instants = |json| instants(&mut build(json, 1), 60.0);
    assert_eq!(instants("{}"), [12.0, 27.0, 42.0, 57.0]);
    assert_eq!(instants(r#"{"phase": "42 s"}"#), [12.0, 27.0, 42.0, 57.0]);
    assert_eq!(instants(r#"{"every": "20 s"}"#), [12.0, 32.0, 52.0]);
    assert_eq!(instants(r#"{"every": "20 s", "phase": "0 s"}"#), [20.0, 40.0, 60.0]);
    for (phase, age) in [(0, 0), (12, 3), (42, 3), (14, 1), (15, 0)] {
        let grid = Grid::new(EVERY, SimDuration::from_secs(phase));
        assert_eq!(grid.age_at_start(), SimDuration::from_secs(age), "{phase}");
    }
}

#[test]
fn the_next_instant_is_later_than_the_given() {
    let grid = Grid::new(EVERY, SimDuration::from_secs(12));
    let nanosecond = SimDuration::from_nanos(1);
    for (after, next) in [
        (seconds(0.0), 12.0),
        (seconds(12.0) - nanosecond, 12.0),
        (seconds(12.0), 27.0),
        (seconds(12.0) + nanosecond, 27.0),
        (seconds(1e6 + 2.0), 1e6 + 17.0),
    ] {
        assert_eq!(grid.next(after), seconds(next), "{after}");
    }
    assert_eq!(grid.next(SimTime::MAX), SimTime::MAX);
    let mut renewals = build(r#"{"interval": {"kind": "exponential", "mean": "1 ms"}}"#, 1);
    let mut now = SimTime::ZERO;
    for _ in 0..1_000 {
        let next = renewals.next(now);
        assert!(next > now);
        assert_eq!(renewals.next(now), next, "asked again");
        assert_eq!(renewals.next(next - nanosecond), next);
        now = next;
    }
    let mut leaping = build(r#"{"interval": {"kind": "exponential", "mean": "1 ms"}}"#, 1);
    assert_eq!(leaping.next(now), renewals.next(now), "one leap ends where many steps do");
    assert_eq!(build(r#"{"interval": "1000000 h"}"#, 1).next(SimTime::MAX), SimTime::MAX);
}

#[test]
fn a_random_phase_is_uniform_within_the_period() {
    // 2,000 clocks: the mean of uniform phases has a standard error of 15 / sqrt(12 * 2000) s.
    let first = |seed| build(r#"{"phase": "random"}"#, seed).next(SimTime::ZERO).as_secs_f64();
    let mean = (0..2_000).map(first).sum::<f64>() / 2_000.0;
    assert!((mean - 7.5).abs() < 3.0 * 15.0 / 24_000f64.sqrt(), "{mean}");
}

#[test]
fn renewals_are_in_equilibrium_from_the_start() {
    // In equilibrium t / mean instants are expected in (0, t], for every t, and age and rest have the same mean,
    // E[X²] / (2 E[X]). A process that began with the run would have none in half a fixed interval.
    const RUNS: u64 = 20_000;
    for (interval, mean, square) in [
        (r#""2 s""#, 2.0, 4.0),
        (r#"{"kind": "uniform", "from": "1 s", "to": "3 s"}"#, 2.0, 4.0 + 1.0 / 3.0),
        (r#"{"kind": "exponential", "mean": "2 s"}"#, 2.0, 8.0),
        (r#"{"values": ["1 s", "3 s"]}"#, 2.0, 5.0),
    ] {
        let json = format!(r#"{{"interval": {interval}}}"#);
        let assert_near = |what: &str, numbers: Vec<f64>, theory: f64| {
            let average = numbers.iter().sum::<f64>() / RUNS as f64;
            let squares = numbers.iter().map(|number| (number - average) * (number - average));
            let error = (squares.sum::<f64>() / RUNS as f64 / RUNS as f64).sqrt();
            assert!((average - theory).abs() < 3.0 * error, "{interval} {what}: {average}");
        };
        for time in [0.5, 1.0, 2.5] {
            let counts = (0..RUNS).map(|seed| instants(&mut build(&json, seed), time).len() as f64);
            assert_near("count", counts.collect(), time / mean);
        }
        let ages = (0..RUNS).map(|seed| build(&json, seed).age_at_start().as_secs_f64());
        assert_near("age", ages.collect(), square / (2.0 * mean));
        let rests = (0..RUNS).map(|seed| build(&json, seed).next(SimTime::ZERO).as_secs_f64());
        assert_near("rest", rests.collect(), square / (2.0 * mean));
    }
}

#[test]
fn intervals_of_no_length_last_a_nanosecond() {
    let mut clock = build(r#"{"interval": {"values": ["0 s", "0 s", "0 s", "2 ns"]}}"#, 1);
    assert!(clock.next(SimTime::from_nanos(1_000)) > SimTime::from_nanos(1_000));
}

#[test]
fn specifications_know_their_mean_and_whether_they_are_random() {
    for (json, mean, random) in [
        ("{}", 15.0, false),
        (r#"{"every": "20 s"}"#, 20.0, false),
        (r#"{"phase": "random"}"#, 15.0, true),
        (r#"{"interval": "2 s"}"#, 2.0, true),
        (r#"{"interval": {"kind": "uniform", "from": "1 s", "to": "3 s"}}"#, 2.0, true),
    ] {
        let spec = read(json).unwrap();
        assert_eq!(spec.mean_interval(EVERY), SimDuration::from_secs_f64(mean), "{json}");
        assert_eq!(spec.is_random(), random, "{json}");
        let differ = (1..9).any(|seed| {
            instants(&mut build(json, seed), 60.0) != instants(&mut build(json, 0), 60.0)
        });
        assert_eq!(differ, random, "{json}");
        assert_eq!(ClockSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[track_caller]
fn refused(json: &str, message: &str) {
    assert_eq!(read(json).unwrap_err().to_string(), message);
}

#[test]
fn bad_clocks_are_refused_by_place() {
    refused(r#"{"every": "0 s"}"#, "every = \"0 s\": is zero; allowed: a time above zero");
    refused(r#"{"interval": "0 s"}"#, "interval = \"0 s\": is zero; allowed: times above zero");
    let beside = "is given together with `interval`, which replaces the grid; \
                  allowed: either `every` and `phase`, or `interval`";
    refused(r#"{"every": "1 s", "interval": "2 s"}"#, &format!("every = \"1 s\": {beside}"));
    refused(r#"{"phase": "1 s", "interval": "2 s"}"#, &format!("phase = \"1 s\": {beside}"));
    refused(
        r#"{"phase": "rnd"}"#,
        "phase = \"rnd\": does not start with a number; allowed: a time with its unit, such as \"20 ms\", or \"random\"",
    );
}
