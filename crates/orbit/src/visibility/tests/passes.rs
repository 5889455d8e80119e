use leobench_base::{SimDuration, SimTime};

use crate::elements::presets::preset;
use crate::frame::{Angle, Epoch, Geodetic};
use crate::motion::{Constellation, Ephemeris, SPACING, SatelliteId, Track};
use crate::visibility::{Observer, Passes, View};

fn start() -> Epoch {
    Epoch::parse("2024-07-15T10:00:00").unwrap()
}

fn ephemeris(name: &str) -> Ephemeris {
    let shells = (preset(name).unwrap().shells)();
    Ephemeris::new(Constellation::of_shells(&shells, start(), true), start(), SPACING).unwrap()
}

fn observer(lowest: f64) -> Observer {
    let place = Track::fixed(&Geodetic::from_degrees(50.67, 4.61, 100.0)).unwrap();
    Observer::new(place, View::above(Angle::from_degrees(lowest)))
}

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs(seconds)
}

#[test]
fn passes_begin_and_end_at_the_lowest_elevation() {
    let (mut ephemeris, observer) = (ephemeris("iridium"), observer(10.0));
    let (from, to) = (at(100), at(7_300));
    let passes: Vec<_> =
        Passes::new(&mut ephemeris, observer.clone(), from, to).map(Result::unwrap).collect();
    assert!(passes.len() > 15, "{}", passes.len());
    assert!(passes.is_sorted_by_key(|pass| pass.set));
    let elevation = |satellite, at| {
        observer.site().look(&ephemeris.exact(satellite, at).unwrap()).elevation.degrees()
    };
    let mut whole = 0;
    for pass in &passes {
        assert!(pass.rise < pass.set && pass.highest.degrees() >= 10.0);
        if pass.rise > from && pass.set < to {
            for end in [pass.rise, pass.set] {
                assert!((elevation(pass.satellite, end) - 10.0).abs() < 1e-3);
            }
            let middle = pass.rise + (pass.set - pass.rise) / 2;
            // A circular orbit culminates in the middle; the turn of the Earth shifts that little.
            assert!((elevation(pass.satellite, middle) - pass.highest.degrees()).abs() < 2.0);
            whole += 1;
        } else {
            assert!(pass.rise == from || pass.set == to);
        }
    }
    assert!(whole > 10, "{whole}");
}

/// No satellite is usable outside its passes.
#[test]
fn passes_are_all_there_is() {
    let (mut ephemeris, observer) = (ephemeris("telesat"), observer(20.0));
    let passes: Vec<_> = Passes::new(&mut ephemeris, observer.clone(), at(0), at(1_800))
        .map(Result::unwrap)
        .collect();
    for second in (5..1_800).step_by(211) {
        for index in 0..ephemeris.len() {
            let satellite = SatelliteId::from(index);
            let seen = observer.sight_at(&ephemeris, satellite, at(second)).is_some();
            let inside = passes.iter().any(|pass| {
                pass.satellite == satellite && pass.rise <= at(second) && at(second) < pass.set
            });
            assert_eq!(seen, inside, "{index} at {second}");
        }
    }
}
