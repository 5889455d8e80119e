//! The rules of every channel, tested on an example of every kind.

use leobench_base::spec::{At, Spec};
use leobench_base::{Direction, SimDuration, SimTime};

use super::super::{Channel, ChannelSpec, ChannelState};
use crate::testing::{context, read};

const SEEDS: std::ops::Range<u64> = 0..20;
const CHANGES: usize = 200;
/// As many changes as a channel with rare outages needs to have one.
const MANY_CHANGES: usize = 20_000;

/// The states of both directions, forward first.
type States = [ChannelState; 2];

fn states(channel: &dyn Channel) -> States {
    Direction::BOTH.map(|direction| channel.state_of(direction).clone())
}

fn build(spec: &ChannelSpec, seed: u64) -> Box<dyn Channel> {
    spec.model().build(&context(seed)).unwrap()
}

/// The first states of a channel, and when they began.
fn history(spec: &ChannelSpec, seed: u64) -> Vec<(SimTime, States)> {
    let mut channel = build(spec, seed);
    let mut history = vec![(SimTime::ZERO, states(channel.as_ref()))];
    while let Some(at) = channel.next_change()
        && history.len() < CHANGES
    {
        assert_eq!(channel.advance(at).clone(), *channel.state(), "{}", spec.kind());
        history.push((at, states(channel.as_ref())));
    }
    history
}

/// The states of all directions, in order.
fn flat(history: Vec<(SimTime, States)>) -> impl Iterator<Item = (SimTime, ChannelState)> {
    history.into_iter().flat_map(|(at, states)| states.map(|state| (at, state)))
}

fn for_every_channel(test: impl Fn(&ChannelSpec, u64)) {
    for spec in ChannelSpec::examples() {
        for seed in SEEDS {
            test(&spec, seed);
        }
    }
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in ChannelSpec::examples() {
        assert_eq!(ChannelSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[test]
fn states_are_sound() {
    for_every_channel(|spec, seed| {
        for (at, state) in flat(history(spec, seed)) {
            assert!((0.0..=1.0).contains(&state.loss), "{} at {at}", spec.kind());
            assert!(!state.label.is_empty(), "{} at {at}", spec.kind());
        }
    });
}

#[test]
fn every_change_is_later_than_the_one_before_and_changes_something() {
    for_every_channel(|spec, seed| {
        for pair in history(spec, seed).windows(2) {
            assert!(pair[1].0 > pair[0].0, "{}: {pair:?}", spec.kind());
            assert_ne!(pair[1].1, pair[0].1, "{} at {}", spec.kind(), pair[1].0);
        }
    });
}

#[test]
fn nothing_changes_before_the_next_change() {
    for_every_channel(|spec, seed| {
        let mut channel = build(spec, seed);
        for _ in 0..CHANGES {
            let Some(next) = channel.next_change() else { break };
            let before = states(channel.as_ref());
            let just_before = next - SimDuration::from_nanos(1);
            channel.advance(just_before);
            assert_eq!(states(channel.as_ref()), before);
            assert_eq!(channel.next_change(), Some(next));
            channel.advance(next);
            let after = states(channel.as_ref());
            channel.advance(next);
            assert_eq!(states(channel.as_ref()), after);
            assert!(channel.next_change().is_none_or(|later| later > next));
        }
    });
}

#[test]
fn one_leap_ends_where_many_steps_do() {
    for_every_channel(|spec, seed| {
        for (at, expected) in history(spec, seed) {
            let mut channel = build(spec, seed);
            channel.advance(at);
            assert_eq!(states(channel.as_ref()), expected, "{} at {at}", spec.kind());
        }
    });
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for_every_channel(|spec, seed| assert_eq!(history(spec, seed), history(spec, seed)));
}

#[test]
fn random_channels_differ_by_seed() {
    for spec in ChannelSpec::examples() {
        let random = spec.model().is_random();
        assert_eq!(history(&spec, 1) != history(&spec, 2), random, "{}", spec.kind());
    }
}

#[test]
fn channels_that_go_down_say_so() {
    let mut specs = ChannelSpec::examples();
    for (kind, outage) in [("on_off", "outage"), ("reconfiguration", "during_outage")] {
        let silence =
            if kind == "on_off" { r#""on": "1 s", "off""# } else { r#""delay": "1 ms", "outage""# };
        for word in ["hold", "drop"] {
            let text = format!(
                r#"{{"kind": "{kind}", "rate": "1 Mbps", {silence}: "100 ms", "{outage}": "{word}"}}"#
            );
            specs.push(read::<ChannelSpec>(&text).unwrap());
        }
    }
    let down = |spec: &ChannelSpec, seed| {
        let mut channel = build(spec, seed);
        (0..MANY_CHANGES).any(|_| {
            let down = states(channel.as_ref()).iter().any(|state| !state.up);
            if let Some(next) = channel.next_change() {
                channel.advance(next);
            }
            down
        })
    };
    for spec in specs {
        let seen = SEEDS.into_iter().any(|seed| down(&spec, seed));
        assert_eq!(spec.model().goes_down(&context(1)).unwrap(), seen, "{}", spec.kind());
    }
}
