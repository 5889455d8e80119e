//! The fitted channel against the closed forms of its parts.

use leobench_base::spec::{At, Spec};
use leobench_base::{BitRate, Direction, RngTree, SimDuration, SimTime};

use super::super::starlink::StarlinkSpec;
use super::super::starlink::fit::{FITS, FitSpec};
use super::super::{Channel, ChannelContext, ChannelModel, ChannelState, Service};
use crate::process::ProcessSpec;
use crate::testing::{Folder, assert_mean, assert_refused, read};

const DELAY: &str = r#"{"floor": 18, "location": 3, "scale": 0.5, "skewness": 0.2, "tail": 0.9,
    "shares": {"drift": 0.1, "slot": 0.4, "slow": 0.2, "fast": 0.3}, "drift_s": 600,
    "slot_correlation": 0.3, "slow_s": 3, "fast_s": 0.05}"#;
const UP: &str = r#"{"location": 2.3, "scale": 0.4, "shares": {"slot": 0.7, "fast": 0.3}}"#;
const DOWN: &str =
    r#"{"location": 5, "scale": 0.3, "shares": {"slot": 1}, "slot_correlation": 0.6}"#;
const LOSS: &str = r#"{"clean": 0.01, "lossy": 0.2, "to_lossy": 0.1, "to_clean": 0.4}"#;
/// The rates and the delay of a fit without them.
const GIVEN: &str = r#""uplink_rate": "15 Mbps", "downlink_rate": "150 Mbps", "delay": "20 ms""#;

/// A fit in a folder of its own.
struct Fitted(Folder);

impl Fitted {
    fn new(name: &str, parts: &str) -> Self {
        let folder = Folder::new(name);
        let head = r#""format": "leobench-fit", "version": 1, "name": "test""#;
        folder.write("test.json", format!("{{{head}, {parts}}}"));
        Self(folder)
    }

    /// A fit of everything but loss and outages.
    fn whole(name: &str) -> Self {
        Self::new(
            name,
            &format!(
                r#""delay": {{"process": {DELAY}}}, "uplink": {{"capacity": {UP}}},
                "downlink": {{"capacity": {DOWN}}}"#
            ),
        )
    }

    fn context(&self, seed: u64) -> ChannelContext {
        ChannelContext { rng: RngTree::new(seed), ..self.0.context() }
    }

