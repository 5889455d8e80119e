//! The cost of constellations: the geometry of an hour by number of terminals, and idle links beside a download over
//! satellites.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::fmt::Write as _;
use std::process::Command;

use leobench_base::{RngTree, SimDuration, SimTime};
use leobench_orbit::elements::presets::preset;
use leobench_orbit::isl::RoutingModel;
use leobench_orbit::isl::routing::disjoint::DisjointSpec;
use leobench_orbit::isl::routing::hysteresis::HysteresisSpec;
use leobench_orbit::isl::routing::load_aware::LoadAwareSpec;
use leobench_orbit::isl::routing::shortest::ShortestSpec;
use leobench_orbit::motion::SPACING;
use leobench_orbit::serving::starlink::{Starlink, StarlinkSpec};
use leobench_orbit::{
    Angle, Assignment, Constellation, DestinationId, Ephemeris, Epoch, GatewayId, Gateways,
    Geodetic, HandoverCost, Limits, Observer, OrbitError, Router, SatelliteGrid, Shell, Terminal,
    TerminalId, Track, View, frame, plus_grid,
};

use crate::engine::measure;
use crate::memory::peak;
use crate::{Measured, timed};

/// Numbers of terminals.
const TERMINALS: [usize; 3] = [10, 100, 400];
const DESTINATIONS: usize = 10;
const GATEWAYS: usize = 3;

fn observer(latitude: f64, longitude: f64) -> Observer {
    let place = Geodetic::from_degrees(latitude, longitude, 0.0);
    let track = Track::fixed(&place).expect("a place on the ground");
    Observer::new(track, View::above(Angle::from_degrees(25.0)))
}

fn terminals(count: usize, start: Epoch) -> Vec<Terminal> {
    let make = |number: usize| {
        let tree = RngTree::new(1).child(&format!("terminal {number}"));
        let mut rng = tree.rng();
        let (latitude, longitude) = (rng.unit() * 110.0 - 55.0, rng.unit() * 360.0 - 180.0);
        Terminal {
            observer: observer(latitude, longitude),
            gateways: Vec::new(),
            policy: Box::new(Starlink::new(
                StarlinkSpec::default(),
                start,
                tree.child("choice").rng(),
            )),
            apart: None,
            cost: HandoverCost::default(),
            rng: tree.child("gap").rng(),
        }
    };
    (0..count).map(make).collect()
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

/// Idle links, and how much more than without them a download may take.
const IDLE: usize = 10_000;
const MOST: f64 = 1.05;
/// How often the download is measured; the fastest counts.
const ROUNDS: usize = 3;

/// Prints the costs; each hour runs in a process of its own, whose memory is told.
pub(crate) fn compare() {
    println!("An hour of 4,408 satellites at steps of 1 s, routes to 10 destinations, one core:");
    for terminals in TERMINALS {
        let own = std::env::current_exe().unwrap_or_else(|error| panic!("own path: {error}"));
        let output = Command::new(own).args(["orbit", &terminals.to_string()]).output();
        let output = output.unwrap_or_else(|error| panic!("cannot run a child: {error}"));
        print!("{terminals:>5} terminals: {}", String::from_utf8_lossy(&output.stdout));
    }
    updates();
    let mut nanos = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (best, idle) in nanos.iter_mut().zip([0, IDLE]) {
            *best = best.min(download(idle).nanos_per_packet());
        }
    }
    let ratio = nanos[1] / nanos[0];
    println!("A download over Starlink, 20 min, fastest of {ROUNDS} rounds: ns per packet");
    println!(
        "  alone {:.0}, beside {IDLE} idle links {:.0} ({ratio:.3}, at most {MOST})",
        nanos[0], nanos[1]
    );
}

/// Destinations and seconds of the updates of routes.
const ROUTED: usize = 100;
const SECONDS: u64 = 60;

/// Prints the cost of an update of the routes to 100 destinations over Starlink's first shell, by model.
fn updates() {
    println!(
        "Routes to {ROUTED} destinations over 1,584 satellites each second, fastest of {ROUNDS}:"
    );
    let models: [(&str, Box<dyn RoutingModel>); 4] = [
        ("shortest", Box::new(ShortestSpec {})),
        ("hysteresis", Box::new(HysteresisSpec::default())),
        ("disjoint", Box::new(DisjointSpec {})),
        ("load_aware", Box::new(LoadAwareSpec::default())),
    ];
    for (name, model) in models {
        let mut best = f64::INFINITY;
        let mut changes = 0;
        for _ in 0..ROUNDS {
            let (time, count) = timed(|| update(&*model));
            changes = count.unwrap_or_else(|error| panic!("an orbit failed: {error}"));
            best = best.min(time.as_secs_f64());
        }
        let millis = best * 1e3 / SECONDS as f64;
        println!("{name:>12}: {millis:.2} ms per update, {changes} changes of next hops");
    }
}

