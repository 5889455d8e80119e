//! Conformance tests that run on every routing model.

use leobench_base::SimDuration;
use leobench_base::spec::{At, Spec, TableSpec};
use proptest::prelude::*;

use super::nanos;
use crate::frame::{Angle, Topocentric, light_delay};
use crate::isl::routing::disjoint::DisjointSpec;
use crate::isl::routing::hysteresis::HysteresisSpec;
use crate::isl::routing::load_aware::LoadAwareSpec;
use crate::isl::routing::shortest::ShortestSpec;
use crate::isl::tests::{any_shell, at, ephemeris, exit, forwarded, own, router};
use crate::isl::{Exit, Limits, Load, Router, RoutingModel, RoutingSpec, plus_grid};
use crate::motion::{Ephemeris, SatelliteId};
use crate::visibility::Sighting;

/// Every model, with its name: those of the registry, and those that need more of the engine.
fn models() -> Vec<(&'static str, Box<dyn RoutingModel>)> {
    vec![
        ("shortest", Box::new(ShortestSpec::example())),
        ("hysteresis", Box::new(HysteresisSpec::example())),
        ("disjoint", Box::new(DisjointSpec::example())),
        ("load_aware", Box::new(LoadAwareSpec::example())),
    ]
}

#[test]
fn specifications_read_back_what_they_write() {
    for spec in RoutingSpec::examples() {
        assert_eq!(RoutingSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

fn of(spec: &dyn RoutingModel, ephemeris: &Ephemeris, limits: Limits) -> Router {
    router(ephemeris, limits, 1).routed_by(spec.build(ephemeris.len(), 1))
}

/// Loads that look random, of so many lasers.
fn loads(lasers: usize, step: usize) -> Vec<Load> {
    let load = |laser: usize| {
        let utilisation = (laser * 7_919 + step * 104_729) % 101;
        Load {
            utilisation: utilisation as f64 / 100.0,
            queueing: SimDuration::from_micros(50 * utilisation as u64),
        }
    };
    (0..lasers).map(load).collect()
}

fn seen(satellite: usize) -> Sighting {
    let look = Topocentric {
        azimuth: Angle::ZERO,
        elevation: Angle::from_degrees(60.0),
        range_m: 600e3,
        range_rate: 0.0,
    };
    Sighting { satellite: satellite.into(), look }
}

type Step = (u64, usize, Vec<(usize, u64)>);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let exits = prop::collection::vec((0usize..1_000, 0u64..20_000), 0..4);
    prop::collection::vec((0u64..120, 1usize..4, exits), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// At every instant, whatever happens to links, loads and exits: no table has a loop, a packet that follows it takes the
    /// delay that the router tells over lasers that are on, there is a way where and only where a search from scratch finds
    /// one, none is shorter than that, and tables elsewhere follow by the changes.
    #[test]
    fn tables_have_no_loops_and_lead_everywhere(shell in any_shell(), longest in 1e6..9e6f64, steps in steps()) {
        for (name, spec) in models() {
            let mut ephemeris = ephemeris(shell.clone());
            let limits = Limits { longest_m: longest, ..Limits::default() };
            let mut router = of(&*spec, &ephemeris, limits);
            let grid = plus_grid(ephemeris.constellation());
            let mut table = vec![None; ephemeris.len()];
            let mut now = 0;
            for (number, (seconds, part, exits)) in steps.iter().enumerate() {
                now += seconds;
                ephemeris.advance(at(now)).unwrap();
                let links: Vec<_> = (0..).zip(&grid).filter(|(n, _)| *part == 1 || n % part != 0).map(|(_, link)| *link).collect();
                router.arrange(&links);
                let loads = loads(2 * router.links().len(), number);
                router.observe(SimDuration::from_secs(*seconds), &loads);
                router.update(&ephemeris);
                let exits: Vec<Exit> = exits.iter().map(|(s, micros)| exit(s % ephemeris.len(), *micros)).collect();
                router.route(own(), &exits);
                router.for_each_change(own(), |satellite, outgoing| table[satellite.index()] = outgoing);
                prop_assert_eq!(&table, &router.table(own()).collect::<Vec<_>>());
                let mut fresh = Router::new(ephemeris.len(), links, limits, 1);
                fresh.update(&ephemeris);
                fresh.route(own(), &exits);
                for from in (0..ephemeris.len()).map(SatelliteId::from) {
                    let (delay, least) = (router.delay(from, own()), fresh.delay(from, own()));
                    prop_assert_eq!(forwarded(&router, &table, from, &exits), delay, "{}", name);
                    prop_assert_eq!(delay.is_some(), least.is_some(), "{}", name);
                    prop_assert!(delay >= least, "{}", name);
                }
            }
        }
    }

    /// Source routes lead from an entry to an exit over lasers that are on, one after the other; their delays add up, and no
    /// two share a link. The first is the one that the tables follow, if there is one alone.
    #[test]
    fn source_routes_lead_to_the_destination(
        shell in any_shell(), longest in 3e6..9e6f64, seconds in 0u64..3_000,
        places in prop::collection::vec(0usize..1_000, 1..4), exits in prop::collection::vec((0usize..1_000, 0u64..20_000), 1..4),
    ) {
        for (_, spec) in models() {
            let mut ephemeris = ephemeris(shell.clone());
            ephemeris.advance(at(seconds)).unwrap();
            let mut router = of(&*spec, &ephemeris, Limits { longest_m: longest, ..Limits::default() });
            router.update(&ephemeris);
            let exits: Vec<Exit> = exits.iter().map(|(s, micros)| exit(s % ephemeris.len(), *micros)).collect();
            router.route(own(), &exits);
            let places: Vec<_> = places.iter().map(|place| seen(place % ephemeris.len())).collect();
            let routes = router.source_routes(&places, own());
            let best = router.best_entry(&places, own());
            prop_assert_eq!(routes.is_empty(), best.is_none());
            let most = if spec.is_multipath() { 2 } else { 1 };
            prop_assert!(routes.len() <= most);
            prop_assert!(routes.windows(2).all(|pair| pair[0].delay <= pair[1].delay));
            if let ([only], Some(best)) = (&routes[..], best) {
                prop_assert_eq!((only.entry, only.delay), (best.satellite, best.delay));
            }
            let mut links = Vec::new();
            for route in &routes {
                prop_assert!(places.iter().any(|place| place.satellite == route.entry));
                let (mut at, mut total) = (route.entry, light_delay(600e3).as_nanos());
                for laser in &route.lasers {
                    prop_assert_eq!(router.laser(*laser).from, at);
                    total += nanos(router.laser_delay(*laser)).unwrap();
                    at = router.laser(*laser).to;
                    links.push(laser.link());
                }
                let last = exits.iter().filter(|e| e.satellite == at && e.gateway == route.gateway);
                total += last.map(|exit| exit.delay.as_nanos()).min().unwrap();
                prop_assert_eq!(total, route.delay.as_nanos());
            }
            let count = links.len();
            links.sort_unstable();
            links.dedup();
            prop_assert_eq!(links.len(), count, "no two routes share a link");
        }
    }
}
