//! Links between the same ends whose packets take two routes that share no laser.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::common::{run, scenario, try_scenario};
use leobench_base::SimTime;
use leobench_sim::satellite_links::SatelliteLinks;
use leobench_sim::summary::Summary;

/// Links between the same nodes, terminal and gateway.
fn links(choices: &[&str], terminal: &str, gateway: &str) -> String {
    let mut text = format!(
        r"
        nodes = {{ home = {{}}, away = {{}} }}
        [constellation.terminals.home]
        {terminal}
        [constellation.gateways.away]
        {gateway}
        "
    );
    for (name, choice) in ["one", "two"].into_iter().zip(choices) {
        write!(
            text,
            r#"
            [links.{name}]
            between = ["home", "away"]
            constellation = {{ terminal = "home", {choice} }}
            rate = "100 Mbps"
            queue = {{ kind = "fifo", limit = "100 packets" }}
            "#
        )
        .unwrap();
    }
    text
}

/// Half the angle between two satellites of the ring.
const SIN_10_DEG: f64 = 0.173_648_177_666_930_3;
const PAIR: [&str; 2] = [r#"route = "first""#, r#"route = "second""#];

/// A ring of 18 satellites over the equator, each with a laser to both neighbours, and ends a third of the way around.
fn ring(choices: &[&str]) -> String {
    let links = links(
        choices,
        "latitude = \"0 deg\"\nlongitude = \"0 deg\"",
        "latitude = \"0 deg\"\nlongitude = \"120 deg\"",
    );
    let (nodes, rest) = links.split_once("[constellation").unwrap();
    format!(
        r#"
        name = "ring"
        duration = "10 s"
        {nodes}
        [constellation]
        satellites.walker.ring = {{ altitude = "1200 km", inclination = "0 deg", planes = 1, per_plane = 18 }}
        start = "2026-01-01T00:00:00Z"
        policy = "highest"
        isl = {{ rate = "10 Mbps", routing = "disjoint", queue = {{ kind = "fifo", limit = "100 packets" }} }}
        [constellation{rest}
        [flows.main]
        transport = {{ kind = "quic", multipath = {{ links = ["one", "two"] }} }}
        from = "home"
        to = "away"
        source = "bulk"
        "#
    )
}

/// One route leads around the ring to the east, and the other one to the west, over lasers of 2 r sin(10 deg) each. Both begin at the satellite
/// that serves the terminal, and end where the gateway sees them.
#[test]
fn routes_around_a_ring_are_those_computed_by_hand() {
    let mut sky = SatelliteLinks::new(&scenario(&ring(&PAIR)), 1).unwrap().unwrap();
    sky.advance(SimTime::ZERO);
    let ways = [0, 1].map(|path| sky.state(path).way.clone().unwrap());
    let laser_ms = 2.0 * 7_578.137 * SIN_10_DEG / 299.792_458;
    let lasers = ways.each_ref().map(|way| way.hops);
    assert!((5..=7).contains(&lasers[0]) && (11..=13).contains(&lasers[1]), "{lasers:?}");
    assert!((17..=18).contains(&(lasers[0] + lasers[1])), "{lasers:?}");
    assert_eq!(ways[0].satellite, ways[1].satellite);
    for way in &ways {
        assert_eq!(way.delay, way.delay_back);
        let ends = way.delay.as_millis_f64() - way.hops as f64 * laser_ms;
        // Up and down, from 1,200 km straight up to 2,041 km at 25 degrees.
        let [nearest, farthest] = [1_200.0, 2_041.0].map(|km| 2.0 * km / 299.792_458);
        assert!(ends > nearest && ends < farthest, "{ends} ms");
    }
}

/// Packets that each laser of the summary sent.
fn lasers(summary: &Summary) -> BTreeSet<&str> {
    let hops = summary.orbit.as_ref().unwrap().hops.iter();
    hops.filter(|hop| hop.name.starts_with("laser/")).map(|hop| hop.name.as_str()).collect()
}

/// Kuiper's first shell from Manila to Dalian.
fn cities(isl: &str, links: &[&str], transport: &str) -> String {
    let links = self::links(
        links,
        "latitude = \"14.6042 deg\"\nlongitude = \"120.9822 deg\"",
        "latitude = \"38.9140 deg\"\nlongitude = \"121.6147 deg\"",
    );
    let (nodes, rest) = links.split_once("[constellation").unwrap();
    format!(
        r#"
        name = "cities"
        duration = "30 s"
        warm_up = "5 s"
        record.messages = false
        {nodes}
        [constellation]
        satellites.walker.k1 = {{ altitude = "630 km", inclination = "51.9 deg", planes = 34, per_plane = 34 }}
        start = "2026-01-01T00:00:00Z"
        policy = "shortest"
        lowest_elevation = "30 deg"
        isl = {{ rate = "10 Mbps", queue = {{ kind = "fifo", limit = "100 packets" }}, {isl} }}
        [constellation{rest}
        [flows.main]
        transport = {transport}
        from = "home"
        to = "away"
        source = "bulk"
        "#
    )
}

const BOTH: &str = r#"{ kind = "quic", multipath = { links = ["one", "two"] } }"#;

/// Lasers of 10 Mbit/s are the bottleneck: over two routes, multipath QUIC carries nearly twice what it does over shortest ways, of which both
/// links take the same.
#[test]
fn multipath_over_two_routes_carries_nearly_twice_as_much() {
    let goodput = |isl: &str, choices: &[&str]| {
        let summary = run(&scenario(&cities(isl, choices, BOTH)), 1).summary;
        for hop in &summary.orbit.as_ref().unwrap().hops {
            let dropped: u64 = hop.dropped_packets.iter().map(|(_, packets)| packets).sum();
            assert!(hop.sent_packets + hop.withdrawn_packets + dropped <= hop.queued_packets);
        }
        (summary.flows[0].goodput_bps.unwrap() / 1e6, summary)
    };
    let (shared, _) = goodput("every = \"1 s\"", &["", ""]);
    let (apart, summary) = goodput("every = \"1 s\", routing = \"disjoint\"", &PAIR);
    assert!((8.5..10.0).contains(&shared), "{shared} Mbit/s");
    assert!((1.85..2.05).contains(&(apart / shared)), "{apart} and {shared} Mbit/s");
    let orbit = summary.orbit.as_ref().unwrap();
    assert_eq!((orbit.looped_packets, orbit.missing_routes), (0, Some(0)));
    assert_eq!(orbit.rerouted_packets, Some(0), "no laser of this shell goes off");
}

/// Each link is used alone, before another search: one takes no laser of the other.
#[test]
fn both_routes_share_no_laser() {
    let used = |choice: &str| {
        let text = cities("every = \"60 s\", routing = \"disjoint\"", &[choice], "\"quic\"");
        let short =
            text.replace("duration = \"30 s\"\n        warm_up = \"5 s\"", "duration = \"4 s\"");
        assert_ne!(short, text);
        run(&scenario(&short), 1).summary
    };
    let [one, two] = PAIR.map(used);
    let (one, two) = (lasers(&one), lasers(&two));
    assert!(one.len() >= 4 && two.len() >= 4, "{one:?} {two:?}");
    assert!(one.is_disjoint(&two), "{one:?} {two:?}");
}

/// One message says what is wrong, where, and what would be right.
#[test]
fn routes_that_cannot_be_are_refused() {
    let good = ring(&PAIR);
    let refused = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good);
        try_scenario(&text).map(|_| ()).unwrap_err()
    };
    let twice = refused(PAIR[1], PAIR[0]);
    let expected = "links.two.constellation.route = \"first\": is `first`, which the link `one` takes; allowed: `second`";
    assert!(twice.contains(expected), "{twice}");
    let without = refused("routing = \"disjoint\",", "");
    let expected = "links.one.constellation.route = \"first\": is given without two routes";
    assert!(without.contains(expected), "{without}");
    let no_hops = refused("rate = \"10 Mbps\", routing", "routing");
    assert!(no_hops.contains("constellation.isl.routing"), "{no_hops}");
    assert!(no_hops.contains("no hops with queues"), "{no_hops}");
    // A plane for each satellite, and no laser between the last and the first.
    let open = ring(&PAIR)
        .replace("planes = 1, per_plane = 18", "planes = 18, per_plane = 1")
        .replace("routing", "layout = { kind = \"plus_grid\", seam = \"open\" }, routing");
    let open = try_scenario(&open).map(|_| ()).unwrap_err();
    let expected = "never has a route: no two routes between its ends share no laser";
    assert!(open.contains("links.two.constellation") && open.contains(expected), "{open}");
}
