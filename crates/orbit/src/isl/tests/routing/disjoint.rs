//! Pairs of ways against all pairs that there are.

use proptest::prelude::*;

use crate::frame::{Angle, Topocentric, light_delay};
use crate::isl::routing::disjoint::DisjointSpec;
use crate::isl::tests::{at, ephemeris, exit, own};
use crate::isl::{Exit, Isl, LaserId, Limits, Router, RoutingModel};
use crate::motion::{Ephemeris, SatelliteId, Shell};
use crate::visibility::Sighting;

fn seen(satellite: usize, range_m: f64) -> Sighting {
    let look =
        Topocentric { azimuth: Angle::ZERO, elevation: Angle::ZERO, range_m, range_rate: 0.0 };
    Sighting { satellite: satellite.into(), look }
}

/// All ways from a satellite that pass none twice: their links as bits, and their delays from the satellite on.
fn all_ways(router: &Router, exits: &[Exit], from: SatelliteId) -> Vec<(u64, u64)> {
    fn go(
        router: &Router,
        exits: &[Exit],
        at: SatelliteId,
        way: (u64, u64),
        passed: u64,
        all: &mut Vec<(u64, u64)>,
    ) {
        let downs = exits.iter().filter(|exit| exit.satellite == at);
        all.extend(downs.map(|exit| (way.0, way.1 + exit.delay.as_nanos())));
        for laser in router.lasers().filter(|laser| laser.from == at) {
            let next = 1 << laser.to.index();
            if let Some(delay) = router.laser_delay(laser.id).filter(|_| passed & next == 0) {
                let way = (way.0 | 1 << laser.id.link(), way.1 + delay.as_nanos());
                go(router, exits, laser.to, way, passed | next, all);
            }
        }
    }
    let mut all = Vec::new();
    go(router, exits, from, (0, 0), 1 << from.index(), &mut all);
    all
}

/// Two planes of four satellites, all in sight of their neighbours, with links as the bits say.
fn router(ephemeris: &Ephemeris, bits: u32) -> Router {
    let pairs = (0..8usize).flat_map(|one| (one + 1..8).map(move |other| (one, other)));
    let links = pairs.enumerate().filter(|(number, _)| bits >> number & 1 == 1);
    let links = links.map(|(_, (from, to))| Isl { from: from.into(), to: to.into(), across: true });
    let limits = Limits { clearance_m: -6e6, ..Limits::default() };
    let routing = DisjointSpec {}.build(8, 1);
    Router::new(ephemeris.len(), links.collect(), limits, 1).routed_by(routing)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Over random graphs of eight satellites and up to 14 links: there are two ways if and only if any two share no link, and
    /// no two take less time together.
    #[test]
    fn two_ways_are_the_best_pair(
        bits in prop::collection::vec(0u32..28, 4..14), seconds in 0u64..6_000,
        entries in prop::collection::btree_set(0usize..8, 1..3), exits in prop::collection::vec((0usize..8, 500u64..20_000), 1..3),
    ) {
        let mut ephemeris = ephemeris(Shell::delta("s", 2_000.0, 53.0, 2, 4).phased(1));
        ephemeris.advance(at(seconds)).unwrap();
        let mut router = router(&ephemeris, bits.into_iter().fold(0, |all, bit| all | 1 << bit));
        router.update(&ephemeris);
        let exits: Vec<Exit> = exits.into_iter().map(|(satellite, micros)| exit(satellite, micros)).collect();
        router.route(own(), &exits);
        let places: Vec<_> = entries.iter().map(|entry| seen(*entry, 6e5 + 1e5 * *entry as f64)).collect();
        let mut ways = Vec::new();
        for place in &places {
            let up = light_delay(place.look.range_m).as_nanos();
            ways.extend(all_ways(&router, &exits, place.satellite).into_iter().map(|(links, delay)| (links, up + delay)));
        }
        let pairs = ways.iter().enumerate().flat_map(|(index, one)| ways[index..].iter().map(move |other| (one, other)));
        // A way without links, straight down again, is disjoint from itself: two packets can take it.
        let best = pairs.filter(|(one, other)| one.0 & other.0 == 0).map(|(one, other)| one.1 + other.1).min();
        let routes = router.source_routes(&places, own());
        let together: u64 = routes.iter().map(|route| route.delay.as_nanos()).sum();
        let alone = (ways.len().min(1), ways.iter().map(|way| way.1).min().unwrap_or(0));
        prop_assert_eq!((routes.len(), together), best.map_or(alone, |best| (2, best)));
    }
}

/// The trap of Suurballe and Tarjan's paper: the shortest way takes the link that both others need, so that after it no second
/// one is left; the pair goes around it.
#[test]
fn a_pair_is_found_where_the_shortest_way_blocks_all_others() {
    let mut ephemeris = ephemeris(Shell::delta("s", 2_000.0, 53.0, 1, 8));
    ephemeris.advance(at(0)).unwrap();
    let link = |from: usize, to: usize| Isl { from: from.into(), to: to.into(), across: false };
    // From 0 to 3: 0-1-2-3 along the plane is shortest. 0-2 and 1-3 are chords.
    let links = vec![link(0, 1), link(1, 2), link(2, 3), link(0, 2), link(1, 3)];
    let limits = Limits { clearance_m: -6e6, ..Limits::default() };
    let mut router = Router::new(8, links, limits, 1).routed_by(DisjointSpec {}.build(8, 1));
    router.update(&ephemeris);
    router.route(own(), &[exit(3, 1_000)]);
    let found = router.source_routes(&[seen(0, 6e5)], own());
    let ways: Vec<Vec<usize>> = found
        .iter()
        .map(|route| route.lasers.iter().map(|laser| router.laser(*laser).to.index()).collect())
        .collect();
    assert!(ways.contains(&vec![1, 3]) && ways.contains(&vec![2, 3]), "{ways:?}");
    assert!(found[0].delay <= found[1].delay);
    let only = |laser: &LaserId| laser.link() != 1;
    assert!(found.iter().all(|route| route.lasers.iter().all(only)), "1-2 is cancelled");
}
