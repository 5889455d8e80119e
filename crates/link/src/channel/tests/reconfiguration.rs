//! The reconfigured channel, worked out by hand and against theory.

use leobench_base::spec::TableSpec;
use leobench_base::{BitRate, SimDuration, SimTime};

use super::super::reconfiguration::ReconfigurationSpec;
use super::super::{Channel, ChannelModel, Service};
use crate::testing::{assert_mean, assert_refused, context, read};

const UNIFORM: &str = r#"{"kind": "uniform", "from": "20 ms", "to": "40 ms"}"#;

fn build(json: &str, seed: u64) -> Box<dyn Channel> {
    read::<ReconfigurationSpec>(json).unwrap().build(&context(seed)).unwrap()
}

fn rate(channel: &dyn Channel) -> BitRate {
    match channel.state().service {
        Service::Rate(rate) => rate,
        Service::Opportunities(_) => unreachable!("the channel has a rate"),
    }
}

/// A state: when it begins in seconds, its label, rate in Mbit/s, delay in milliseconds.
type Row = (f64, &'static str, u64, f64);

fn row(at: SimTime, channel: &dyn Channel) -> Row {
    let state = channel.state();
    let mbps = rate(channel).bps() / 1_000_000;
    let label = ["slot", "outage"].into_iter().find(|label| *label == state.label);
    (at.as_secs_f64(), label.unwrap(), mbps, state.delay.as_millis_f64())
}

fn rows(json: &str, seed: u64, count: usize) -> Vec<Row> {
    let mut channel = build(json, seed);
    let mut rows = vec![row(SimTime::ZERO, channel.as_ref())];
    while rows.len() < count {
        let at = channel.next_change().unwrap();
        channel.advance(at);
        rows.push(row(at, channel.as_ref()));
    }
    rows
}

#[test]
fn each_reconfiguration_begins_with_its_outage() {
    let json = r#"{"rate": "50 Mbps", "delay": "30 ms", "outage": "200 ms"}"#;
    assert_eq!(
        rows(json, 1, 5),
        [
            (0.0, "slot", 50, 30.0),
            (12.0, "outage", 0, 30.0),
            (12.2, "slot", 50, 30.0),
            (27.0, "outage", 0, 30.0),
            (27.2, "slot", 50, 30.0),
        ]
    );
    // The reconfiguration 0.1 s before the start: half of its outage is left.
    let json = r#"{"rate": "50 Mbps", "delay": "30 ms", "outage": "200 ms", "every": "10 s", "phase": "9.9 s"}"#;
    assert_eq!(
        rows(json, 1, 3),
        [(0.0, "outage", 0, 30.0), (0.1, "slot", 50, 30.0), (9.9, "outage", 0, 30.0)]
    );
    // One at the start.
    let json = r#"{"rate": "50 Mbps", "delay": "30 ms", "outage": "200 ms", "phase": "0 s"}"#;
    assert_eq!(
        rows(json, 1, 3),
        [(0.0, "outage", 0, 30.0), (0.2, "slot", 50, 30.0), (15.0, "outage", 0, 30.0)]
    );
}

#[test]
fn without_an_outage_slots_follow_each_other() {
    let json = format!(r#"{{"rate": "50 Mbps", "delay": {UNIFORM}}}"#);
    let rows = rows(&json, 1, 5);
    let times: Vec<_> = rows.iter().map(|row| row.0).collect();
    assert_eq!(times, [0.0, 12.0, 27.0, 42.0, 57.0]);
    assert!(
        rows.iter().all(|row| row.1 == "slot" && row.2 == 50 && (20.0..=40.0).contains(&row.3))
    );
    assert!(rows.windows(2).all(|pair| (pair[0].3 - pair[1].3).abs() > 1e-6));
}

#[test]
fn the_next_reconfiguration_ends_an_outage() {
    // Outages of 0.5 s and of 3 s, reconfigurations every 2 s: two long ones in a row make one of 4 s.
    let json = r#"{"rate": "50 Mbps", "delay": "30 ms", "every": "2 s", "phase": "1 s",
        "outage": {"values": ["500 ms", "3 s"]}}"#;
    let rows = rows(json, 1, 400);
    let outages: Vec<_> = rows.windows(2).filter(|pair| pair[0].1 == "outage").collect();
    let lengths = outages.iter().map(|pair| pair[1].0 - pair[0].0);
    let mut joined = 0;
    for length in lengths {
        let rest = (length - 0.5) % 2.0;
        assert!(rest.min(2.0 - rest) < 1e-6, "{length}");
        joined += usize::from(length > 4.0);
    }
    assert!(joined > 10, "{joined} outages outlast two reconfigurations");
}

#[test]
fn packets_wait_or_are_dropped_during_an_outage() {
    for (during, up) in [("hold", true), ("drop", false)] {
        let json = format!(
            r#"{{"rate": "50 Mbps", "delay": "30 ms", "outage": "1 s", "phase": "0 s", "during_outage": "{during}"}}"#
        );
        let channel = build(&json, 1);
        assert_eq!((channel.state().up, rate(channel.as_ref())), (up, BitRate::ZERO));
    }
}

#[test]
fn a_channel_that_never_differs_never_changes() {
    let mut channel = build(r#"{"rate": "50 Mbps", "delay": "0 s", "phase": "random"}"#, 1);
    assert_eq!(channel.next_change(), None);
    assert_eq!(channel.advance(SimTime::MAX).label, "slot");
    let spec = r#"{"rate": "50 Mbps", "delay": "0 s", "phase": "random"}"#;
    assert!(!read::<ReconfigurationSpec>(spec).unwrap().is_random());
}

#[test]
fn an_outage_leaves_the_other_draws_alone() {
    let slots = |outage: &str| {
        let json = format!(
            r#"{{"rate": {{"values": ["10 Mbps", "20 Mbps"]}}, "delay": {UNIFORM}, "outage": {outage},
                "interval": {{"kind": "exponential", "mean": "10 s"}}}}"#
        );
        rows(&json, 5, 100).into_iter().filter(|row| row.1 == "slot").map(|row| (row.2, row.3))
    };
    let with = slots(r#""1 ns""#).take(40);
    assert!(with.eq(slots(r#""0 s""#).take(40)));
}

/// Averages of a channel over batches of 1,000 s: the share of outage, the delay in ms, and the rate in bit/s.
fn averages(json: &str) -> [Vec<f64>; 3] {
    const BATCH: f64 = 1_000.0;
    let mut channel = build(json, 3);
    let mut averages = [vec![], vec![], vec![]];
    let mut now = SimTime::ZERO;
    for batch in 1..=200 {
        let end = SimTime::ZERO + SimDuration::from_secs(1_000 * batch);
        let (mut outage, mut delay, mut bits) = (0.0, 0.0, 0.0);
        while now < end {
            let next = channel.next_change().unwrap().min(end);
            let (span, state) = ((next - now).as_secs_f64(), channel.state());
            outage += if state.label == "outage" { span } else { 0.0 };
            delay += span * state.delay.as_millis_f64();
            bits += span * rate(channel.as_ref()).bps() as f64;
            now = next;
            channel.advance(now);
        }
        for (list, sum) in averages.iter_mut().zip([outage, delay, bits]) {
            list.push(sum / BATCH);
        }
    }
    averages
}

#[test]
fn shares_of_time_are_those_of_theory() {
    const RATES: &str = r#"{"kind": "uniform", "from": "50 Mbps", "to": "150 Mbps"}"#;
    // Outages of 0.3 s on average in 3 s, and never cut.
    let json = format!(
        r#"{{"rate": {RATES}, "delay": {UNIFORM}, "outage": {{"kind": "uniform", "from": "0 s", "to": "600 ms"}},
            "every": "3 s", "phase": "random"}}"#
    );
    let [outage, delay, bits] = averages(&json);
    assert_mean("outage of a grid", &outage, 0.1, 0.01);
    assert_mean("delay of a grid", &delay, 30.0, 0.01);
    assert_mean("rate of a grid", &bits, 100e6 * 0.9, 0.01);
    // Outages of 1 s cut by exponential intervals of 3 s: E[min(1, X)] / E[X] = 1 - exp(-1/3).
    let json = format!(
        r#"{{"rate": {RATES}, "delay": {UNIFORM}, "outage": "1 s",
            "interval": {{"kind": "exponential", "mean": "3 s"}}}}"#
    );
    let [outage, delay, bits] = averages(&json);
    let share = 1.0 - libm::exp(-1.0 / 3.0);
    assert_mean("outage of renewals", &outage, share, 0.02);
    assert_mean("delay of renewals", &delay, 30.0, 0.02);
    assert_mean("rate of renewals", &bits, 100e6 * (1.0 - share), 0.02);
}

