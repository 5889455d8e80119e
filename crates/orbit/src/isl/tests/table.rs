//! Forwarding tables: what satellites elsewhere are told has to be what the router knows.

use leobench_base::SimDuration;
use proptest::prelude::*;

use super::{any_shell, at, ephemeris, exit, forwarded, own, router};
use crate::frame::{Angle, Geodetic, Topocentric, light_delay};
use crate::isl::{Exit, Isl, LaserId, Limits, Router, plus_grid};
use crate::motion::{Ephemeris, GatewayId, SatelliteId, Shell, Track};
use crate::visibility::{Observer, SatelliteGrid, Sighting, View};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A table that applies nothing but the changes is that of the router, at any time, also when links are arranged anew, and
    /// packets that follow it take the delays of the router without loops.
    #[test]
    fn tables_follow_the_changes(
        shell in any_shell(), longest in 1e6..9e6f64,
        steps in prop::collection::vec((0u64..3_000, 1usize..4, prop::collection::vec((0usize..1_000, 0u64..20_000), 0..4)), 1..6),
    ) {
        let mut ephemeris = ephemeris(shell);
        let limits = Limits { longest_m: longest, ..Limits::default() };
        let mut router = router(&ephemeris, limits, 1);
        let grid = plus_grid(ephemeris.constellation());
        let mut table = vec![None; ephemeris.len()];
        for (seconds, part, exits) in steps {
            ephemeris.advance(at(seconds)).unwrap();
            let some: Vec<Isl> = grid.iter().enumerate().filter(|(n, _)| part == 1 || n % part != 0).map(|(_, link)| *link).collect();
            router.arrange(&some);
            router.update(&ephemeris);
            let exits: Vec<_> = exits.into_iter().map(|(s, micros)| exit(s % ephemeris.len(), micros)).collect();
            router.route(own(), &exits);
            let mut told = 0;
            router.for_each_change(own(), |satellite, outgoing| {
                assert_ne!(table[satellite.index()], outgoing, "told without a change");
                table[satellite.index()] = outgoing;
                told += 1;
            });
            prop_assert!(told <= table.len());
            prop_assert_eq!(&table, &router.table(own()).collect::<Vec<_>>());
            let mut fresh = Router::new(ephemeris.len(), some, limits, 1);
            fresh.update(&ephemeris);
            fresh.route(own(), &exits);
            for from in (0..ephemeris.len()).map(SatelliteId::from) {
                prop_assert_eq!(forwarded(&router, &table, from, &exits), router.delay(from, own()));
                prop_assert_eq!(fresh.delay(from, own()), router.delay(from, own()));
            }
        }
    }
}

#[test]
fn lasers_are_both_directions_of_links() {
    let mut ephemeris = ephemeris(Shell::delta("s", 550.0, 53.0, 3, 3));
    let mut router = router(&ephemeris, Limits { longest_m: 12e6, ..Limits::default() }, 1);
    router.update(&ephemeris);
    assert_eq!(router.lasers().len(), 2 * router.links().len());
    let (mut on, mut off) = (0, 0);
    for (number, laser) in router.lasers().enumerate() {
        let link = router.links()[number / 2];
        let ends =
            if number.is_multiple_of(2) { (link.from, link.to) } else { (link.to, link.from) };
        assert_eq!((laser.id, (laser.from, laser.to)), (LaserId::from(number), ends));
        let back = router.laser(laser.id.reverse());
        assert_eq!((back.from, back.to), (laser.to, laser.from));
        let (from, to) = (ephemeris.position(laser.from), ephemeris.position(laser.to));
        let usable = Limits { longest_m: 12e6, ..Limits::default() }.admit(false, from, to);
        let delay = usable.then(|| light_delay((to - from).norm()));
        assert_eq!(router.laser_delay(laser.id), delay);
        *if usable { &mut on } else { &mut off } += 1;
    }
    assert!(on + off > 0 && off > 0, "satellites 120 degrees apart are behind the Earth");
    ephemeris.advance(at(60)).unwrap();
    router.arrange(&[]);
    router.update(&ephemeris);
    assert!(router.lasers().all(|laser| router.laser_delay(laser.id).is_none()));
}

