//! An hour of Starlink's first generation at steps of 1 s: 100 terminals, their serving satellites and delays, and routes over
//! inter-satellite links to ten destinations with three gateways each. Prints totals; time it from outside:
//!
//! `cargo build --release -p leobench-orbit --example hour && time target/release/examples/hour`

#![allow(clippy::print_stdout, reason = "an example prints")]

use leobench_base::{RngTree, SimDuration, SimTime};
use leobench_orbit::ephemeris::SPACING;
use leobench_orbit::policy::starlink::{Starlink, Utility};
use leobench_orbit::presets::preset;
use leobench_orbit::{
    Angle, Constellation, DestinationId, Ephemeris, Epoch, Fleet, Gap, GatewayId, Gateways,
    Geodetic, Limits, Observer, OrbitError, Router, Terminal, TerminalId, Track, View, plus_grid,
    route,
};

const TERMINALS: usize = 100;
const DESTINATIONS: usize = 10;
const GATEWAYS: usize = 3;

fn observer(latitude: f64, longitude: f64) -> Observer {
    let place = Geodetic::from_degrees(latitude, longitude, 0.0);
    let track = Track::fixed(&place).expect("a place on the ground");
    Observer::new(track, View::above(Angle::from_degrees(25.0)))
}

fn terminals(start: Epoch) -> Vec<Terminal> {
    let make = |number: usize| {
        let tree = RngTree::new(1).child(&format!("terminal {number}"));
        let mut rng = tree.rng();
        let (latitude, longitude) = (rng.unit() * 110.0 - 55.0, rng.unit() * 360.0 - 180.0);
        Terminal {
            observer: observer(latitude, longitude),
            gateways: Vec::new(),
            policy: Box::new(Starlink::new(Utility::default(), start, tree.child("choice").rng())),
            gap: Gap::default(),
            rng: tree.child("gap").rng(),
        }
    };
    (0..TERMINALS).map(make).collect()
}

fn destinations() -> Vec<Gateways> {
    let make = |number: usize| {
        let mut gateways = Gateways::default();
        for gateway in 0..GATEWAYS {
            let latitude = 5.0 * number as f64 - 20.0;
            let longitude = 36.0 * number as f64 + 6.0 * gateway as f64;
            let id = GatewayId::from(number * GATEWAYS + gateway);
            let onwards = SimDuration::from_millis(gateway as u64);
            gateways.push(id, observer(latitude, longitude), onwards);
        }
        gateways
    };
    (0..DESTINATIONS).map(make).collect()
}

fn main() -> Result<(), OrbitError> {
    let start = Epoch::J2000;
    let shells = preset("starlink").map(|preset| (preset.shells)()).unwrap_or_default();
    let constellation = Constellation::of_shells(&shells, start, true);
    let links = plus_grid(&constellation);
    let ephemeris = Ephemeris::new(constellation, start, SPACING)?;
    let limits = Limits::default();
    let mut router = Router::new(ephemeris.len(), links, limits, DESTINATIONS);
    let mut fleet = Fleet::new(ephemeris, terminals(start));
    let mut destinations = destinations();
    let (mut exits, mut handovers, mut changes, mut ways) = (Vec::new(), 0, 0, 0u32);
    let mut total = SimDuration::ZERO;
    for second in 0..3_600 {
        handovers += fleet.advance(SimTime::ZERO + SimDuration::from_secs(second))?.len();
        router.update(fleet.ephemeris());
        for (number, gateways) in destinations.iter_mut().enumerate() {
            let destination = DestinationId::from(number);
            gateways.exits(fleet.ephemeris(), fleet.grid(), &mut exits);
            changes += usize::from(router.route(destination, &exits));
            for terminal in (0..TERMINALS).map(TerminalId::from) {
                let way = fleet.serving(terminal).and_then(|serving| {
                    let up = route::light_delay(serving.look.range_m);
                    Some(up + router.delay(serving.satellite, destination)?)
                });
                if let Some(delay) = way {
                    ways += 1;
                    total += delay;
                }
            }
        }
    }
    let mean = total.as_millis_f64() / f64::from(ways);
    println!("{handovers} handovers, {changes} changes of routes, {ways} ways of {mean:.6} ms");
    Ok(())
}