#[test]
fn the_start_is_in_equilibrium() {
    // A tenth of all runs starts during an outage of 1.5 s every 15 s: three standard errors of 5,000 runs.
    let json = r#"{"rate": "50 Mbps", "delay": "30 ms", "outage": "1.5 s", "phase": "random"}"#;
    let starts = (0..5_000).filter(|seed| build(json, *seed).state().label == "outage").count();
    assert!((starts as f64 - 500.0).abs() < 3.0 * (500.0f64 * 0.9).sqrt(), "{starts}");
}

#[test]
fn bad_channels_are_refused_by_place() {
    let refused = |rest: &str, place: &str, problem: &str| {
        let json = format!(r#"{{"rate": "50 Mbps", "delay": "30 ms", {rest}}}"#);
        assert_refused::<ReconfigurationSpec>(&json, place, problem);
    };
    refused(r#""every": "0 s""#, "every", "zero");
    refused(r#""outage": "15 s""#, "outage", "as long as the time between reconfigurations, 15 s");
    refused(r#""outage": "2 s", "every": "2 s""#, "outage", "as long as");
    let long = r#""outage": {"kind": "exponential", "mean": "4 s"}, "interval": "4 s""#;
    refused(long, "outage", "as long as");
    refused(r#""interval": "1 s", "every": "2 s""#, "every", "together with `interval`");
    refused(r#""interval": "0 s""#, "interval", "zero");
    let refused = |json: &str, place: &str, problem: &str| {
        assert_refused::<ReconfigurationSpec>(json, place, problem);
    };
    refused(r#"{"rate": "0 bps", "delay": "30 ms"}"#, "rate", "never up");
    refused(r#"{"rate": {"values": ["0 bps"]}, "delay": "30 ms"}"#, "rate", "never up");
    refused(r#"{"rate": "50 Mbps", "delay": "-30 ms"}"#, "delay", "negative");
    let json =
        r#"{"rate": "50 Mbps", "delay": {"kind": "uniform", "from": "40 ms", "to": "20 ms"}}"#;
    refused(json, "delay.from", "above `to`");
    let error = read::<ReconfigurationSpec>(r#"{"rate": "50 Mbps"}"#).unwrap_err();
    assert_eq!(error.to_string(), "delay: is required but missing");
    assert!(ReconfigurationSpec::example().outage.most().is_zero());
}

#[test]
fn the_mean_counts_outages() {
    let json =
        format!(r#"{{"rate": "100 Mbps", "delay": {UNIFORM}, "outage": "1 s", "every": "10 s"}}"#);
    let mean = read::<ReconfigurationSpec>(&json).unwrap().mean(&context(1)).unwrap().unwrap();
    assert_eq!((mean.rate.bps(), mean.delay), (90_000_000, SimDuration::from_millis(30)));
}
