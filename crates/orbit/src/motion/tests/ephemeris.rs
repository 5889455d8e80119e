use leobench_base::{SimDuration, SimTime};

use crate::elements::presets::preset;
use crate::elements::{self, Acceptance};
use crate::frame::Epoch;
use crate::motion::{Constellation, Ephemeris, SPACING, SatelliteId};

fn constellation() -> Constellation {
    let mut shells = (preset("starlink").unwrap().shells)();
    shells.extend((preset("telesat").unwrap().shells)());
    Constellation::of_shells(&shells, start(), true)
}

fn start() -> Epoch {
    Epoch::parse("2024-07-15").unwrap()
}

fn worst(ephemeris: &mut Ephemeris, every: usize) -> (f64, f64) {
    let (mut position, mut velocity) = (0.0f64, 0.0f64);
    for millis in (0..600_000).step_by(7_300) {
        let now = SimTime::from_nanos(millis * 1_000_000);
        ephemeris.advance(now).unwrap();
        for index in (0..ephemeris.len()).step_by(every) {
            let satellite = SatelliteId::from(index);
            let (near, exact) =
                (ephemeris.state(satellite), ephemeris.exact(satellite, now).unwrap());
            position = position.max((near.position - exact.position).norm());
            velocity = velocity.max((near.velocity - exact.velocity).norm());
        }
    }
    (position, velocity)
}

#[test]
fn interpolated_shells_are_within_a_metre() {
    let mut ephemeris = Ephemeris::new(constellation(), start(), SPACING).unwrap();
    let (position, velocity) = worst(&mut ephemeris, 7);
    assert!(position < 1.0 && velocity < 0.1, "{position} m, {velocity} m/s");
    // Where it is worst, the bound of the module's text is nearly reached: the error is that of the polynomial.
    assert!(position > 0.2, "{position} m");
}

#[test]
fn interpolated_element_sets_are_within_ten_metres() {
    let text = include_str!("../../../tests/data/skyfield-looks.csv");
    let sets: String = text
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .fold(String::new(), |all, line| all + line + "\n");
    let loaded = elements::load("sets", &sets, start(), SimTime::ZERO, Acceptance::default());
    let all = Constellation::of_satellites(loaded.unwrap().satellites);
    let mut ephemeris = Ephemeris::new(all, start(), SPACING).unwrap();
    let (position, velocity) = worst(&mut ephemeris, 1);
    assert!(position < 10.0 && velocity < 1.0, "{position} m, {velocity} m/s");
}

#[test]
fn going_back_is_the_same_as_going_on() {
    let mut ephemeris = Ephemeris::new(constellation(), start(), SPACING).unwrap();
    let satellite = SatelliteId::from(1_234);
    let at = |seconds: u64| SimTime::ZERO + SimDuration::from_secs(seconds);
    let mut seen = Vec::new();
    for seconds in [30, 90, 170, 400] {
        ephemeris.advance(at(seconds)).unwrap();
        seen.push((seconds, ephemeris.state(satellite)));
    }
    for (seconds, state) in seen.into_iter().rev() {
        ephemeris.advance(at(seconds)).unwrap();
        assert_eq!(ephemeris.state(satellite), state);
    }
}
