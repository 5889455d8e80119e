//! Packets that go from hop to hop through the network in orbit, each hop with a queue that others share.

use std::fmt::Write as _;

use crate::common::{run, scenario};
use leobench_sim::summary::{FlowSummary, HopSummary, Summary};

/// Pairs of cities over Kuiper's first shell, whose stations use any satellite in their sky; one flow of datagrams each.
fn pairs(sky: &str, pairs: &[(&str, &str, &str)]) -> String {
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

const LASERS: &str = r#"
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
