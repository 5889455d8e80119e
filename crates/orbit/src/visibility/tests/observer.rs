use leobench_base::{SimDuration, SimTime};
use proptest::prelude::*;

use crate::elements::presets::preset;
use crate::frame::{Angle, Epoch, Geodetic, Site, Topocentric, Vector};
use crate::motion::{Constellation, Ephemeris, SPACING, SatelliteId, Shell, Track};
use crate::visibility::grid::reach;
use crate::visibility::{Observer, Obstructions, SatelliteGrid, Sighting, View};

fn start() -> Epoch {
    Epoch::parse("2024-07-15").unwrap()
}

fn ephemeris(shells: &[Shell]) -> Ephemeris {
    Ephemeris::new(Constellation::of_shells(shells, start(), true), start(), SPACING).unwrap()
}

fn fixed(latitude: f64, longitude: f64, lowest: f64) -> Observer {
    let place = Geodetic::from_degrees(latitude, longitude, 0.0);
    Observer::new(Track::fixed(&place).unwrap(), View::above(Angle::from_degrees(lowest)))
}

/// Against a search through all satellites.
fn agree(observer: &mut Observer, ephemeris: &Ephemeris, grid: &SatelliteGrid) -> (usize, usize) {
    observer.follow(ephemeris, grid);
    let (mut seen, mut all) = (Vec::new(), Vec::new());
    observer.look(ephemeris, &mut seen);
    for index in 0..ephemeris.len() {
        all.extend(observer.sight(ephemeris, SatelliteId::from(index)));
    }
    assert_eq!(seen, all);
    (seen.len(), observer.candidates.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Most often at the ends of a window, where satellites are furthest from where the grid has them.
    #[test]
    fn the_grid_misses_no_satellite(
        latitude in -90.0..90.0f64,
        longitude in -180.0..180.0f64,
        lowest in 0.0..60.0f64,
        altitude in 300.0..3_000.0f64,
        inclination in 0.0..180.0f64,
        times in prop::collection::vec((0u64..100, prop_oneof![Just(0), Just(59_999), 1u64..59_999]), 6),
    ) {
        let shell = Shell::delta("s", altitude, inclination, 40, 50).phased(3);
        let mut ephemeris = ephemeris(&[shell]);
        let (mut grid, mut observer) = (SatelliteGrid::default(), fixed(latitude, longitude, lowest));
        for (minute, millis) in times {
            ephemeris.advance(SimTime::ZERO + SimDuration::from_millis(60_000 * minute + millis)).unwrap();
            grid.refresh(&ephemeris);
            agree(&mut observer, &ephemeris, &grid);
        }
    }
}

/// A satellite at the lowest elevation is within reach of the place, whichever way the ellipsoid's vertical leans from it.
#[test]
fn the_reach_allows_for_the_ellipsoid() {
    for latitude in [-60.0, -45.0, 0.0, 30.0, 45.0, 80.0] {
        let site = Site::new(&Geodetic::from_degrees(latitude, 20.0, 0.0), Vector::default());
        let place = site.position();
        for (radius, lowest) in [(6.7e6, 5.0), (6.93e6, 25.0), (7.6e6, 10.0), (4.2e7, 10.0)] {
            for azimuth in 0..36 {
                let look = Topocentric {
                    azimuth: Angle::from_degrees(10.0 * f64::from(azimuth)),
                    elevation: Angle::from_degrees(lowest),
                    range_m: 0.0,
                    range_rate: 0.0,
                };
                // Along the line of sight until the distance from the centre is the radius.
                let sight = site.from_local(look.direction());
                let along = sight.dot(place);
                let range = (along * along + radius * radius - place.dot(place)).sqrt() - along;
                let satellite = place + sight * range;
                let around = Angle::acos(satellite.dot(place) / (radius * place.norm()));
                let reach = reach(place.norm(), radius, look.elevation);
                assert!(around <= reach && reach - around < Angle::from_degrees(1.0));
            }
        }
    }
}

#[test]
fn a_moving_observer_misses_none_and_few_are_looked_at() {
    let mut ephemeris = ephemeris(&(preset("starlink").unwrap().shells)());
    let csv = "time,latitude,longitude,altitude\n0,48,11,11000\n3600,50,-2,11000\n";
    let track = Track::read("plane.csv", csv, start()).unwrap();
    let mut observer = Observer::new(track, View::above(Angle::from_degrees(25.0)));
    let mut grid = SatelliteGrid::default();
    let (mut seen, mut candidates) = (0, 0);
    for seconds in (0..3_600).step_by(37) {
        ephemeris.advance(SimTime::ZERO + SimDuration::from_secs(seconds)).unwrap();
        grid.refresh(&ephemeris);
        let (one, other) = agree(&mut observer, &ephemeris, &grid);
        seen += one;
        candidates += other;
    }
    assert!(seen > 0 && candidates < 3 * seen, "{seen} {candidates}");
}

/// The mean number of visible satellites at a latitude, from the density of a shell over latitude (Ballard 1980's coverage
/// geometry): the share of time at latitude x within dx is cos x / (pi sqrt(sin² i - sin² x)) dx, spread evenly over longitude.
fn expected(shell: &Shell, latitude: f64, lowest: f64) -> f64 {
    let (radius, earth) = (6_378.137e3 + shell.altitude_m, 6_371e3);
    let elevation = lowest.to_radians();
    let reach = (earth / radius * libm::cos(elevation)).acos() - elevation;
    let (place, tilt) = (latitude.to_radians(), shell.inclination.radians());
    // By substitution sin x = sin i sin u, the density is even over u in (-90, 90) degrees.
    let steps = 20_000;
    let inside = |step: i32| {
        let u = ((f64::from(step) + 0.5) / f64::from(steps) - 0.5) * std::f64::consts::PI;
        let x = (libm::sin(tilt) * libm::sin(u)).asin();
        let cosine = (libm::cos(reach) - libm::sin(place) * libm::sin(x))
            / (libm::cos(place) * libm::cos(x));
        cosine.clamp(-1.0, 1.0).acos() / std::f64::consts::PI
    };
    let share = (0..steps).map(inside).sum::<f64>() / f64::from(steps);
    share * shell.total() as f64
}

#[test]
fn the_mean_number_of_visible_satellites_is_that_of_coverage_geometry() {
    for (altitude, inclination, latitude, lowest) in [
        (550.0, 53.0, 50.7, 25.0),
        (550.0, 53.0, -27.5, 25.0),
        (1_200.0, 87.9, 40.0, 10.0),
        (630.0, 51.9, 0.0, 35.0),
    ] {
        let shell = Shell::delta("s", altitude, inclination, 24, 22).phased(5);
        let mut ephemeris = ephemeris(std::slice::from_ref(&shell));
        let mut grid = SatelliteGrid::default();
        let mut observer = fixed(latitude, 10.0, lowest);
        let (mut total, mut count, mut seen) = (0, 0, Vec::new());
        // A day, in which the place passes below all planes at all phases.
        for step in 0..2_880u64 {
            ephemeris.advance(SimTime::ZERO + SimDuration::from_secs(step * 30)).unwrap();
            grid.refresh(&ephemeris);
            observer.follow(&ephemeris, &grid);
            observer.look(&ephemeris, &mut seen);
            total += seen.len();
            count += 1;
        }
        let (mean, expected) =
            (f64::from(total as u32) / f64::from(count), expected(&shell, latitude, lowest));
        // The ellipsoid, which the closed form does not know, changes the reach by up to 1.5 %, the count by up to 3 %.
        assert!((mean / expected - 1.0).abs() < 0.03, "{altitude} {latitude}: {mean} {expected}");
    }
}

#[test]
fn the_arc_a_dish_and_walls_take_satellites_out() {
    let ephemeris = ephemeris(&(preset("starlink").unwrap().shells)());
    let mut grid = SatelliteGrid::default();
    grid.refresh(&ephemeris);
    let place = Track::fixed(&Geodetic::from_degrees(36.56, 136.66, 0.0)).unwrap();
    let count = |view: View, admits: &dyn Fn(&Observer, &Sighting) -> bool| {
        let mut observer = Observer::new(place.clone(), view);
        observer.follow(&ephemeris, &grid);
        let mut seen = Vec::new();
        observer.look(&ephemeris, &mut seen);
        assert!(seen.iter().all(|sighting| admits(&observer, sighting)));
        seen.len()
    };
    let open = || View::above(Angle::from_degrees(25.0));
    let all = count(open(), &|_, _| true);
    let arc = Angle::from_degrees(30.0);
    let beside = count(View { arc: Some(arc), ..open() }, &|observer, sighting| {
        observer.arc_separation(&sighting.look) >= arc
    });
    let walls = Obstructions::new(&[60.0, 0.0]).unwrap();
    let behind = count(View { obstructions: walls, ..open() }, &|_, sighting| {
        sighting.look.azimuth.degrees() >= 180.0 || sighting.look.elevation.degrees() >= 60.0
    });
    let longest_m = 1_000e3;
    let near =
        count(View { longest_m, ..open() }, &|_, sighting| sighting.look.range_m <= longest_m);
    let counts = [beside, behind, near];
    assert!(counts.iter().all(|count| (1..all).contains(count)), "{all} {counts:?}");
}

/// The range rate of a moving observer is the derivative of the range.
#[test]
fn the_observers_own_speed_is_in_the_doppler_shift() {
    let mut ephemeris = ephemeris(&(preset("iridium").unwrap().shells)());
    let csv = "time,latitude,longitude,altitude\n0,48,11,11000\n3600,50,-2,11000\n";
    let track = Track::read("plane.csv", csv, start()).unwrap();
    let fixed = Track::fixed(&track.place(SimTime::ZERO + SimDuration::from_secs(1_000))).unwrap();
    let satellite = SatelliteId::from(0);
    let mut look = |track: &Track, seconds: u64| {
        let now = SimTime::ZERO + SimDuration::from_secs(seconds);
        ephemeris.advance(now).unwrap();
        track.site(now).look(&ephemeris.state(satellite))
    };
    let rate = (look(&track, 1_001).range_m - look(&track, 999).range_m) / 2.0;
    assert!((look(&track, 1_000).range_rate - rate).abs() < 0.5);
    assert!((look(&fixed, 1_000).range_rate - rate).abs() > 20.0, "a plane makes a difference");
}
