//! Conformance tests that run on every policy.

use leobench_base::spec::{At, Spec};
use leobench_base::{RngTree, SimDuration, SimRng, SimTime};

use crate::frame::{Angle, Epoch, Topocentric};
use crate::motion::SatelliteId;
use crate::serving::{Choice, Outlook, PolicyContext, PolicySpec, ServingPolicy, Signal};
use crate::visibility::Sighting;

const SATELLITES: usize = 12;
const ROUNDS: u64 = 400;

/// A random set of candidates, and what is known of each satellite.
struct Round {
    candidates: Vec<Sighting>,
    remaining: Vec<SimDuration>,
    loads: Vec<u32>,
    now: SimTime,
}

impl Round {
    /// Some candidates at the `number`-th instant, at least one.
    fn draw(number: u64, rng: &mut SimRng) -> Self {
        let always = rng.below(SATELLITES as u64) as usize;
        let mut draw = |least: f64, most: f64| least + (most - least) * rng.unit();
        let mut candidates = Vec::new();
        let (mut remaining, mut loads) = (Vec::new(), Vec::new());
        for index in 0..SATELLITES {
            remaining.push(SimDuration::from_secs_f64(draw(1.0, 300.0)));
            loads.push(draw(0.0, 4.0) as u32);
            let look = Topocentric {
                azimuth: Angle::from_degrees(draw(0.0, 360.0)),
                elevation: Angle::from_degrees(draw(25.0, 90.0)),
                range_m: draw(550e3, 1_200e3),
                range_rate: 0.0,
            };
            if draw(0.0, 1.0) < 0.5 || index == always {
                candidates.push(Sighting { satellite: SatelliteId::from(index), look });
            }
        }
        Self { candidates, remaining, loads, now: SimTime::ZERO + SimDuration::from_secs(number) }
    }

    fn choice(&self, serving: Option<SatelliteId>) -> Choice<'_> {
        let visible = |serving: &SatelliteId| {
            self.candidates.iter().any(|candidate| candidate.satellite == *serving)
        };
        let serving = serving.filter(visible);
        Choice { now: self.now, serving, candidates: &self.candidates, outlook: self }
    }
}

impl Outlook for Round {
    fn remaining(&self, satellite: SatelliteId) -> SimDuration {
        self.remaining[satellite.index()]
    }

    fn usable(&self, satellite: SatelliteId, at: SimTime) -> bool {
        at < self.now + self.remaining(satellite)
    }

    fn load(&self, satellite: SatelliteId) -> u32 {
        self.loads[satellite.index()]
    }

    /// No policy has a reason to refuse a candidate that is a right angle away from the arc.
    fn arc_separation(&self, _candidate: &Sighting) -> Angle {
        Angle::from_degrees(90.0)
    }
}

/// A signal from 5 to 18 dB, by elevation.
fn signal() -> Signal {
    Box::new(|seen: &Sighting| seen.look.elevation.degrees() / 5.0)
}

fn context(seed: u64, signal: Option<Signal>) -> PolicyContext {
    let start = Epoch::parse("2024-07-15T10:00:05.25").unwrap();
    PolicyContext { start, rng: RngTree::new(seed).child("policy").rng(), signal }
}

fn build(spec: &PolicySpec, seed: u64) -> Box<dyn ServingPolicy> {
    spec.model().build(context(seed, Some(signal()))).unwrap()
}

/// The policies that choose one satellite for all packets.
fn choosers() -> impl Iterator<Item = PolicySpec> {
    PolicySpec::examples().into_iter().filter(|spec| !spec.model().is_free())
}

fn rounds() -> impl Iterator<Item = Round> {
    let mut rng = RngTree::new(5).child("rounds").rng();
    (0..ROUNDS).map(move |number| Round::draw(number, &mut rng))
}

/// The choices of a policy over the same rounds, whatever its seed.
fn choices(spec: &PolicySpec, seed: u64) -> Vec<Option<SatelliteId>> {
    let mut policy = build(spec, seed);
    let mut serving = None;
    let choose = |round: Round| {
        serving = policy.choose(&round.choice(serving));
        serving
    };
    rounds().map(choose).collect()
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in PolicySpec::examples() {
        assert_eq!(PolicySpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[test]
fn every_policy_chooses_one_of_the_candidates() {
    for spec in choosers() {
        for (round, chosen) in rounds().zip(choices(&spec, 1)) {
            let known = round.candidates.iter().any(|one| Some(one.satellite) == chosen);
            assert!(known, "{} at {}: {chosen:?}", spec.kind(), round.now);
        }
    }
}

#[test]
fn every_policy_repeats_and_follows_its_seed_if_random() {
    for spec in choosers() {
        assert_eq!(choices(&spec, 1), choices(&spec, 1), "{}", spec.kind());
        let differs = choices(&spec, 1) != choices(&spec, 2);
        assert_eq!(differs, spec.model().is_random(), "{}", spec.kind());
    }
}

/// Otherwise a terminal would change its satellite at every step.
#[test]
fn asked_again_a_policy_keeps_its_choice_unless_random() {
    for spec in choosers() {
        if spec.model().is_random() {
            continue;
        }
        let mut policy = build(&spec, 1);
        for round in rounds() {
            let chosen = policy.choose(&round.choice(None));
            let again = policy.choose(&round.choice(chosen));
            assert_eq!(again, chosen, "{} at {}", spec.kind(), round.now);
        }
    }
}

/// A policy with a clock is due at its instants only; they are the period that it declares apart.
#[test]
fn every_policy_keeps_the_clock_that_it_declares() {
    let nanosecond = SimDuration::from_nanos(1);
    for spec in choosers() {
        let policy = build(&spec, 1);
        let Some(period) = spec.model().period() else {
            assert_eq!(policy.next_due(SimTime::ZERO), None, "{}", spec.kind());
            continue;
        };
        let mut last = policy.next_due(SimTime::ZERO).unwrap();
        assert!(SimTime::ZERO < last && last <= SimTime::ZERO + period, "{}", spec.kind());
        for _ in 0..100 {
            assert!(policy.is_due(last), "{} at {last}", spec.kind());
            assert!(!policy.is_due(last + nanosecond), "{} after {last}", spec.kind());
            let next = policy.next_due(last).unwrap();
            assert_eq!(next, last + period, "{}", spec.kind());
            assert!(!policy.is_due(last + period / 2), "{} before {next}", spec.kind());
            last = next;
        }
    }
}

/// A policy that needs the link's budget refuses a link without one by naming its key.
#[test]
fn without_a_signal_a_policy_is_built_or_refused_by_its_key() {
    for spec in PolicySpec::examples() {
        if let Err(fault) = spec.model().build(context(1, None)) {
            assert_eq!(fault.field, "policy", "{}", spec.kind());
        }
    }
}
