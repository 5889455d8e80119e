//! The recovery from a handover by cause, worked out by hand.
//!
//! A message of 100 bytes is written every 10 ms, far below the rate of the links and the window, so that a packet takes the delay
//! of its way and hardly more. The handover is at 2 s. Rates are measured over windows of 100 ms that begin every 10 ms: the file is
//! back in the first one after the gap.

use crate::common::{run, scenario};
use leobench_sim::summary::HandoverSummary;

/// Upper bound of serialisation, in ms: a packet takes 0.1 ms at 100 Mbit/s, and no way has more than ten links in a row.
const SERIALISATION: f64 = 1.0;
/// The slow start of a flow that is not slow: what is missing to the next window.
const NEXT_WINDOW: f64 = 10.0;

/// `a` moves from a link of 10 ms to one of 30 ms.
fn host(flow: &str, handover: &str) -> HandoverSummary {
    let text = format!(
        r#"
        name = "host"
        duration = "4 s"
        nodes = {{ a = {{}}, b = {{}} }}
        links.old = {{ between = ["a", "b"], rate = "100 Mbps", delay = "10 ms" }}
        links.new = {{ between = ["a", "b"], rate = "100 Mbps", delay = "30 ms" }}
        [handovers.move]
        node = "a"
        links = ["old", "new"]
        at = ["2 s"]
        {handover}
        [flows.main]
        source = {{ kind = "cbr", rate = "80 kbps", size = "100 B" }}
        {flow}
        "#
    );
    only(&text)
}

fn only(text: &str) -> HandoverSummary {
    let outcome = run(&scenario(text), 1);
    let handovers = outcome.summary.flows[0].handovers.clone().unwrap();
    assert_eq!(handovers.count, 1);
    handovers.each[0].clone()
}

/// A van 10 ms from its device moves from a backhaul of 10 ms to one of 40 ms.
fn van(flow: &str, handover: &str) -> HandoverSummary {
    let text = format!(
        r#"
        name = "van"
        duration = "4 s"
        nodes = {{ device = {{}}, van = {{}}, office = {{}} }}
        links.bubble = {{ between = ["device", "van"], rate = "100 Mbps", delay = "10 ms" }}
        links.old = {{ between = ["van", "office"], rate = "100 Mbps", delay = "10 ms" }}
        links.new = {{ between = ["van", "office"], rate = "100 Mbps", delay = "40 ms" }}
        [handovers.move]
        node = "van"
        links = ["old", "new"]
        at = ["2 s"]
        {handover}
        [flows.main]
        source = {{ kind = "cbr", rate = "80 kbps", size = "100 B" }}
        {flow}
        "#
    );
    only(&text)
}

/// Compares the five phases with those expected, in ms.
fn check(seen: &HandoverSummary, expected: [f64; 5]) {
    let phases = seen.phases;
    let found = [
        phases.no_way_ms,
        phases.detection_ms,
        phases.validation_ms,
        phases.retransmission_ms,
        phases.slow_start_ms,
    ];
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found.unwrap() - expected).abs() < SERIALISATION, "{phases:?}");
    }
}

const OUTAGE: &str = r#"outage = "100 ms""#;
const UP: &str = r#"from = "a"
    to = "b""#;
const DOWN: &str = r#"from = "b"
    to = "a"
    opened_by = "to""#;

/// Data written in the outage is lost. The acknowledgement of the next packet takes a round trip of 60 ms and shows the gap;
/// retransmissions then take 30 ms.
#[test]
fn losses_are_noticed_a_round_trip_after_the_outage() {
    for way in [UP, DOWN] {
        for transport in [r#""quic""#, r#"{ kind = "tcp", nagle = false }"#] {
            let flow = format!("transport = {transport}\n{way}");
            check(&host(&flow, OUTAGE), [100.0, 60.0, 0.0, 30.0, NEXT_WINDOW]);
        }
    }
}

/// The client knows at once, and its server's address is valid: it sends at once, and learns after a round trip of 60 ms what was lost.
#[test]
fn a_client_that_migrates_neither_detects_nor_waits() {
    let migrate = format!("kind = \"migrate\"\n{OUTAGE}");
    for after in ["keep", "reset"] {
        let flow =
            format!("transport = {{ kind = \"quic\", after_migration = \"{after}\" }}\n{UP}");
        check(&host(&flow, &migrate), [100.0, 0.0, 0.0, 90.0, NEXT_WINDOW]);
    }
}

/// The server hears of it after 30 ms, and has the answer to its challenge 60 ms later. With the answer comes the acknowledgement of
/// the first packet over the new path. That is too near for a loss to the last packet over the old one, of 2.13 s: it is lost 9/8 of
/// a round trip after it was sent (RFC 9002 section 6.1.2), at 2.1975 s, and repeated, it takes 30 ms.
#[test]
fn a_server_waits_until_its_client_is_validated() {
    let migrate = format!("kind = \"migrate\"\n{OUTAGE}");
    let flow = format!("transport = \"quic\"\n{DOWN}");
    check(&host(&flow, &migrate), [100.0, 0.0, 90.0, 37.5, 2.5]);
}

/// The application gives the connection up 200 ms after the last progress. A sender last progresses at 1.99 s, with the
/// acknowledgement of two packets; that of the next two would come at 2.01 s. A receiver cannot tell before its address goes, at 2 s.
/// The handshake takes a round trip of 60 ms, and so does the request for the offset from which the transfer resumes.
#[test]
fn another_tcp_connection_costs_patience_and_two_round_trips() {
    let migrate = format!("kind = \"migrate\"\n{OUTAGE}");
    let tcp = r#"transport = { kind = "tcp", nagle = false }
        reconnect = { after = "200 ms" }"#;
    let up = host(&format!("{tcp}\n{UP}"), &migrate);
    check(&up, [100.0, 90.0, 120.0, 30.0, NEXT_WINDOW]);
    // A server sends as soon as it has the request, half a round trip earlier.
    let down = host(&format!("{tcp}\n{DOWN}"), &migrate);
    check(&down, [100.0, 100.0, 90.0, 30.0, NEXT_WINDOW]);
}

/// The packet that is at the van when it moves takes 40 ms to the office, which validates its client without holding it up. No data
/// is lost.
#[test]
fn an_office_follows_a_device_behind_a_nat() {
    let flow = "transport = \"quic\"\nfrom = \"device\"\nto = \"office\"";
    let seen = van(flow, "kind = \"rebind\"");
    check(&seen, [0.0, 40.0, 0.0, 0.0, 0.0]);
    assert_eq!(seen.lost_bytes, 0);
}

/// An acknowledgement that is at the van when it moves tells the office, which validates for a round trip of 100 ms. The last packet
/// to the old address, of 2.04 s, is lost 9/8 of a round trip after it was sent, at 2.1525 s, and repeated, it takes 50 ms.
#[test]
fn an_office_that_sends_waits_for_the_answer() {
    let flow = "transport = \"quic\"\nfrom = \"office\"\nto = \"device\"\nopened_by = \"to\"";
    let seen = van(flow, "kind = \"rebind\"");
    check(&seen, [0.0, 40.0, 100.0, 62.5, 0.0]);
    assert!(seen.lost_bytes > 0);
}
