//! Forwarding states of another program.

use leobench_base::{SimDuration, SimTime};

use crate::frame::Epoch;
use crate::isl::routing::table::Hop;
use crate::isl::routing::table::Table;
use crate::isl::tests::{at, ephemeris, exit, router};
use crate::isl::{Exit, Isl, Limits, NextHop, Outgoing, Router, plus_grid};
use crate::motion::{Constellation, DestinationId, Ephemeris, GatewayId, SatelliteId, Shell};

/// The exits of two stations; gateways are their numbers.
fn exits(station: usize, seconds: u64) -> Vec<Exit> {
    let satellite = station * 20 + (seconds / 20) as usize;
    vec![Exit { gateway: GatewayId::from(station), ..exit(satellite, 3_000) }]
}

/// A state that is written down from the shortest ways, change by change as Hypatia does, leads along these ways.
#[test]
fn states_lead_where_they_say() {
    let shell = Shell::delta("s", 630.0, 51.9, 12, 10).phased(5);
    let mut ephemeris = ephemeris(shell);
    let links = plus_grid(ephemeris.constellation());
    let mut shortest = router(&ephemeris, Limits::default(), 2);
    let mut states = Vec::new();
    let mut known = vec![[None; 2]; 120];
    for seconds in 0..60 {
        ephemeris.advance(at(seconds)).unwrap();
        shortest.update(&ephemeris);
        let mut hops = Vec::new();
        for station in 0..2 {
            shortest.route(station.into(), &exits(station, seconds));
            for (node, known) in known.iter_mut().enumerate() {
                let next = shortest.next_hop(node.into(), station.into()).map(|next| match next {
                    NextHop::Satellite(next) => next.index() as u32,
                    NextHop::Down(gateway) => 120 + gateway.index() as u32,
                });
                if next != known[station] || seconds == 0 {
                    known[station] = next;
                    hops.push(Hop { node: node as u32, end: 120 + station as u32, next });
                }
            }
        }
        hops.push(Hop { node: 121, end: 120, next: Some((seconds / 20) as u32) });
        states.push((at(seconds), hops));
    }
    states.reverse();
    let table = Table::new(120, 2, &links, states).unwrap();
    let mut read = router(&ephemeris, Limits::default(), 2).routed_by(Box::new(table));
    for seconds in [0, 1, 2, 19, 20, 37, 59] {
        ephemeris.advance(at(seconds)).unwrap();
        for router in [&mut shortest, &mut read] {
            router.update(&ephemeris);
            for station in 0..2 {
                router.route(station.into(), &exits(station, seconds));
            }
        }
        for station in (0..2).map(DestinationId::from) {
            assert_eq!(
                read.table(station).collect::<Vec<_>>(),
                shortest.table(station).collect::<Vec<_>>()
            );
            for from in (0..120).map(SatelliteId::from) {
                assert_eq!(read.delay(from, station), shortest.delay(from, station));
                assert_eq!(read.way(from, station), shortest.way(from, station));
            }
        }
    }
}

/// Satellites 0 and 1 send to each other: no way has a delay, and the table stays as it is. So does one over a laser that is off.
#[test]
fn circles_and_interrupted_ways_have_no_delay() {
    let all =
        Constellation::of_shells(&[Shell::delta("s", 550.0, 53.0, 1, 12)], Epoch::J2000, false);
    let ephemeris = Ephemeris::new(all, Epoch::J2000, SimDuration::from_secs(20)).unwrap();
    let link = |from: usize, to: usize| Isl { from: from.into(), to: to.into(), across: false };
    let links = vec![link(0, 1), link(1, 2), link(2, 6)];
    let hop = |node, next| Hop { node, end: 12, next };
    let circle =
        vec![hop(0, Some(1)), hop(1, Some(0)), hop(2, Some(6)), hop(6, Some(12)), hop(12, Some(3))];
    // Of two changes at one instant, the second one holds.
    let states = vec![(SimTime::ZERO, vec![hop(6, None)]), (SimTime::ZERO, circle)];
    let table = Table::new(12, 1, &links, states).unwrap();
    let mut router =
        Router::new(12, links.clone(), Limits::default(), 1).routed_by(Box::new(table));
    assert_eq!(router.entry(0, 0.into()), None);
    router.update(&ephemeris);
    assert_eq!(router.entry(0, 0.into()), Some(3.into()));
    assert!(router.route(0.into(), &[Exit { gateway: 0.into(), ..exit(6, 3_000) }]));
    let delay = |satellite: usize| router.delay(satellite.into(), 0.into());
    assert_eq!(delay(0), None, "a circle");
    assert_eq!(delay(2), None, "through the Earth");
    assert_eq!(delay(6), Some(SimDuration::from_millis(3)));
    assert_eq!(router.outgoing(0.into(), 0.into()), Some(Outgoing::Laser(0.into())));
    assert_eq!(router.outgoing(1.into(), 0.into()), Some(Outgoing::Laser(1.into())));
    assert_eq!(router.way(0.into(), 0.into()), None);
    let missing = vec![(SimTime::ZERO, vec![hop(0, Some(2))])];
    let message = Table::new(12, 1, &links, missing).unwrap_err();
    assert_eq!(message, "satellite 0 has the next hop 2 without a link");
}
