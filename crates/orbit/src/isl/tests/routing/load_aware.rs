//! Costs by load, and how they settle when traffic follows them.

use leobench_base::SimDuration;
use leobench_base::spec::Whole;
use proptest::prelude::*;

use super::least_costs;
use crate::frame::Epoch;
use crate::isl::routing::load_aware::LoadAwareSpec;
use crate::isl::tests::{any_shell, at, ephemeris, exit, own, router};
use crate::isl::{Exit, Isl, LaserId, Limits, Load, Outgoing, Router, RoutingModel};
use crate::motion::{Constellation, DestinationId, Ephemeris, SatelliteId, Shell};

/// Neither smoothing nor margin nor turns.
fn undamped() -> LoadAwareSpec {
    let (smoothing, turns) = (SimDuration::ZERO, Whole::nearest(1));
    LoadAwareSpec { smoothing, share: 0.0, turns, ..LoadAwareSpec::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Without damping, tables lead over the least sum of delays and prices, by relaxation over all lasers; the delay that the
    /// router tells is that of the lasers alone.
    #[test]
    fn ways_have_the_least_cost(
        shell in any_shell(), longest in 2e6..9e6f64, seconds in 0u64..3_000, salt in 0usize..1_000,
        exits in prop::collection::vec((0usize..1_000, 0u64..20_000), 1..4),
    ) {
        let mut ephemeris = ephemeris(shell);
        ephemeris.advance(at(seconds)).unwrap();
        let spec = LoadAwareSpec { queueing: 2.0, ..undamped() };
        let limits = Limits { longest_m: longest, ..Limits::default() };
        let mut router = router(&ephemeris, limits, 1).routed_by(spec.build(ephemeris.len(), 1));
        let exits: Vec<Exit> = exits.into_iter().map(|(s, micros)| exit(s % ephemeris.len(), micros)).collect();
        let load = |laser: usize| {
            let parts = (laser * 31 + salt) % 11;
            Load { utilisation: parts as f64 / 10.0, queueing: SimDuration::from_micros(parts as u64 * 100) }
        };
        // 10 ms at full utilisation, and twice the wait.
        let price = |laser: LaserId| ((laser.index() * 31 + salt) % 11) as u64 * (1_000_000 + 2 * 100_000);
        let loads: Vec<_> = (0..2 * router.links().len()).map(load).collect();
        router.observe(SimDuration::from_secs(1), &loads);
        router.update(&ephemeris);
        router.route(own(), &exits);
        let table: Vec<_> = router.table(own()).collect();
        for (index, least) in least_costs(&router, ephemeris.len(), &exits, price).into_iter().enumerate() {
            let (mut at, mut cost, mut delay) = (SatelliteId::from(index), 0, 0);
            let found = loop {
                match table[at.index()] {
                    None => break None,
                    Some(Outgoing::Laser(laser)) => {
                        let over = router.laser_delay(laser).unwrap().as_nanos();
                        (cost, delay) = (cost + over + price(laser), delay + over);
                        at = router.laser(laser).to;
                    }
                    Some(Outgoing::Down(gateway)) => {
                        let here = exits.iter().filter(|e| e.satellite == at && e.gateway == gateway);
                        let down = here.map(|exit| exit.delay.as_nanos()).min().unwrap();
                        break Some((cost + down, delay + down));
                    }
                }
            };
            prop_assert_eq!(found.map(|(cost, _)| cost), least);
            let told = router.delay(index.into(), own()).map(SimDuration::as_nanos);
            prop_assert_eq!(found.map(|(_, delay)| delay), told);
        }
    }
}

/// A plane of twelve satellites: from satellite 0 to 6, both ways around are equally long.
fn ring() -> (Ephemeris, Vec<Isl>) {
    let shell = Shell::delta("s", 550.0, 53.0, 1, 12);
    let all = Constellation::of_shells(&[shell], Epoch::J2000, false);
    let link = |from: usize| Isl { from: from.into(), to: ((from + 1) % 12).into(), across: false };
    let ephemeris = Ephemeris::new(all, Epoch::J2000, SimDuration::from_secs(20)).unwrap();
    (ephemeris, (0..12).map(link).collect())
}

const FLOWS: usize = 8;

/// Eight flows from satellite 0 to as many destinations at satellite 6, each an eighth of a laser's rate, whose loads are fed
/// back each second for two minutes: the largest utilisation by second, and the changes of flows in the second minute.
fn closed_loop(spec: &LoadAwareSpec) -> (Vec<f64>, u32) {
    let (mut ephemeris, links) = ring();
    let mut router =
        Router::new(12, links, Limits::default(), FLOWS).routed_by(spec.build(12, FLOWS));
    let (mut largest, mut changes) = (Vec::new(), 0);
    let mut loads = vec![Load::default(); 24];
    let mut first = [None; FLOWS];
    for second in 0..120 {
        ephemeris.advance(at(second)).unwrap();
        router.observe(SimDuration::from_secs(1), &loads);
        router.update(&ephemeris);
        loads.fill(Load::default());
        for (flow, first) in first.iter_mut().enumerate() {
            let destination = DestinationId::from(flow);
            router.route(destination, &[exit(6, 2_000)]);
            let hop = router.outgoing(0.into(), destination);
            changes += u32::from(std::mem::replace(first, hop) != hop && second >= 60);
            let mut at = SatelliteId::from(0);
            while let Some(Outgoing::Laser(laser)) = router.outgoing(at, destination) {
                loads[laser.index()].utilisation += 1.0 / FLOWS as f64;
                at = router.laser(laser).to;
            }
        }
        largest.push(loads.iter().map(|load| load.utilisation).fold(0.0, f64::max));
    }
    (largest, changes)
}

/// All flows see the same costs: undamped, they go one way around together, and the other way at the next search. Damped, they
/// share both ways and stay.
#[test]
fn damping_ends_oscillation() {
    let (largest, changes) = closed_loop(&undamped());
    assert!(largest.iter().all(|most| (most - 1.0).abs() < 1e-9), "all together");
    assert!(changes >= 50 * FLOWS as u32, "{changes}");
    let (largest, changes) = closed_loop(&LoadAwareSpec::default());
    let late = &largest[60..];
    assert!(late.iter().all(|most| *most <= 0.625 + 1e-9), "{late:?}");
    assert_eq!(changes, 0);
    // Turns alone end it as well; a smoothed load alone does not, as all flows still see the same costs.
    let turns = LoadAwareSpec { turns: Whole::nearest(8), ..undamped() };
    let (largest, alone) = closed_loop(&turns);
    assert!(alone == 0 && largest[60..].iter().all(|most| *most <= 0.5 + 1e-9), "{alone}");
    let smoothing = LoadAwareSpec { smoothing: SimDuration::from_secs(5), ..undamped() };
    let (largest, changes) = closed_loop(&smoothing);
    assert!(changes > 0 && largest[119] > 0.99, "{changes}");
}

/// Smoothing is exponential: after one time constant, 63 % of a step of the load.
#[test]
fn loads_are_smoothed_over_their_time_constant() {
    let (ephemeris, links) = ring();
    let spec = LoadAwareSpec { smoothing: SimDuration::from_secs(10), ..undamped() };
    // The way by 11 from 0 to 6 gets dearer with the load of its first laser, by 10 ms times 1 - exp(-t/10 s). A destination that
    // is 5 ms nearer on that side moves away once the price exceeds 5 ms, after 10 s times ln 2: 6.93 s.
    let moved = (1..20).find(|seconds| {
        let mut router =
            Router::new(12, links.clone(), Limits::default(), 1).routed_by(spec.build(12, 1));
        let mut loads = vec![Load::default(); 24];
        // From 0 to 11 is the way back of the last link.
        loads[23].utilisation = 1.0;
        for _ in 0..*seconds {
            router.observe(SimDuration::from_secs(1), &loads);
        }
        router.update(&ephemeris);
        router.route(
            own(),
            &[exit(5, 10_000 + hop_micros(&ephemeris)), exit(7, 5_000 + hop_micros(&ephemeris))],
        );
        let hop = router.outgoing(0.into(), own());
        hop == Some(Outgoing::Laser(0.into()))
    });
    assert_eq!(moved, Some(7));
}

fn hop_micros(ephemeris: &Ephemeris) -> u64 {
    let [one, other] = [0, 1].map(|satellite: usize| ephemeris.position(satellite.into()));
    crate::frame::light_delay((one - other).norm()).as_nanos() / 1_000
}
