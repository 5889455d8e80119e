//! Packets that go from hop to hop through the network in orbit, each hop with a queue that others share.

use std::fmt::Write as _;

use crate::common::{run, scenario};
use leobench_sim::summary::{FlowSummary, HopSummary, Summary};

/// Pairs of cities over Kuiper's first shell, whose stations use any satellite in their sky; one flow of datagrams each.
pub(crate) fn pairs(sky: &str, pairs: &[(&str, &str, &str)]) -> String {
    let cities = [
        ("manila", "14.6042", "120.9822"),
        ("dalian", "38.9140", "121.6147"),
        ("istanbul", "41.0082", "28.9784"),
        ("nairobi", "-1.2833", "36.8167"),
        ("tokyo", "35.6895", "139.6917"),
    ];
    let mut text = String::from("name = \"hops\"\nduration = \"20 s\"\nuntil = \"drained\"\n");
    for (city, _, _) in cities {
        writeln!(text, "[nodes.{city}]").unwrap();
    }
    write!(
        text,
        r#"
        [constellation]
        satellites.walker.k1 = {{ altitude = "630 km", inclination = "51.9 deg", planes = 34, per_plane = 34 }}
        start = "2026-01-01T00:00:00Z"
        policy = "shortest"
        lowest_elevation = "30 deg"
        {sky}
        "#
    )
    .unwrap();
    for (city, latitude, longitude) in cities {
        for kind in ["terminals", "gateways"] {
            writeln!(text, "[constellation.{kind}.{city}]").unwrap();
            writeln!(text, "latitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\"")
                .unwrap();
        }
    }
    for (number, (from, to, rate)) in pairs.iter().enumerate() {
        write!(
            text,
            r#"
            [links.pair-{number}]
            between = ["{from}", "{to}"]
            constellation = {{ terminal = "{from}", gateways = ["{to}"] }}
            rate = "10 Mbps"
            queue = {{ kind = "fifo", limit = "100 packets" }}
            [flows.pair-{number}]
            transport = "udp"
            from = "{from}"
            to = "{to}"
            source = {{ kind = "cbr", size = "972 B", rate = "{rate}" }}
            stop = "10 s"
            "#
        )
        .unwrap();
    }
    text
}

pub(crate) const LASERS: &str = r#"
    isl = { rate = "10 Mbps", queue = { kind = "fifo", limit = "100 packets" }, every = "100 ms" }
    ground = { rate = "10 Mbps", queue = { kind = "fifo", limit = "100 packets" } }
"#;

fn hop<'a>(summary: &'a Summary, name: &str) -> &'a HopSummary {
    summary.orbit.as_ref().unwrap().hops.iter().find(|hop| hop.name == name).unwrap()
}

/// Everything that was sent was delivered or dropped, by link and by hop.
#[track_caller]
fn assert_conserved(summary: &Summary) {
    for flow in &summary.flows {
        let FlowSummary { name, sent_packets, undelivered_messages, .. } = flow;
        let link = summary.links.iter().find(|link| link.name.starts_with(&format!("{name}/")));
        let link = link.unwrap();
        let dropped = link.dropped_packets.iter().map(|(_, packets)| packets).sum::<u64>();
        assert_eq!(*sent_packets, link.delivered_packets + dropped, "{name}");
        assert_eq!(*undelivered_messages, dropped, "{name}");
    }
    for hop in &summary.orbit.as_ref().unwrap().hops {
        let dropped: u64 = hop.dropped_packets.iter().map(|(_, packets)| packets).sum();
        let gone = hop.sent_packets + hop.withdrawn_packets + dropped;
        assert_eq!(hop.queued_packets, gone, "{}", hop.name);
    }
}

#[test]
fn a_flow_alone_gets_through_without_a_wait() {
    let text = pairs(LASERS, &[("manila", "dalian", "5 Mbps")]);
    let summary = run(&scenario(&text), 1).summary;
    assert_conserved(&summary);
    let flow = &summary.flows[0];
    assert_eq!(flow.undelivered_messages, 0);
    let orbit = summary.orbit.as_ref().unwrap();
    assert_eq!((orbit.black_hole_packets, orbit.looped_packets), (0, 0));
    assert!(orbit.hops.iter().any(|hop| hop.name.starts_with("laser/")), "{:?}", orbit.hops);
    assert_eq!(hop(&summary, "up/manila").sent_packets, flow.sent_packets);
    for hop in &orbit.hops {
        assert_eq!(hop.queue_delay_ms.max, Some(0.0), "{}", hop.name);
    }
}

