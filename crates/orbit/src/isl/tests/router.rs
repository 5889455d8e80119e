use leobench_base::SimDuration;
use proptest::prelude::*;

use super::{any_shell, at, ephemeris, exit, router};
use crate::frame::{Angle, EQUATOR_RADIUS, Geodetic, light_delay};
use crate::isl::{Gateways, Limits, Router};
use crate::motion::{DestinationId, GatewayId, SatelliteId, Shell, Track};
use crate::visibility::{Observer, SatelliteGrid, View};

/// Delays over the +grids of three shells, with range limits that cut some links, by `scipy.sparse.csgraph` from positions that
/// the script computes itself (`tests/data/scipy_routes.py`). Here delays are whole nanoseconds, and positions interpolated.
#[test]
fn delays_are_those_of_scipy() {
    let text = include_str!("../../../tests/data/scipy-routes.csv");
    let shells = [
        (Shell::delta("starlink", 550.0, 53.0, 72, 22).phased(65), 5_016e3),
        (Shell::delta("kuiper", 630.0, 51.9, 34, 34).phased(7), 1_250e3),
        (
            Shell {
                node_spacing: Some(Angle::from_degrees(31.6)),
                ..Shell::star("iridium", 780.0, 86.4, 6, 11).phased(3)
            },
            4_100e3,
        ),
    ];
    let (mut rows, mut unreached, mut worst) = (0, 0, 0.0f64);
    for (shell, longest_m) in shells {
        let name = shell.name.clone();
        let mut ephemeris = ephemeris(shell);
        let mut router = router(&ephemeris, Limits { longest_m, ..Limits::default() }, 1);
        let own = DestinationId::from(0);
        let mut now = None;
        for line in text.lines().filter(|line| line.starts_with(&name)) {
            let fields: Vec<&str> = line.split(',').collect();
            let seconds: u64 = fields[1].parse().unwrap();
            if now.replace(seconds) != Some(seconds) {
                ephemeris.advance(at(seconds)).unwrap();
                router.update(&ephemeris);
                router.route(own, &[exit(3, 2_500), exit(40, 4_000)]);
            }
            let from = SatelliteId::from(fields[2].parse::<usize>().unwrap());
            let expected: f64 = fields[3].parse().unwrap();
            rows += 1;
            match router.delay(from, own) {
                None => {
                    assert!(expected < 0.0, "{line}");
                    unreached += 1;
                }
                Some(found) => worst = worst.max((found.as_millis_f64() - expected).abs()),
            }
        }
    }
    assert!(rows > 1_000 && unreached > 100, "{rows} {unreached}");
    // Up to 40 hops, each 0.5 ns from rounding, and some centimetres from interpolation.
    assert!(worst < 1e-4, "{worst} ms");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// After any sequence of times and exits, the delays are those of a search from scratch, and each way adds up to its delay.
    #[test]
    fn corrected_routes_are_those_of_a_search_from_scratch(
        shell in any_shell(), longest in 1e6..9e6f64,
        steps in prop::collection::vec((0u64..3_000, prop::collection::vec((0usize..1_000, 0u64..20_000), 0..4)), 1..6),
    ) {
        let mut ephemeris = ephemeris(shell);
        let limits = Limits { longest_m: longest, ..Limits::default() };
        let mut kept = router(&ephemeris, limits, 1);
        let own = DestinationId::from(0);
        for (seconds, exits) in steps {
            ephemeris.advance(at(seconds)).unwrap();
            let exits: Vec<_> = exits.into_iter().map(|(s, micros)| exit(s % ephemeris.len(), micros)).collect();
            let mut fresh = router(&ephemeris, limits, 1);
            for router in [&mut kept, &mut fresh] {
                router.update(&ephemeris);
                router.route(own, &exits);
            }
            for index in 0..ephemeris.len() {
                let from = SatelliteId::from(index);
                prop_assert_eq!(kept.delay(from, own), fresh.delay(from, own));
                let Some(way) = kept.way(from, own) else { continue };
                let hops = way.satellites.windows(2).map(|pair| {
                    light_delay((ephemeris.position(pair[0]) - ephemeris.position(pair[1])).norm())
                });
                let last = *way.satellites.last().unwrap();
                let down = exits.iter().filter(|exit| exit.satellite == last && exit.gateway == way.gateway).map(|exit| exit.delay);
                prop_assert_eq!(hops.sum::<SimDuration>() + down.min().unwrap(), way.delay);
            }
        }
    }

    /// No way goes through the Earth, whatever the shell, the time and the clearance.
    #[test]
    fn no_way_goes_through_the_earth(shell in any_shell(), seconds in 0u64..20_000, clearance in 0.0..200e3f64) {
        let mut ephemeris = ephemeris(shell);
        ephemeris.advance(at(seconds)).unwrap();
        let mut router = router(&ephemeris, Limits { clearance_m: clearance, ..Limits::default() }, 1);
        router.update(&ephemeris);
        let own = DestinationId::from(0);
        router.route(own, &[exit(0, 2_000)]);
        for index in 0..ephemeris.len() {
            let Some(way) = router.way(index.into(), own) else { continue };
            for pair in way.satellites.windows(2) {
                let (from, to) = (ephemeris.position(pair[0]), ephemeris.position(pair[1]));
                // By points along the way, not by the formula that the limits use.
                for share in 0..=50 {
                    let point = from + (to - from) * (f64::from(share) / 50.0);
                    prop_assert!(point.norm() >= EQUATOR_RADIUS + clearance - 1.0);
                }
            }
        }
    }
}