/// A minute of updates; returns how many next hops have changed.
fn update(model: &dyn RoutingModel) -> Result<u32, OrbitError> {
    let shell = Shell::delta("starlink", 550.0, 53.0, 72, 22).phased(65);
    let constellation = Constellation::of_shells(&[shell], Epoch::J2000, true);
    let links = plus_grid(&constellation);
    let mut ephemeris = Ephemeris::new(constellation, Epoch::J2000, SPACING)?;
    let count = ephemeris.len();
    let mut router =
        Router::new(count, links, Limits::default(), ROUTED).routed_by(model.build(count, ROUTED));
    let mut grid = SatelliteGrid::default();
    let place = |number: usize| {
        let mut gateways = Gateways::default();
        let longitude = (number * 37 % 360) as f64 - 180.0;
        gateways.push(number.into(), observer(number as f64 - 50.0, longitude), SimDuration::ZERO);
        gateways
    };
    let mut places: Vec<_> = (0..ROUTED).map(place).collect();
    let (mut exits, mut changes) = (Vec::new(), 0);
    for second in 0..SECONDS {
        ephemeris.advance(SimTime::ZERO + SimDuration::from_secs(second))?;
        grid.refresh(&ephemeris);
        router.update(&ephemeris);
        for (number, gateways) in places.iter_mut().enumerate() {
            gateways.exits(&ephemeris, &grid, &mut exits);
            router.route(number.into(), &exits);
            router.for_each_change(number.into(), |_, _| changes += 1);
        }
    }
    Ok(changes)
}

/// The hour with so many terminals, in a process of its own.
pub(crate) fn child(terminals: &str) {
    let count = terminals.parse().unwrap_or_else(|_| panic!("{terminals} is not a number"));
    let (time, totals) = timed(|| hour(count));
    let totals = totals.unwrap_or_else(|error| panic!("an orbit failed: {error}"));
    println!("{:.2} s, {} KiB ({totals})", time.as_secs_f64(), peak());
}

/// Twenty minutes of a download over one terminal, beside so many links that no flow uses.
fn download(idle: usize) -> Measured {
    let mut links = String::new();
    for link in 0..idle {
        let _ = writeln!(
            links,
            "links.i{link} = {{ between = [\"hill\", \"valley\"], rate = \"10 Mbps\", delay = \"20 ms\" }}"
        );
    }
    measure(&format!(
        r#"
        name = "idle"
        duration = "20 min"
        nodes = {{ roof = {{}}, pop = {{}}, hill = {{}}, valley = {{}} }}
        record = {{ messages = false, interval = "100 ms" }}
        {links}
        [constellation]
        satellites = {{ preset = "starlink" }}
        start = "2026-03-20T12:00:00Z"
        outage = "40 ms"
        terminals.seattle = {{ latitude = "47.66 deg", longitude = "-122.31 deg" }}
        gateways.redmond = {{ latitude = "47.674 deg", longitude = "-122.1215 deg" }}
        [links.sky]
        between = ["roof", "pop"]
        constellation = {{ terminal = "seattle" }}
        delay = "8 ms"
        queue = {{ kind = "fifo", limit = "300 kB" }}
        forward = {{ rate = "12 Mbps" }}
        backward = {{ rate = "60 Mbps" }}
        [flows.download]
        transport = "quic"
        from = "pop"
        to = "roof"
        opened_by = "to"
        source = "bulk"
        "#
    ))
}

/// An hour of Starlink's first generation at steps of 1 s: terminals, their serving satellites and delays, and routes over
/// inter-satellite links to ten destinations with three gateways each. Returns totals.
fn hour(count: usize) -> Result<String, OrbitError> {
    let start = Epoch::J2000;
    let shells = preset("starlink").map(|preset| (preset.shells)()).unwrap_or_default();
    let constellation = Constellation::of_shells(&shells, start, true);
    let links = plus_grid(&constellation);
    let ephemeris = Ephemeris::new(constellation, start, SPACING)?;
    let limits = Limits::default();
    let mut router = Router::new(ephemeris.len(), links, limits, DESTINATIONS);
    let mut assignment = Assignment::new(ephemeris, terminals(count, start));
    let mut destinations = destinations();
    let (mut exits, mut handovers, mut changes, mut ways) = (Vec::new(), 0, 0, 0u32);
    let mut total = SimDuration::ZERO;
    for second in 0..3_600 {
        handovers += assignment.advance(SimTime::ZERO + SimDuration::from_secs(second))?.len();
        router.update(assignment.ephemeris());
        for (number, gateways) in destinations.iter_mut().enumerate() {
            let destination = DestinationId::from(number);
            gateways.exits(assignment.ephemeris(), assignment.grid(), &mut exits);
            changes += usize::from(router.route(destination, &exits));
            for terminal in (0..count).map(TerminalId::from) {
                let way = assignment.serving(terminal).and_then(|serving| {
                    let up = frame::light_delay(serving.look.range_m);
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
    Ok(format!("{handovers} handovers, {changes} changes of routes, {ways} ways of {mean:.6} ms"))
}