/// Two flows of 8 Mbit/s from one city share its transmitter of 10 Mbit/s.
#[test]
fn flows_of_different_links_share_a_station() {
    let text = pairs(LASERS, &[("manila", "dalian", "8 Mbps"), ("manila", "tokyo", "8 Mbps")]);
    let summary = run(&scenario(&text), 1).summary;
    assert_conserved(&summary);
    let up = hop(&summary, "up/manila");
    let sent: u64 = summary.flows.iter().map(|flow| flow.sent_packets).sum();
    assert_eq!(up.queued_packets, sent);
    // 16 Mbit/s come for 10 s, and 10 Mbit/s leave, 1,250 packets of 1,000 bytes per second; up to 100 wait at the end, and one is on
    // the wire.
    assert!((12_599..=12_601).contains(&up.sent_packets), "{}", up.sent_packets);
    assert_eq!(up.dropped_packets.of("queue"), sent - up.sent_packets);
    let full = up.queue_delay_ms.max.unwrap();
    assert!((full - 80.0).abs() < 0.81, "100 packets of 0.8 ms, not {full} ms");
}

/// A ring of satellites over the equator, three terminals at one place and three gateways a third of the way around: all ways lead over
/// the same lasers.
fn ring(lasers: &str, source: &str, duration: &str) -> String {
    let mut text = format!(
        r#"
        name = "ring"
        duration = "{duration}"
        record.messages = false
        [constellation]
        satellites.walker.ring = {{ altitude = "1200 km", inclination = "0 deg", planes = 1, per_plane = 18 }}
        start = "2026-01-01T00:00:00Z"
        policy = "highest"
        isl = {{ {lasers} }}
        "#
    );
    for number in 0..3 {
        write!(
            text,
            r#"
            [nodes.home-{number}]
            [nodes.away-{number}]
            [constellation.terminals.home-{number}]
            latitude = "0 deg"
            longitude = "0 deg"
            [constellation.gateways.away-{number}]
            latitude = "0 deg"
            longitude = "120 deg"
            [links.way-{number}]
            between = ["home-{number}", "away-{number}"]
            constellation = {{ terminal = "home-{number}", gateways = ["away-{number}"] }}
            rate = "1 Gbps"
            queue = {{ kind = "fifo", limit = "1000 packets" }}
            [flows.way-{number}]
            transport = "udp"
            from = "home-{number}"
            to = "away-{number}"
            source = {{ {source} }}
            "#
        )
        .unwrap();
    }
    text
}

/// Three Poisson processes over one laser of 10 Mbit/s, each with a fifth of it: packets wait for the first laser as at M/D/1, rho / (2 (1 - rho))
/// services in the mean (Kleinrock, "Queueing Systems", volume 1, equation 5.71), and never for the next one, which is as fast.
#[test]
fn waits_for_a_laser_are_those_of_one_server() {
    let lasers = r#"rate = "10 Mbps", queue = { kind = "fifo", limit = "1000 packets" }"#;
    let source = r#"kind = "poisson", size = "972 B", rate = "2 Mbps""#;
    let text = ring(lasers, source, "200 s");
    let waits: Vec<_> =
        (1..=8).map(|seed| lasers_of(&run(&scenario(&text), seed).summary)).collect();
    let (service, rho) = (0.8, 0.6 * 1000.0 / 972.0);
    let expected = service * rho / (2.0 * (1.0 - rho));
    let mean = waits.iter().map(|[first, _]| first).sum::<f64>() / waits.len() as f64;
    assert!((mean / expected - 1.0).abs() < 0.05, "{mean} ms instead of {expected} ms");
    assert!(waits.iter().all(|[_, next]| *next < 0.001), "{waits:?}");
}

