use std::collections::BTreeMap;

use leobench_base::{RngTree, SimDuration, SimTime};

use super::policy;
use crate::frame::{Angle, Epoch, Topocentric};
use crate::motion::SatelliteId;
use crate::serving::on_grid::OnGrid;
use crate::serving::starlink::{Starlink, StarlinkSpec};
use crate::serving::{Choice, Outlook, ServingPolicy};
use crate::visibility::Sighting;

/// Satellites 0 to 3: elevation, range (km), remaining seconds, load, separation from the arc.
const SKY: [(f64, f64, u64, u32, f64); 4] = [
    (30.0, 900.0, 100, 3, 60.0),
    (85.0, 1_200.0, 60, 2, 10.0),
    (60.0, 640.0, 200, 2, 40.0),
    (45.0, 750.0, 10, 5, 40.0),
];

struct Told;

impl Outlook for Told {
    fn remaining(&self, satellite: SatelliteId) -> SimDuration {
        SimDuration::from_secs(SKY[satellite.index()].2)
    }

    fn usable(&self, satellite: SatelliteId, at: SimTime) -> bool {
        at <= SimTime::ZERO + self.remaining(satellite)
    }

    fn load(&self, satellite: SatelliteId) -> u32 {
        SKY[satellite.index()].3
    }

    fn arc_separation(&self, candidate: &Sighting) -> Angle {
        Angle::from_degrees(SKY[candidate.satellite.index()].4)
    }
}

fn choose(policy: &mut dyn ServingPolicy, serving: Option<usize>) -> Option<usize> {
    let candidates: Vec<_> = (0..SKY.len())
        .map(|index| Sighting {
            satellite: SatelliteId::from(index),
            look: Topocentric {
                azimuth: Angle::ZERO,
                elevation: Angle::from_degrees(SKY[index].0),
                range_m: SKY[index].1 * 1e3,
                range_rate: 0.0,
            },
        })
        .collect();
    let serving = serving.map(SatelliteId::from);
    let choice = Choice { now: SimTime::ZERO, serving, candidates: &candidates, outlook: &Told };
    policy.choose(&choice).map(SatelliteId::index)
}

#[test]
fn each_policy_chooses_what_its_name_says() {
    for (name, serving, expected, is_due) in [
        ("closest", Some(0), 2, true),
        ("highest", Some(0), 1, true),
        ("longest", None, 2, false),
        ("least_loaded", None, 1, false),
        ("sticky", None, 1, false),
    ] {
        let mut policy = policy(&format!("{name:?}"));
        assert_eq!(choose(&mut *policy, serving), Some(expected), "{name}");
        assert_eq!(policy.is_due(SimTime::ZERO), is_due, "{name}");
    }
}

#[test]
fn of_equal_ones_the_serving_satellite_stays() {
    let candidates = [3usize, 5, 7].map(|index| Sighting {
        satellite: SatelliteId::from(index),
        look: Topocentric {
            azimuth: Angle::ZERO,
            elevation: Angle::from_degrees(40.0),
            range_m: 1e6,
            range_rate: 0.0,
        },
    });
    for (serving, expected) in [(None, 3), (Some(5), 5), (Some(7), 7), (Some(9), 3)] {
        let serving = serving.map(SatelliteId::from);
        let choice =
            Choice { now: SimTime::ZERO, serving, candidates: &candidates, outlook: &Told };
        let chosen = policy(r#""highest""#).choose(&choice);
        assert_eq!(chosen, Some(SatelliteId::from(expected)));
    }
}

#[test]
fn snr_waits_for_threshold_and_hysteresis() {
    let chosen = |threshold: f64, hysteresis: f64, serving| {
        let rule = format!(r#""threshold": "{threshold} dB", "hysteresis": "{hysteresis} dB""#);
        choose(&mut *policy(&format!(r#"{{"kind": "snr", {rule}}}"#)), serving)
    };
    let serving = |threshold: f64, hysteresis: f64| chosen(threshold, hysteresis, Some(2));
    assert_eq!(serving(59.9, 3.0), Some(2), "60 is not below the threshold");
    assert_eq!(serving(61.0, 3.0), Some(1));
    assert_eq!(serving(61.0, 26.0), Some(2), "85 is not better by 26");
    assert_eq!(chosen(0.0, 90.0, None), Some(1));
}

fn starlink(start: &str, seed: u64) -> Starlink {
    Starlink::new(StarlinkSpec::default(), Epoch::parse(start).unwrap(), RngTree::new(seed).rng())
}

#[test]
fn starlink_is_due_at_seconds_12_27_42_and_57() {
    let due = |start: &str| {
        let policy = starlink(start, 1);
        let mut now = SimTime::ZERO;
        let mut millis = Vec::new();
        for _ in 0..4 {
            now = policy.next_due(now).unwrap();
            assert!(policy.is_due(now));
            assert!(!policy.is_due(SimTime::from_nanos(now.as_nanos() + 1)));
            millis.push(now.as_nanos() / 1_000_000);
        }
        millis
    };
    assert_eq!(due("2024-07-15T10:00:00"), [12_000, 27_000, 42_000, 57_000]);
    assert_eq!(due("2024-07-15T10:00:12"), [15_000, 30_000, 45_000, 60_000]);
    assert_eq!(due("2024-07-15T10:07:58.5"), [13_500, 28_500, 43_500, 58_500]);
}

/// Candidate 1 is too close to the arc, and 3 sets within the slot. Between 0 and 2, of elevations 1/3 and 2/3, the logit decides
/// by exp(5.5/3 - 0.9/3) = exp(1.5333), with 0 serving by exp(1.5333 - 1.7). Four standard errors of 20,000 draws: 0.014.
#[test]
fn starlink_draws_by_its_utility() {
    let mut policy = starlink("2024-07-15T10:00:00", 7);
    for (serving, logit) in [(None, 5.5 / 3.0 - 0.3), (Some(0), 5.5 / 3.0 - 0.3 - 1.7)] {
        let mut counts = BTreeMap::new();
        for _ in 0..20_000 {
            *counts.entry(choose(&mut policy, serving).unwrap()).or_insert(0u32) += 1;
        }
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [0, 2]);
        let share = f64::from(counts[&2]) / 20_000.0;
        let expected = 1.0 / (1.0 + libm::exp(-logit));
        assert!((share - expected).abs() < 0.014, "{share} {expected}");
    }
}

/// Due at 12 s, 27 s and so on, and nowhere else, whatever the inner policy says.
#[test]
fn a_grid_holds_any_policy_back() {
    let second = SimDuration::from_secs(1);
    let mut policy = OnGrid::new(policy(r#""highest""#), second * 15, second * 12);
    let due: Vec<_> = (0..60).filter(|at| policy.is_due(SimTime::ZERO + second * *at)).collect();
    assert_eq!(due, [12, 27, 42, 57]);
    let mut now = SimTime::ZERO;
    for expected in due {
        now = policy.next_due(now).unwrap();
        assert_eq!(now, SimTime::ZERO + second * expected);
    }
    assert_eq!(choose(&mut policy, Some(0)), Some(1), "the inner policy chooses");
}
