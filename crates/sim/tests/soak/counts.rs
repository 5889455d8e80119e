//! Other counts that only grow: key updates, streams, time.

use std::fmt::Write as _;

use super::{assert_whole, soak};

/// A flow of QUIC over a link of 20 Mbit/s.
fn flow(run: &str, transport: &str, rest: &str) -> String {
    format!(
        r#"
        name = "soak"
        {run}
        until = "drained"
        drain_limit = "1 h"
        record = {{ messages = false, series = false }}
        nodes = {{ client = {{}}, server = {{}} }}
        [links.path]
        between = ["client", "server"]
        rate = "20 Mbps"
        delay = "5 ms"
        loss = {{ kind = "bernoulli", probability = 0.001 }}
        [flows.main]
        from = "client"
        to = "server"
        transport = {{ kind = "quic", congestion = "newreno", {transport} }}
        {rest}
        "#
    )
}

/// Both ends update their keys as often as the rules allow: once in three probe timeouts.
fn key_updates(updates: u64) {
    let seconds = updates / 4;
    let text = flow(
        &format!("duration = \"{seconds} s\""),
        "key_update = 10",
        r#"source = { kind = "cbr", rate = "1600 kbps", size = "1000 B" }"#,
    );
    let summary = soak("key updates", &text, updates);
    assert_whole("key updates", &summary.flows[0]);
}

/// Pages of so many objects in all, each on a stream of its own: 500 at a time, when those before have arrived.
fn streams(objects: u64) {
    let mut groups = String::from(r#"{ name = "o0", size = "1 kB" }"#);
    for group in 1..=objects / 500 {
        write!(
            groups,
            r#", {{ name = "o{group}", size = "700 B", count = 500, after = ["o{}"] }}"#,
            group - 1
        )
        .unwrap();
    }
    let text = flow("duration = \"1 s\"", "", &format!("objects = [{groups}]"));
    let summary = soak("streams", &text, objects);
    let flow = &summary.flows[0];
    assert_whole("streams", flow);
    assert_eq!(flow.messages, objects + 1);
}

/// A trickle: a message a minute, each way long after the last.
fn days(days: u64) {
    let text = flow(
        &format!("duration = \"{} h\"", 24 * days),
        r#"idle_timeout = "10 min""#,
        r#"source = { kind = "cbr", rate = "80 bps", size = "600 B" }"#,
    );
    let summary = soak("days", &text, days * 24 * 60);
    assert_whole("days", &summary.flows[0]);
    assert_eq!(summary.flows[0].messages, days * 24 * 60);
}

#[test]
fn a_thousand_key_updates() {
    key_updates(1_000);
}

#[test]
#[ignore = "the long form"]
fn ten_thousand_key_updates() {
    key_updates(10_000);
}

#[test]
fn six_thousand_streams() {
    streams(6_000);
}

/// A page has 65,535 objects at most; 100,000 streams are in `crates/transport/tests/many_streams.rs`.
#[test]
#[ignore = "the long form"]
fn sixty_thousand_streams() {
    streams(60_000);
}

#[test]
fn a_day_on_a_trickle() {
    days(1);
}

#[test]
#[ignore = "the long form"]
fn a_week_on_a_trickle() {
    days(7);
}