/// Mean waits in ms for the lasers that packets come to first, and for those behind them.
fn lasers_of(summary: &Summary) -> [f64; 2] {
    let hops = &summary.orbit.as_ref().unwrap().hops;
    let lasers = hops.iter().filter(|hop| hop.name.starts_with("laser/") && hop.sent_packets > 0);
    let waits = lasers.map(|hop| (hop.queue_delay_ms.mean.unwrap(), hop.sent_packets));
    let (first, behind): (Vec<_>, Vec<_>) = waits.partition(|(wait, _)| *wait > 0.01);
    [first, behind].map(|lasers| {
        let packets = lasers.iter().map(|(_, packets)| packets).sum::<u64>() as f64;
        lasers.iter().map(|(wait, sent)| wait * *sent as f64).sum::<f64>() / packets
    })
}

/// The next number of a sequence, below a bound.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// A constellation, stations, queues and traffic at random.
pub(crate) fn anything(seed: u64) -> String {
    let state = &mut (seed + 1);
    let pick = |state: &mut u64, words: &[&str]| {
        words[draw(state, words.len() as u64) as usize].to_owned()
    };
    let (planes, per_plane) = (6 + draw(state, 12), 8 + draw(state, 12));
    let (altitude, inclination) = (500 + draw(state, 900), 40 + draw(state, 58));
    let pattern = pick(state, &["delta", "star"]);
    let policy = pick(state, &["shortest", "highest", "sticky", "closest"]);
    let old_packets = pick(state, &["drain", "deliver", "drop", "forward"]);
    let queue = pick(
        state,
        &[
            r#"{ kind = "fifo", limit = "20 packets" }"#,
            r#"{ kind = "fifo", limit = "100 kB" }"#,
            r#"{ kind = "fq_codel" }"#,
            r#"{ kind = "codel" }"#,
        ],
    );
    let ground = pick(
        state,
        &["", "ground = { rate = \"4 Mbps\", queue = QUEUE }", "ground = { queue = QUEUE }"],
    );
    let lasers = pick(
        state,
        &[
            "rate = \"3 Mbps\", queue = QUEUE,",
            "rate = \"20 Mbps\", queue = QUEUE, highest_latitude = \"55 deg\",",
            "",
        ],
    );
    let outage = if policy == "shortest" { 0 } else { draw(state, 3) * 40 };
    let mut text = format!(
        r#"
        name = "anything"
        duration = "25 s"
        until = "drained"
        [constellation]
        satellites.walker.any = {{ altitude = "{altitude} km", inclination = "{inclination} deg", planes = {planes}, per_plane = {per_plane}, pattern = "{pattern}" }}
        start = "2026-01-01T00:00:00Z"
        policy = "{policy}"
        old_packets = "{old_packets}"
        outage = "{outage} ms"
        lowest_elevation = "5 deg"
        isl = {{ {lasers} every = "{} ms" }}
        {ground}
        "#,
        100 + 450 * draw(state, 3),
    );
    let cities: Vec<_> =
        (0..5).map(|_| (draw(state, 100) as i64 - 50, draw(state, 360) as i64 - 180)).collect();
    for (number, (latitude, longitude)) in cities.iter().enumerate() {
        let backhaul =
            pick(state, &["", "backhaul = { rate = \"5 Mbps\", queue = QUEUE }\ndelay = \"2 ms\""]);
        write!(
            text,
            "[nodes.n{number}]\n[constellation.terminals.n{number}]\nlatitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\"\n\
             [constellation.gateways.n{number}]\nlatitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\"\n{backhaul}\n"
        )
        .unwrap();
    }
    for number in 0..4 {
        let from = draw(state, 5);
        let to = (from + 1 + draw(state, 4)) % 5;
        let (rate, there) = (2 + draw(state, 6), draw(state, 2) == 0);
        let (source, sink) = if there { (from, to) } else { (to, from) };
        let transport = pick(state, &["udp", "tcp", "quic"]);
        let size = if transport == "udp" { 972 } else { 20_000 };
        write!(
            text,
            r#"
            [links.way-{number}]
            between = ["n{from}", "n{to}"]
            constellation = {{ terminal = "n{from}", gateways = ["n{to}"] }}
            rate = "6 Mbps"
            queue = {{ kind = "fifo", limit = "50 packets" }}
            [flows.way-{number}]
            transport = "{transport}"
            from = "n{source}"
            to = "n{sink}"
            source = {{ kind = "poisson", size = "{size} B", rate = "{rate} Mbps" }}
            stop = "18 s"
            "#
        )
        .unwrap();
    }
    text.replace("QUEUE", &queue)
}