    fn spec(rest: &str) -> StarlinkSpec {
        let comma = if rest.is_empty() { "" } else { ", " };
        read(&format!(r#"{{"fit": "test.json"{comma}{rest}}}"#)).unwrap()
    }

    fn build(&self, rest: &str, seed: u64) -> Box<dyn Channel> {
        Self::spec(rest).build(&self.context(seed)).unwrap()
    }

    /// The field, problem and remedy of the refusal.
    fn refused(&self, rest: &str) -> String {
        let fault = Self::spec(rest).build(&self.context(1)).err().unwrap();
        format!("{}: {}; {}", fault.field, fault.problem, fault.allowed)
    }
}

fn process(json: &str) -> ProcessSpec {
    ProcessSpec::read(&serde_json::from_str(json).unwrap(), &At::ROOT).unwrap()
}

fn bps(state: &ChannelState) -> f64 {
    match &state.service {
        Service::Rate(rate) => rate.bps() as f64,
        Service::Opportunities(_) => unreachable!("the channel has rates"),
    }
}

fn seconds(secs: f64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs_f64(secs)
}

/// The numbers behind delay, uplink and downlink, at the present instant.
fn numbers(channel: &dyn Channel) -> [f64; 3] {
    let [up, down] = Direction::BOTH.map(|direction| channel.state_of(direction));
    assert_eq!(up.delay, down.delay);
    let values = [2.0 * up.delay.as_millis_f64(), bps(up) / 1e6, bps(down) / 1e6];
    let specs = [DELAY, UP, DOWN].map(process);
    std::array::from_fn(|index| specs[index].unwarp(values[index]).unwrap().0)
}

#[test]
fn values_have_the_distribution_of_the_fit() {
    let fit = Fitted::whole("marginals");
    // The normal quantiles of 5, 50 and 95 %.
    let quantiles = [(-1.644_854, 0.05), (0.0, 0.5), (1.644_854, 0.95)];
    for at in [0.0, 7.313] {
        let mut below = [[0.0; 3]; 3];
        let seeds = 4_000;
        for seed in 0..seeds {
            let mut channel = fit.build(r#""step": "1 s""#, seed);
            channel.advance(seconds(at));
            for (counts, z) in below.iter_mut().zip(numbers(channel.as_ref())) {
                for (count, (quantile, _)) in counts.iter_mut().zip(quantiles) {
                    *count += if z < quantile { 1.0 / seeds as f64 } else { 0.0 };
                }
            }
        }
        for counts in below {
            for (share, (_, expected)) in counts.into_iter().zip(quantiles) {
                let error: f64 = expected * (1.0 - expected) / seeds as f64;
                assert!((share - expected).abs() < 4.0 * error.sqrt(), "{share} {expected}");
            }
        }
    }
}

/// The run starts three seconds after a slot began, so that 12 and 27 s later others begin.
#[test]
fn values_forget_by_the_times_and_slots_of_the_fit() {
    let fit = Fitted::whole("correlations");
    let lags = [(0.1, 0), (2.0, 0), (11.0, 0), (13.0, 1), (30.0, 2)];
    let seeds = 4_000;
    let mut products = [[0.0; 3]; 5];
    let mut across = 0.0;
    for seed in 0..seeds {
        let mut channel = fit.build(r#""step": "100 ms""#, seed);
        let first = numbers(channel.as_ref());
        across += (first[0] * first[1] + first[1] * first[2]) / f64::from(2 * seeds as u32);
        for (sums, (lag, _)) in products.iter_mut().zip(lags) {
            channel.advance(seconds(lag));
            for ((sum, then), now) in sums.iter_mut().zip(first).zip(numbers(channel.as_ref())) {
                *sum += then * now / seeds as f64;
            }
        }
    }
    // Products of standard normal numbers have a variance of at most 2.
    let tolerance = 4.0 * (2.0 / seeds as f64).sqrt();
    for (found, (lag, slots)) in products.into_iter().zip(lags) {
        let slot = |correlation: f64| libm::pow(correlation, f64::from(slots));
        let within = if slots == 0 { 0.2 * libm::exp(-lag / 3.0) } else { 0.0 };
        let delay = 0.1 * libm::exp(-lag / 600.0) + 0.4 * slot(0.3) + within;
        let fast = 0.3 * libm::exp(-lag / 0.05);
        let expected = [delay + fast, 0.7 * slot(0.0), slot(0.6)];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < tolerance, "{lag} s: {found} {expected}");
        }
    }
    assert!(across.abs() < tolerance, "delay and capacities depend on each other: {across}");
}

/// The share of the variance between slots: the means of slots have the variances of the parts that outlast a slot.
#[test]
fn slots_hold_their_share_of_the_variance() {
    let fit = Fitted::whole("between");
    let slots = 200;
    let mut shares = Vec::new();
    for seed in 0..100 {
        let mut channel = fit.build(r#""phase": "0 s", "step": "500 ms""#, seed);
        let mut means = Vec::new();
        let mut all = Vec::new();
        for slot in 0..slots {
            let levels: Vec<f64> = (0..15)
                .map(|second| {
                    channel.advance(seconds(f64::from(15 * slot + second) + 0.5));
                    numbers(channel.as_ref())[1]
                })
                .collect();
            means.push(levels.iter().sum::<f64>() / 15.0);
            all.extend(levels);
        }
        let variance = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (values.len() - 1) as f64
        };
        shares.push(variance(&means) / variance(&all));
    }
    // 0.7 of the level, and a fifteenth of the 0.3 that differ from second to second.
    assert_mean("share between slots", &shares, 0.7 + 0.3 / 15.0, 0.02);
}

#[test]
fn loss_follows_the_chain_of_slots_in_each_direction() {
    let fit = Fitted::new("loss", &format!(r#""uplink": {{"loss": {LOSS}}}"#));
    let mut channel = fit.build(&format!(r#"{GIVEN}, "every": "1 s""#), 1);
    let mut batches = Vec::new();
    let (mut left, mut lossy) = (0.0, 0.0);
    let mut second = 0.5;
    for _ in 0..100 {
        let mut share = 0.0;
        for _ in 0..2_000 {
            let is_lossy = channel.state().loss > 0.1;
            assert!([0.01, 0.2].contains(&channel.state().loss));
            assert!(channel.state_of(Direction::Backward).loss <= 0.0);
            share += f64::from(u8::from(is_lossy)) / 2_000.0;
            second += 1.0;
            channel.advance(seconds(second));
            lossy += f64::from(u8::from(is_lossy));
            left += f64::from(u8::from(is_lossy && channel.state().loss < 0.1));
        }
        batches.push(share);
    }
    assert_mean("lossy slots", &batches, 0.1 / 0.5, 0.03);
    let rate = left / lossy;
    assert!((rate - 0.4).abs() < 4.0 * (0.24f64 / lossy).sqrt(), "{rate}");
}

/// Begin and end of the outages up to a time, in seconds.
fn outages(channel: &mut dyn Channel, end: f64) -> Vec<[f64; 2]> {
    let mut found: Vec<[f64; 2]> = Vec::new();
    let mut was_up = true;
    let mut now = SimTime::ZERO;
    while now < seconds(end) {
        let state = channel.state();
        let other = channel.state_of(Direction::Backward);
        assert_eq!(
            (state.up, state.loss >= 1.0, bps(state) <= 0.0),
            (state.up, !state.up, !state.up)
        );
        assert_eq!((state.up, &state.label), (other.up, &other.label));
        match (was_up, state.up) {
            (true, false) => found.push([now.as_secs_f64(), f64::INFINITY]),
            (false, true) => found.last_mut().unwrap()[1] = now.as_secs_f64(),
            _ => {}
        }
        was_up = state.up;
        now = channel.next_change().unwrap();
        channel.advance(now);
    }
    found.retain(|[_, until]| until.is_finite());
    found
}

/// Outages at any time are the busy periods of a queue with as many servers as needed: the share of time without one is
/// exp(-rate x mean length), by Poisson, and they begin at the rate times that share.
#[test]
fn outages_at_any_time_take_the_share_of_theory() {
    let parts = r#""outages": {"rate_per_s": 0.1, "length": {"median_s": 0.8, "sigma": 0.5}, "shortest_s": 0.5}"#;
    let fit = Fitted::new("outages", parts);
    let open = libm::exp(-0.1 * mean_of_truncated(0.8, 0.5, 0.5));
    let (mut shares, mut begins) = (Vec::new(), Vec::new());
    for seed in 0..100 {
        let found = outages(fit.build(GIVEN, seed).as_mut(), 5_000.0);
        shares.push(found.iter().map(|[from, to]| to - from).sum::<f64>() / 5_000.0);
        begins.push(found.len() as f64 / 5_000.0);
        assert!(found.iter().all(|[from, to]| *from == 0.0 || to - from > 0.5 - 1e-6));
    }
    assert_mean("time in outages", &shares, 1.0 - open, 0.02);
    assert_mean("outages per second", &begins, 0.1 * open, 0.02);
}

/// The mean of a log-normal number that is at least `least`, by summing over its normal number.
fn mean_of_truncated(median: f64, sigma: f64, least: f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in -80_000..=80_000 {
        let z = f64::from(step) / 10_000.0;
        let value = median * libm::exp(sigma * z);
        let weight = if value >= least { libm::exp(-z * z / 2.0) } else { 0.0 };
        sum += weight * value;
        weights += weight;
    }
    sum / weights
}

#[test]
fn outages_at_slots_begin_soon_after_them() {
    let parts = r#""outages": {"at_boundary": 0.3, "within_s": 2, "length": {"median_s": 0.4}}"#;
    let fit = Fitted::new("boundaries", parts);
    let found = outages(fit.build(GIVEN, 1).as_mut(), 15_000.0 * 10.0);
    for [from, to] in &found {
        let since = (from - 12.0).rem_euclid(15.0);
        assert!((-1e-9..2.0).contains(&since), "{from}");
        assert!((to - from - 0.4).abs() < 1e-6);
    }
    let share = found.len() as f64 / 10_000.0;
    assert!((share - 0.3).abs() < 4.0 * (0.21f64 / 10_000.0).sqrt(), "{share}");
}

/// Every interruption is 40 ms long and begins in second 4 to 5 of a slot; outages come besides.
#[test]
fn interruptions_begin_at_their_time_of_the_slot() {
    let parts = r#""outages": {"rate_per_s": 0.01, "length": {"median_s": 1}},
        "interruptions": {"at_boundary": 0.3, "after_s": 4, "within_s": 1, "length": {"median_s": 0.04}}"#;
    let fit = Fitted::new("interruptions", parts);
    let slots = 10_000.0;
    let found = outages(fit.build(GIVEN, 1).as_mut(), slots * 15.0);
    let short: Vec<_> = found.iter().filter(|[begin, end]| end - begin < 0.041).collect();
    for [begin, end] in &short {
        let age = (begin - 12.0).rem_euclid(15.0);
        // One that an outage overlaps begins or ends with it.
        assert!((4.0..5.05).contains(&age) && end - begin > 0.0, "{begin} {age}");
    }
    // One second in a hundred is in an outage: 1 % of them are hidden, 3 standard errors are 140.
    let count = short.len() as f64;
    assert!((count - 0.3 * slots * 0.99).abs() < 140.0, "{count}");
    let long = (found.len() - short.len()) as f64;
    assert!((long - 0.01 * slots * 15.0 * 0.995).abs() < 120.0, "{long}");
}

/// As many runs start in an outage as the share of time that outages take.
#[test]
fn the_start_is_in_equilibrium() {
    let parts = r#""outages": {"rate_per_s": 0.02, "at_boundary": 0.5, "length": {"median_s": 4}}"#;
    let fit = Fitted::new("equilibrium", parts);
    // Those at slots last 4 s in 15 s; independent of the others.
    let expected = 1.0 - libm::exp(-0.02 * 4.0) * (1.0 - 0.5 * 4.0 / 15.0);
    let runs = 5_000;
    let rest = format!(r#"{GIVEN}, "phase": "random""#);
    let down = (0..runs).filter(|seed| !fit.build(&rest, *seed).state().up).count();
    let share = down as f64 / runs as f64;
    let error: f64 = expected * (1.0 - expected) / runs as f64;
    assert!((share - expected).abs() < 4.0 * error.sqrt(), "{share} {expected}");
}

#[test]
fn outages_leave_the_other_draws_alone() {
    let parts = format!(r#""delay": {{"process": {DELAY}}}"#);
    let without = Fitted::new("no-outage", &parts);
    let silent = r#""outages": {"rate_per_s": 0.5, "length": {"median_s": 0.05}}"#;
    let with = Fitted::new("outage", &format!("{parts}, {silent}"));
    let rest = r#""uplink_rate": "15 Mbps", "downlink_rate": "150 Mbps""#;
    let (mut one, mut other) = (without.build(rest, 3), with.build(rest, 3));
    let mut down = 0;
    for step in 1..10_000 {
        let at = seconds(f64::from(step) * 0.013);
        one.advance(at);
        other.advance(at);
        assert_eq!(one.state().delay, other.state().delay);
        down += u32::from(!other.state().up);
    }
    assert!(down > 50, "{down}");
}

#[test]
fn either_node_can_be_the_terminal() {
    let fit = Fitted::whole("terminal");
    let rates = |rest: &str| {
        let channel = fit.build(rest, 1);
        Direction::BOTH.map(|direction| bps(channel.state_of(direction)) as u64)
    };
    let first = rates("");
    assert_eq!(rates(r#""terminal": "second""#), [first[1], first[0]]);
    assert!(first[0] < first[1], "{first:?}");
}

/// A process whose mean is known: log-normal, exp(location + scale squared / 2).
#[test]
fn means_are_those_of_theory() {
    let parts = r#""delay": {"process": {"floor": 20, "location": 2, "scale": 0.5, "shares": {"fast": 1}}},
        "uplink": {"capacity": {"location": 2, "scale": 0.4, "shares": {"slot": 1}}},
        "outages": {"rate_per_s": 0.01, "at_boundary": 0.1, "length": {"median_s": 1.5}}"#;
    let fit = Fitted::new("means", parts);
    let spec = Fitted::spec(r#""downlink_rate": "100 Mbps""#);
    let context = fit.context(1);
    let mean = |direction| spec.mean_of(direction, &context).unwrap().unwrap();
    let open = 1.0 - 1.5 * (0.01 + 0.1 / 15.0);
    let expected = open * 1e6 * libm::exp(2.0 + 0.08);
    let up = mean(Direction::Forward);
    assert!((up.rate.bps() as f64 / expected - 1.0).abs() < 1e-6, "{up:?}");
    let half = f64::midpoint(20.0, libm::exp(2.0 + 0.125));
    assert!((up.delay.as_millis_f64() - half).abs() < 1e-5, "{up:?}");
    let down = mean(Direction::Backward).rate.bps() as f64;
    assert!((down - open * 100e6).abs() < 1.0, "{down}");
    assert!(spec.goes_down(&context).unwrap());
}

#[test]
fn shipped_fits_are_sound_and_have_their_names() {
    for (name, _) in FITS {
        let fit = FitSpec::shipped(name).unwrap().unwrap();
        assert_eq!(fit.name, *name);
        assert!(fit.about.get("source").is_some() && fit.about.get("licence").is_some(), "{name}");
    }
}

#[test]
fn a_part_is_in_the_fit_or_in_the_scenario() {
    let fit = Fitted::new("parts", &format!(r#""delay": {{"process": {DELAY}}}"#));
    let error = fit.refused(r#""uplink_rate": "15 Mbps""#);
    assert!(error.starts_with("downlink_rate: is required but missing: the fit test.json has no capacity of the downlink"), "{error}");
    let error = fit.refused(GIVEN);
    assert!(error.starts_with("delay: is given, but the fit test.json has a delay"), "{error}");
    let fit = Fitted::whole("parts-given");
    let error = fit.refused(r#""uplink_rate": "15 Mbps""#);
    assert!(
        error.starts_with("uplink_rate: is given, but the fit test.json has a capacity"),
        "{error}"
    );
}

#[test]
fn motion_shifts_capacities_only() {
    let shifts = r#""motion": {"parked": 0.1, "driving": -0.4}"#;
    let parts = format!(
        r#""delay": {{"process": {DELAY}}}, "uplink": {{"capacity": {UP}}},
        "downlink": {{"capacity": {DOWN}, {shifts}}}"#
    );
    let fit = Fitted::new("motion", &parts);
    let [both, parked, driving] =
        ["", r#""motion": "parked""#, r#""motion": "driving""#].map(|motion| fit.build(motion, 7));
    let [up, down] = Direction::BOTH;
    for (moving, shift) in [(parked, 0.1), (driving, -0.4_f64)] {
        assert_eq!(moving.state_of(up), both.state_of(up));
        let ratio = bps(moving.state_of(down)) / bps(both.state_of(down));
        assert!((ratio / libm::exp(shift) - 1.0).abs() < 1e-6, "{ratio}");
        assert_eq!(moving.state_of(down).delay, both.state_of(down).delay);
    }
    let refusal = Fitted::whole("motionless").refused(r#""motion": "driving""#);
    assert!(refusal.starts_with("motion: is given, but the fit test does not tell"), "{refusal}");
}

#[test]
fn bad_channels_are_refused_by_place() {
    let refused = |json: &str, place: &str, problem: &str| {
        assert_refused::<StarlinkSpec>(json, place, problem);
    };
    refused(r#"{"fit": "seatle-2023"}"#, "fit", "there is no fit \"seatle-2023\"");
    let misspelt = serde_json::from_str(r#"{"fit": "seatle-2023"}"#).unwrap();
    let said = StarlinkSpec::read(&misspelt, &At::ROOT).unwrap_err().to_string();
    assert!(said.ends_with("; did you mean `seattle-2023`?"), "{said}");
    let fit = r#""fit": "x.json""#;
    refused(&format!(r#"{{{fit}, "step": "0 s"}}"#), "step", "zero");
    refused(&format!(r#"{{{fit}, "uplink_rate": "0 bps"}}"#), "uplink_rate", "never up");
    refused(&format!(r#"{{{fit}, "every": "0 s"}}"#), "every", "zero");
    refused(&format!(r#"{{{fit}, "terminal": "client"}}"#), "terminal", "unknown word");
}

#[test]
fn bad_fits_are_refused_by_place() {
    let cases = [
        (
            "tail",
            r#""delay": {"process": {"location": 1, "scale": 1, "tail": 0, "shares": {"fast": 1}}}"#,
            "test.json: delay.process.tail = 0",
        ),
        (
            "sum",
            r#""uplink": {"capacity": {"location": 1, "scale": 1, "shares": {"fast": 0.9}}}"#,
            "uplink.capacity.shares",
        ),
        ("key", r#""downlnk": {}"#, "downlnk"),
        (
            "median",
            r#""uplink": {"capacity": {"location": 80, "scale": 1, "shares": {"fast": 1}}}"#,
            "uplink.capacity.location = 80: has a median above 1000000 Mbit/s",
        ),
        ("none", r#""about": {"place": "x"}"#, "has no part of a link"),
        (
            "short",
            r#""outages": {"rate_per_s": 1, "shortest_s": 2, "length": {"median_s": 1}}"#,
            "outages.shortest_s = 2",
        ),
        (
            "within",
            r#""outages": {"at_boundary": 1, "within_s": 20, "length": {"median_s": 1}}"#,
            "outages.within_s = 20",
        ),
        (
            "after",
            r#""interruptions": {"at_boundary": 1, "after_s": 14, "within_s": 2, "length": {"median_s": 0.1}}"#,
            "interruptions.within_s = 2: ends after the slot, if it begins at `after_s`; at most 1",
        ),
        (
            "loss",
            r#""uplink": {"loss": {"clean": 2, "lossy": 0, "to_lossy": 0, "to_clean": 0}}"#,
            "uplink.loss.clean = 2",
        ),
        ("json", r#""delay": "#, "is not the JSON of a fit"),
    ];
    for (name, parts, problem) in cases {
        let error = Fitted::new(&format!("bad-{name}"), parts).refused(GIVEN);
        assert!(error.starts_with("fit: test.json") && error.contains(problem), "{error}");
    }
    let missing: StarlinkSpec = read(r#"{"fit": "missing.json"}"#).unwrap();
    let folder = Folder::new("missing-fit");
    let fault = missing.build(&folder.context()).err().unwrap();
    assert_eq!(fault.field, "fit");
    assert!(fault.problem.contains("there is no file"), "{}", fault.problem);
}

#[test]
fn a_fit_whose_parts_are_all_constant_still_ends_its_steps() {
    let loss = r#"{"clean": 0.1, "lossy": 0.1, "to_lossy": 0, "to_clean": 0}"#;
    let fit = Fitted::new("constant", &format!(r#""uplink": {{"loss": {loss}}}"#));
    let mut channel = fit.build(GIVEN, 1);
    channel.advance(seconds(1e6));
    assert_eq!((channel.state().loss, bps(channel.state())), (0.1, 15e6));
    assert_eq!(channel.state().service, Service::Rate(BitRate::from_bps(15_000_000)));
}