/// Links that are taken down and set up again keep their numbers; a new pair takes the next one, whichever end comes first.
#[test]
fn links_keep_their_numbers() {
    let link = |from: usize, to: usize| Isl { from: from.into(), to: to.into(), across: false };
    let mut router = Router::new(4, vec![link(0, 1), link(1, 2)], Limits::default(), 1);
    router.arrange(&[link(3, 2), link(2, 1)]);
    router.arrange(&[link(1, 0), link(2, 3), link(0, 3)]);
    let ends: Vec<_> = router.links().iter().map(|link| link.ends().map(usize::from)).collect();
    assert_eq!(ends, [[0, 1], [1, 2], [2, 3], [0, 3]]);
}

/// London to New York over the satellite that makes the way shortest, of those in view: that of all pairs of first and last
/// satellites, by a router for each last satellite.
#[test]
fn the_best_entry_is_the_best_of_all_pairs() {
    let mut ephemeris = ephemeris(Shell::delta("s", 550.0, 53.0, 72, 22).phased(65));
    let mut grid = SatelliteGrid::default();
    let mut places = [(51.5, -0.1), (40.7, -74.0)].map(|(latitude, longitude)| {
        let place = Track::fixed(&Geodetic::from_degrees(latitude, longitude, 0.0)).unwrap();
        Observer::new(place, View::above(Angle::from_degrees(25.0)))
    });
    let mut free = router(&ephemeris, Limits::default(), 1);
    let mut other = 0;
    for seconds in (0..600).step_by(50) {
        ephemeris.advance(at(seconds)).unwrap();
        grid.refresh(&ephemeris);
        let [first, last] = &mut places;
        let [first, last] = [first, last].map(|place| look(place, &ephemeris, &grid));
        let down = |seen: &Sighting| Exit {
            satellite: seen.satellite,
            gateway: GatewayId::from(0),
            delay: light_delay(seen.look.range_m),
        };
        free.update(&ephemeris);
        free.route(own(), &last.iter().map(down).collect::<Vec<_>>());
        let entry = free.best_entry(&first, own()).unwrap();
        let mut pairs = Vec::new();
        for exit in last.iter().map(down) {
            let mut one = router(&ephemeris, Limits::default(), 1);
            one.update(&ephemeris);
            one.route(own(), &[exit]);
            pairs.extend(first.iter().map(|seen| {
                let rest = one.delay(seen.satellite, own()).unwrap();
                (light_delay(seen.look.range_m) + rest, seen.satellite)
            }));
        }
        assert_eq!(Some(&(entry.delay, entry.satellite)), pairs.iter().min());
        let nearest = first.iter().min_by(|a, b| a.look.range_m.total_cmp(&b.look.range_m));
        other += usize::from(nearest.unwrap().satellite != entry.satellite);
    }
    assert!(other > 0, "the nearest satellite is not always the best one");
    assert_eq!(free.best_entry(&[], own()), None);
}

/// Of two entries with the same delay the one with the lower number counts, in whatever order they are seen.
#[test]
fn equal_entries_are_taken_by_number() {
    let mut router = Router::new(3, Vec::new(), Limits::default(), 1);
    router.route(own(), &[exit(2, 500), exit(1, 500)]);
    let seen = |satellite: usize| Sighting {
        satellite: satellite.into(),
        look: Topocentric {
            azimuth: Angle::ZERO,
            elevation: Angle::from_degrees(60.0),
            range_m: 600e3,
            range_rate: 0.0,
        },
    };
    for order in [[0, 1, 2], [2, 1, 0]] {
        let entry = router.best_entry(&order.map(seen), own()).unwrap();
        assert_eq!(entry.satellite, SatelliteId::from(1));
        assert_eq!(entry.delay, light_delay(600e3) + SimDuration::from_micros(500));
    }
}

fn look(place: &mut Observer, ephemeris: &Ephemeris, grid: &SatelliteGrid) -> Vec<Sighting> {
    let mut seen = Vec::new();
    place.follow(ephemeris, grid);
    place.look(ephemeris, &mut seen);
    seen
}