/// Runs a scenario, if it can be: what a link took in, it delivered, dropped by a cause, or still has, and every hop as well. The engine
/// itself checks at the end of a run that each packet is on a link ([`Network::finish`](leobench_sim::Network)).
fn run_conserved(text: &str, seed: u64) -> Option<Summary> {
    let summary = run(&crate::common::try_scenario(text).ok()?, seed).summary;
    for hop in &summary.orbit.as_ref()?.hops {
        let dropped: u64 = hop.dropped_packets.iter().map(|(_, packets)| packets).sum();
        let gone = hop.sent_packets + hop.withdrawn_packets + dropped;
        assert!(gone <= hop.queued_packets, "{seed}: {} in {text}", hop.name);
    }
    // Nodes drop for want of a route as well, and only flows count that.
    for cause in ["queue", "handover", "channel", "down", "mtu", "loop"] {
        let of_links: u64 = summary.links.iter().map(|link| link.dropped_packets.of(cause)).sum();
        let of_flows: u64 = summary.flows.iter().map(|flow| flow.dropped_packets.of(cause)).sum();
        assert_eq!(of_links, of_flows, "{seed}: {cause}");
    }
    let udp = summary.flows.iter().filter(|flow| flow.transport == "udp");
    for flow in udp {
        let lost: u64 = flow.dropped_packets.iter().map(|(_, packets)| packets).sum();
        assert_eq!(flow.undelivered_messages, lost, "{seed}: {}", flow.name);
    }
    Some(summary)
}

/// Checks that no packet is lost or doubled, whatever moves and whoever shares.
fn conserve_over_constellations(seeds: std::ops::Range<u64>) {
    let (mut ran, mut causes) = (0, std::collections::BTreeSet::new());
    for seed in seeds.clone() {
        let Some(summary) = run_conserved(&anything(seed), seed) else { continue };
        ran += 1;
        for link in &summary.links {
            let dropped = link.dropped_packets.iter().filter(|(_, packets)| *packets > 0);
            causes.extend(dropped.map(|(name, _)| name.to_owned()));
        }
    }
    assert!(2 * ran >= seeds.clone().count(), "only {ran} of {seeds:?} have a way at all");
    let expected = ["handover", "queue"];
    assert!(expected.iter().all(|cause| causes.contains(*cause)), "{causes:?}");
}

#[test]
fn nothing_is_lost_or_doubled_over_random_constellations() {
    conserve_over_constellations(0..40);
}

#[test]
#[ignore = "the long form, for `make test-slow`"]
fn nothing_is_lost_or_doubled_over_many_random_constellations() {
    conserve_over_constellations(0..400);
}

/// Checks the same where packets carry routes along, of which some are interrupted.
fn conserve_over_routes(seeds: std::ops::Range<u64>) {
    let (mut ran, mut rerouted) = (0, 0);
    for seed in seeds.clone() {
        // Near the poles, lasers lead along planes only.
        let text = anything(seed)
            .replace("isl = { ", "isl = { routing = \"disjoint\", ")
            .replace("highest_latitude = \"55 deg\"", "highest_latitude = \"15 deg\"");
        let (before, odd) = text.split_once("[links.way-1]").unwrap();
        let odd = odd.replacen("\"] }", "\"], route = \"second\" }", 1);
        let text = format!("{before}[links.way-1]{odd}");
        let Some(summary) = run_conserved(&text, seed) else { continue };
        let orbit = summary.orbit.as_ref().unwrap();
        ran += 1;
        rerouted += orbit.rerouted_packets.unwrap();
    }
    assert!(4 * ran >= seeds.count() && rerouted > 0, "{ran} {rerouted}");
}