/// A bent pipe reaches a gateway only from a satellite that sees it; with links, from everywhere.
#[test]
fn bent_pipes_and_links() {
    let mut ephemeris = ephemeris(Shell::delta("s", 550.0, 53.0, 72, 22).phased(65));
    ephemeris.advance(at(77)).unwrap();
    let mut grid = SatelliteGrid::default();
    grid.refresh(&ephemeris);
    let place = Track::fixed(&Geodetic::from_degrees(47.6, -122.3, 50.0)).unwrap();
    let observer = Observer::new(place, View::above(Angle::from_degrees(25.0)));
    let mut gateways = Gateways::default();
    gateways.push(GatewayId::from(4), observer.clone(), SimDuration::from_millis(1));
    let (mut exits, mut seen) = (Vec::new(), Vec::new());
    gateways.exits(&ephemeris, &grid, &mut exits);
    let own = DestinationId::from(0);
    let mut pipes = Router::new(ephemeris.len(), Vec::new(), Limits::default(), 1);
    let mut links = router(&ephemeris, Limits::default(), 1);
    for router in [&mut pipes, &mut links] {
        router.update(&ephemeris);
        assert!(router.route(own, &exits));
        assert!(!router.route(own, &exits), "nothing has changed since");
    }
    let mut follower = observer;
    follower.follow(&ephemeris, &grid);
    follower.look(&ephemeris, &mut seen);
    assert!(seen.len() > 3);
    for index in 0..ephemeris.len() {
        let from = SatelliteId::from(index);
        let direct = seen.iter().find(|sighting| sighting.satellite == from);
        let direct = direct.map(|s| light_delay(s.look.range_m) + SimDuration::from_millis(1));
        assert_eq!(pipes.delay(from, own), direct);
        assert!(links.delay(from, own).is_some());
        assert!(direct.is_none_or(|direct| links.delay(from, own).unwrap() <= direct));
    }
}

/// London to New York: 5,570 km on the great circle take 18.6 ms at the speed of light and 27.9 ms in straight fibre (refractive
/// index 1.5). Over the links of a 550 km shell the way takes less than the fibre and more than the great circle.
#[test]
fn london_to_new_york_is_faster_than_fibre() {
    let mut ephemeris = ephemeris(Shell::delta("s", 550.0, 53.0, 72, 22).phased(65));
    let mut grid = SatelliteGrid::default();
    let observer = |latitude, longitude| {
        let place = Track::fixed(&Geodetic::from_degrees(latitude, longitude, 0.0)).unwrap();
        Observer::new(place, View::above(Angle::from_degrees(25.0)))
    };
    let mut london = observer(51.5, -0.1);
    let mut new_york = Gateways::default();
    new_york.push(GatewayId::from(0), observer(40.7, -74.0), SimDuration::ZERO);
    let mut router = router(&ephemeris, Limits::default(), 1);
    let own = DestinationId::from(0);
    let (mut exits, mut seen) = (Vec::new(), Vec::new());
    let (mut least, mut faster, mut count) = (f64::INFINITY, 0, 0);
    for seconds in (0..5_700).step_by(60) {
        ephemeris.advance(at(seconds)).unwrap();
        grid.refresh(&ephemeris);
        new_york.exits(&ephemeris, &grid, &mut exits);
        router.update(&ephemeris);
        router.route(own, &exits);
        london.follow(&ephemeris, &grid);
        london.look(&ephemeris, &mut seen);
        let delay = seen
            .iter()
            .filter_map(|s| Some(light_delay(s.look.range_m) + router.delay(s.satellite, own)?))
            .min()
            .unwrap();
        least = least.min(delay.as_millis_f64());
        faster += u32::from(delay.as_millis_f64() < 27.9);
        count += 1;
    }
    assert!(least > 18.6, "{least}");
    assert!(faster * 2 > count, "{faster} of {count}, {least} ms at best");
}
