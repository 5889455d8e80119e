//! Ways are kept as long as they may be, and no longer.

use leobench_base::SimDuration;
use leobench_base::spec::{At, Spec};
use proptest::prelude::*;

use super::{cost_by, least_costs, nanos};
use crate::frame::{Angle, Geodetic};
use crate::isl::routing::hysteresis::HysteresisSpec;
use crate::isl::tests::{any_shell, at, ephemeris, exit, own, router};
use crate::isl::{Exit, Gateways, Limits, RoutingModel};
use crate::motion::{SatelliteId, Shell, Track};
use crate::visibility::{Observer, SatelliteGrid, View};

/// Whether a way may be kept beside the best one, by the definition.
fn may_stay(own: u64, best: u64, share: f64, time: u64) -> bool {
    let saved = own - best;
    saved <= time || saved as f64 <= share * own as f64 * (1.0 + 1e-12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// By ways of the last update and by costs from scratch: a satellite whose way may be kept keeps its next hop, and no way
    /// is worse afterwards than the margin allows.
    #[test]
    fn ways_stay_within_the_margin(
        shell in any_shell(), longest in 2e6..9e6f64, share in 0u32..900, time in 0u64..8_000_000,
        steps in prop::collection::vec((0u64..200, prop::collection::vec((0usize..1_000, 0u64..20_000), 1..4)), 2..7),
    ) {
        let mut ephemeris = ephemeris(shell);
        let share = f64::from(share) / 1e3;
        let spec = HysteresisSpec { share, time: SimDuration::from_nanos(time) };
        let limits = Limits { longest_m: longest, ..Limits::default() };
        let mut router = router(&ephemeris, limits, 1).routed_by(spec.build(ephemeris.len(), 1));
        let mut now = 0;
        for (seconds, exits) in steps {
            now += seconds;
            ephemeris.advance(at(now)).unwrap();
            let exits: Vec<Exit> = exits.into_iter().map(|(s, micros)| exit(s % ephemeris.len(), micros)).collect();
            let old: Vec<_> = router.table(own()).collect();
            router.update(&ephemeris);
            router.route(own(), &exits);
            let least = least_costs(&router, ephemeris.len(), &exits, |_| 0);
            for (index, least) in least.into_iter().enumerate() {
                let from = SatelliteId::from(index);
                let Some(least) = least else { continue };
                let delay = nanos(router.delay(from, own())).unwrap();
                prop_assert!(may_stay(delay, least, share, time), "{delay} instead of {least}");
                if let Some(before) = cost_by(&router, &old, from, &exits) && may_stay(before, least, share * (1.0 - 1e-9), time) {
                    prop_assert_eq!(router.outgoing(from, own()), old[index], "{} beside {}", before, least);
                }
            }
        }
    }
}

/// Half an hour of Starlink's first shell to Seattle, searched each second: without a margin the delays are those of the shortest
/// ways; with one, tables change less often, and ways take at most so much more time. Most changes remain: as the satellites go
/// round, each of them has Seattle before, beside and behind it in turn.
#[test]
fn ways_change_less_often() {
    let mut ephemeris = ephemeris(Shell::delta("s", 550.0, 53.0, 72, 22).phased(65));
    let mut grid = SatelliteGrid::default();
    let place = Track::fixed(&Geodetic::from_degrees(47.6, -122.3, 50.0)).unwrap();
    let mut seattle = Gateways::default();
    let view = View::above(Angle::from_degrees(25.0));
    seattle.push(0.into(), Observer::new(place, view), SimDuration::ZERO);
    let with = |share| HysteresisSpec { share, time: SimDuration::ZERO }.build(1_584, 1);
    let mut routers = [0.0, 0.1, 0.2]
        .map(|share| router(&ephemeris, Limits::default(), 1).routed_by(with(share)));
    let mut shortest = router(&ephemeris, Limits::default(), 1);
    let (mut changes, mut exits) = ([0u32; 4], Vec::new());
    for seconds in 0..1_800 {
        ephemeris.advance(at(seconds)).unwrap();
        grid.refresh(&ephemeris);
        seattle.exits(&ephemeris, &grid, &mut exits);
        let all = routers.iter_mut().chain([&mut shortest]);
        for (router, changes) in all.zip(&mut changes) {
            router.update(&ephemeris);
            router.route(own(), &exits);
            router.for_each_change(own(), |_, _| *changes += 1);
        }
        if seconds % 60 == 0 {
            for from in (0..1_584).map(SatelliteId::from) {
                let [exact, tenth, fifth] =
                    routers.each_ref().map(|router| nanos(router.delay(from, own())).unwrap());
                assert_eq!(Some(exact), nanos(shortest.delay(from, own())));
                assert!(tenth as f64 <= exact as f64 / 0.9 + 1.0, "{tenth} {exact}");
                assert!(fifth as f64 <= exact as f64 / 0.8 + 1.0, "{fifth} {exact}");
            }
        }
    }
    let [exact, tenth, fifth, shortest] = changes;
    assert!(exact == shortest && tenth < exact * 4 / 5 && fifth < tenth, "{changes:?}");
}

#[test]
fn shares_are_below_one() {
    let table = |share: f64| {
        let mut table = leobench_base::spec::Table::new();
        table.insert("share", leobench_base::spec::Value::Float(share));
        HysteresisSpec::read(&leobench_base::spec::Value::Table(table), &At::ROOT)
    };
    assert!((table(0.25).unwrap().share - 0.25).abs() < 1e-12);
    for share in [1.0, -0.1] {
        let message = table(share).unwrap_err().to_string();
        assert!(message.contains("from 0"), "{message}");
    }
}