#[test]
fn nothing_is_lost_or_doubled_over_random_routes() {
    conserve_over_routes(0..40);
}

#[test]
#[ignore = "the long form, for `make test-slow`"]
fn nothing_is_lost_or_doubled_over_many_random_routes() {
    conserve_over_routes(0..400);
}

/// One message says what is wrong, where, and what would be right.
#[test]
fn scenarios_that_cannot_be_carried_out_are_refused() {
    let good = pairs(LASERS, &[("manila", "dalian", "5 Mbps")]);
    let refused = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good);
        crate::common::try_scenario(&text).map(|_| ()).unwrap_err()
    };
    let overlap = refused("policy = \"shortest\"", "policy = \"highest\"\noverlap = \"50 ms\"");
    assert!(overlap.contains("constellation.overlap"), "{overlap}");
    let satellite = refused("policy = \"shortest\"", "policy = \"highest\"\nsatellite = {}");
    assert!(satellite.contains("constellation.satellite"), "{satellite}");
    let access = refused(
        "rate = \"10 Mbps\"\n            queue",
        "rate = \"10 Mbps\"\n            access = { kind = \"frames\" }\n            queue",
    );
    assert!(access.contains("links.pair-0.access"), "{access}");
    let plain = good.replace(LASERS, "isl = {}");
    let plain = plain.replace("policy = \"shortest\"", "policy = \"highest\"");
    let own = "terminal = \"manila\", policy = \"shortest\",";
    let own = plain.replace("terminal = \"manila\",", own);
    let free = crate::common::try_scenario(&own).map(|_| ()).unwrap_err();
    assert!(free.contains("links.pair-0.constellation"), "{free}");
    assert!(free.contains("hop by hop"), "{free}");
}

/// Four flows of 4 Mbit/s go the same way, over lasers of 10 Mbit/s. Over the shortest ways, 6 of 16 Mbit/s do not fit; ways that avoid lasers
/// with much traffic leave room for all of them, after some seconds.
#[test]
fn routes_that_know_the_load_spread_it() {
    let lost = |routing: &str| {
        let lasers = format!(
            r#"rate = "10 Mbps", queue = {{ kind = "fifo", limit = "50 packets" }}, every = "1 s", routing = "{routing}""#
        );
        let mut text = format!(
            r#"
            name = "load"
            duration = "60 s"
            warm_up = "30 s"
            record.messages = false
            [constellation]
            satellites.walker.k1 = {{ altitude = "630 km", inclination = "51.9 deg", planes = 34, per_plane = 34 }}
            start = "2026-01-01T00:00:00Z"
            policy = "shortest"
            lowest_elevation = "30 deg"
            isl = {{ {lasers} }}
            "#
        );
        for number in 0..4 {
            write!(
                text,
                r#"
                [nodes.home-{number}]
                [nodes.away-{number}]
                [constellation.terminals.home-{number}]
                latitude = "48.9 deg"
                longitude = "2.4 deg"
                [constellation.gateways.away-{number}]
                latitude = "40.7 deg"
                longitude = "-74 deg"
                [links.way-{number}]
                between = ["home-{number}", "away-{number}"]
                constellation = {{ terminal = "home-{number}", gateways = ["away-{number}"] }}
                rate = "100 Mbps"
                queue = {{ kind = "fifo", limit = "100 packets" }}
                [flows.way-{number}]
                transport = "udp"
                from = "home-{number}"
                to = "away-{number}"
                source = {{ kind = "cbr", size = "972 B", rate = "4 Mbps" }}
                "#
            )
            .unwrap();
        }
        let summary = run(&scenario(&text), 1).summary;
        let sent: u64 = summary.flows.iter().map(|flow| flow.sent_packets).sum();
        let lost: u64 = summary.flows.iter().map(|flow| flow.dropped_packets.of("queue")).sum();
        lost as f64 / sent as f64
    };
    let (shortest, aware) = (lost("shortest"), lost("load_aware"));
    assert!((0.35..0.42).contains(&shortest), "{shortest}");
    assert!(aware < 0.05, "{aware}");
}
