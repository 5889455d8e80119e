use leobench_base::{DurationDistribution, RngTree, SimDuration, SimTime};

use super::policy;
use crate::elements::presets::preset;
use crate::frame::{Angle, Epoch, Geodetic};
use crate::motion::{Constellation, Ephemeris, SPACING, SatelliteId, Shell, TerminalId, Track};
use crate::serving::assignment::Member;
use crate::serving::{Assignment, Handover, HandoverCost, ServingPolicy, Terminal};
use crate::visibility::{Observer, View, remaining};

fn ephemeris() -> Ephemeris {
    let start = Epoch::parse("2024-07-15").unwrap();
    let shells = (preset("starlink").unwrap().shells)();
    Ephemeris::new(Constellation::of_shells(&shells, start, true), start, SPACING).unwrap()
}

fn terminal(latitude: f64, policy: Box<dyn ServingPolicy>) -> Terminal {
    let place = Track::fixed(&Geodetic::from_degrees(latitude, 8.0, 0.0)).unwrap();
    let observer = Observer::new(place, View::above(Angle::from_degrees(25.0)));
    let outage = DurationDistribution::fixed(SimDuration::from_millis(30));
    let overlap = DurationDistribution::fixed(SimDuration::from_millis(5));
    Terminal {
        observer,
        gateways: Vec::new(),
        policy,
        apart: None,
        cost: HandoverCost { outage, overlap },
        rng: RngTree::new(1).rng(),
    }
}

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs(seconds)
}

/// Steps a second at a time; returns all handovers.
fn run(assignment: &mut Assignment, seconds: u64) -> Vec<Handover> {
    let mut all = Vec::new();
    for second in 0..=seconds {
        all.extend(assignment.advance(at(second)).unwrap().iter().copied());
    }
    all
}

#[test]
fn highest_is_the_highest_of_all_at_every_step() {
    let mut assignment = Assignment::new(ephemeris(), vec![terminal(48.0, policy(r#""highest""#))]);
    for second in 0..200 {
        assignment.advance(at(second)).unwrap();
        let own = TerminalId::from(0);
        let serving = assignment.serving(own).unwrap();
        let site = assignment.observer(own).site();
        let best = (0..assignment.ephemeris().len())
            .map(|index| {
                site.look(&assignment.ephemeris().state(SatelliteId::from(index)))
                    .elevation
                    .degrees()
            })
            .fold(-90.0, f64::max);
        assert!((serving.look.elevation.degrees() - best).abs() < 1e-12);
    }
}

/// Kept until lost: what `remaining` foretold at the handover is when the satellite goes, within a step.
#[test]
fn longest_keeps_its_satellite_for_as_long_as_foretold() {
    let mut assignment = Assignment::new(ephemeris(), vec![terminal(48.0, policy(r#""longest""#))]);
    let own = TerminalId::from(0);
    let (mut foretold, mut checked) = (None, 0);
    for second in 0..1_800 {
        let handovers = assignment.advance(at(second)).unwrap().to_vec();
        if handovers.is_empty() {
            continue;
        }
        if let Some(end) = foretold {
            let late = handovers[0].at.as_secs_f64() - SimTime::as_secs_f64(end);
            assert!((-0.002..1.001).contains(&late), "{late}");
            assert_eq!(handovers[0].outage, SimDuration::from_millis(30));
            assert_eq!(handovers[0].overlap, SimDuration::ZERO, "the satellite was lost");
            checked += 1;
        }
        let satellite = assignment.serving(own).unwrap().satellite;
        foretold = Some(
            at(second) + remaining(assignment.ephemeris(), assignment.observer(own), satellite),
        );
    }
    assert!(checked >= 4, "{checked}");
    let longest = checked;
    let mut sticky = Assignment::new(ephemeris(), vec![terminal(48.0, policy(r#""sticky""#))]);
    assert!(
        run(&mut sticky, 1_800).len() > longest,
        "the highest one has half of its way behind it"
    );
}

#[test]
fn loads_count_terminals_and_are_spread() {
    let terminals =
        |make: fn() -> Box<dyn ServingPolicy>| (0..12).map(|_| terminal(48.0, make())).collect();
    let mut spread = Assignment::new(ephemeris(), terminals(|| policy(r#""least_loaded""#)));
    let mut crowd = Assignment::new(ephemeris(), terminals(|| policy(r#""sticky""#)));
    for assignment in [&mut spread, &mut crowd] {
        run(assignment, 300);
        let loads: Vec<_> = (0..assignment.ephemeris().len())
            .map(|index| assignment.load(SatelliteId::from(index)))
            .collect();
        assert_eq!(loads.iter().sum::<u32>(), 12);
        for (index, load) in loads.iter().enumerate() {
            let served = (0..12).filter(|&terminal| {
                assignment.serving(TerminalId::from(terminal)).unwrap().satellite.index() == index
            });
            assert_eq!(served.count(), *load as usize);
        }
    }
    let most = |assignment: &Assignment| {
        (0..assignment.ephemeris().len()).map(|i| assignment.load(SatelliteId::from(i))).max()
    };
    assert_eq!(most(&crowd), Some(12));
    assert_eq!(most(&spread), Some(1));
}

#[test]
fn a_place_that_sees_nothing_is_served_by_nothing() {
    let mut assignment = Assignment::new(ephemeris(), vec![terminal(48.0, policy(r#""sticky""#))]);
    assignment.advance(at(0)).unwrap();
    let Member { terminal: member, .. } = &mut assignment.members[0];
    let place = Track::fixed(&Geodetic::from_degrees(48.0, 8.0, 0.0)).unwrap();
    member.observer = Observer::new(place, View::above(Angle::from_degrees(89.9)));
    let handovers = assignment.advance(at(1)).unwrap();
    assert_eq!(handovers.len(), 1);
    assert_eq!((handovers[0].to, handovers[0].outage), (None, SimDuration::ZERO));
    assert!(assignment.serving(TerminalId::from(0)).is_none());
}

/// One plane over the equator, seen from the equator: the closest of N satellites changes every 2 pi / (N (n - w)), where n is
/// their angular speed and w the Earth's.
#[test]
fn handovers_over_the_equator_come_at_the_closed_forms_times() {
    let start = Epoch::parse("2024-07-15").unwrap();
    let (count, radius) = (30, 6_378_137.0f64 + 1_200e3);
    let shell = Shell::delta("ring", 1_200.0, 0.0, 1, count);
    let constellation = Constellation::of_shells(&[shell], start, false);
    let ephemeris = Ephemeris::new(constellation, start, SPACING).unwrap();
    let place = Track::fixed(&Geodetic::from_degrees(0.0, 33.0, 0.0)).unwrap();
    let own = Terminal {
        observer: Observer::new(place, View::above(Angle::from_degrees(25.0))),
        gateways: Vec::new(),
        policy: policy(r#""closest""#),
        ..terminal(0.0, policy(r#""sticky""#))
    };
    let mut assignment = Assignment::new(ephemeris, vec![own]);
    let handovers = run(&mut assignment, 7_200);
    let motion = (3.986_004_418e14 / (radius * radius * radius)).sqrt();
    let interval = std::f64::consts::TAU / (f64::from(count as u32) * (motion - 7.292_115e-5));
    for pair in handovers[1..].windows(2) {
        // Steps are a second apart.
        let found = (pair[1].at - pair[0].at).as_secs_f64();
        assert!((found - interval).abs() <= 1.0, "{found} {interval}");
    }
    let expected = 7_200.0 / interval;
    assert!(
        (handovers.len() as f64 - 1.0 - expected).abs() <= 1.0,
        "{} {expected}",
        handovers.len()
    );
    // Halfway between two handovers, the satellite is overhead: 1,200 km are 4.003 ms.
    let middle = handovers[3].at + (handovers[4].at - handovers[3].at) / 2;
    assignment.advance(middle).unwrap();
    let look = assignment.serving(TerminalId::from(0)).unwrap().look;
    assert!((look.delay_s() * 1e3 - 4.003).abs() < 0.001, "{}", look.delay_s());
}

/// A gateway 1,200 km to the south sees only part of what the terminal sees: the highest satellite of that part serves.
#[test]
fn on_a_bent_pipe_a_gateway_sees_the_serving_satellite_too() {
    let gateway = terminal(37.0, policy(r#""highest""#)).observer;
    let own =
        Terminal { gateways: vec![gateway.clone()], ..terminal(48.0, policy(r#""highest""#)) };
    let mut assignment =
        Assignment::new(ephemeris(), vec![own, terminal(48.0, policy(r#""highest""#))]);
    let mut differs = 0;
    for second in 0..200 {
        assignment.advance(at(second)).unwrap();
        let [bent, free] = [0, 1].map(|index| assignment.serving(TerminalId::from(index)).unwrap());
        assert!(gateway.sight(assignment.ephemeris(), bent.satellite).is_some());
        assert!(bent.look.elevation <= free.look.elevation);
        differs += u32::from(bent.satellite != free.satellite);
    }
    assert!(differs > 100, "{differs}");
}

/// Two links of one terminal under a ring of 18 satellites, of which the terminal sees one or two at a time.
#[test]
fn links_of_a_terminal_share_a_satellite_only_if_there_is_no_other() {
    let start = Epoch::parse("2024-07-15").unwrap();
    for name in ["closest", "highest", "longest", "sticky", "least_loaded", "starlink"] {
        let shell = Shell::delta("ring", 1_200.0, 0.0, 1, 18);
        let constellation = Constellation::of_shells(&[shell], start, false);
        let ephemeris = Ephemeris::new(constellation, start, SPACING).unwrap();
        // Away from the equator, so that no satellite is on the arc of the geostationary ones.
        let json = if name == "starlink" {
            r#"{"kind": "starlink", "exclusion": "1 deg"}"#.to_owned()
        } else {
            format!("\"{name}\"")
        };
        let link = |apart| Terminal { apart, ..terminal(2.0, policy(&json)) };
        let links = vec![link(Some(0)), link(Some(0)), link(None)];
        let mut assignment = Assignment::new(ephemeris, links);
        let (mut alone, mut several, mut changes) = (0, 0, 0);
        for second in 0..7_200 {
            let handovers = assignment.advance(at(second)).unwrap();
            changes += handovers.iter().filter(|it| it.terminal.index() < 2).count();
            let mut seen = Vec::new();
            let observer = assignment.observer(TerminalId::from(0));
            observer.look(assignment.ephemeris(), &mut seen);
            let serving = |link: usize| {
                assignment.serving(TerminalId::from(link)).map(|sighting| sighting.satellite)
            };
            let [first, second, _] = [0, 1, 2].map(serving);
            assert!(first.is_some() && second.is_some(), "{name}");
            if seen.len() == 1 {
                alone += 1;
                assert_eq!(first, second, "{name}");
            } else {
                several += 1;
                assert_ne!(first, second, "{name}");
            }
        }
        assert!(alone > 1_000 && several > 1_000 && changes > 20, "{name}: {alone} {several}");
    }
}
