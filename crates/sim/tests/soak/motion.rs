//! Handovers: every kind, by every trigger, over one path and several, under QUIC and TCP.

use super::{LONG, SHORT, assert_whole, soak};

/// Trigger of the handovers: fixed times, random times, or a link that goes down.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    Timed,
    /// Make before break: the next link comes before the present one goes.
    Overlapping,
    Random,
    Reactive,
}

impl Trigger {
    const ALL: [Self; 4] = [Self::Timed, Self::Overlapping, Self::Random, Self::Reactive];

    /// Seconds for more than so many handovers. The number of random ones has a Poisson distribution: their mean is four standard
    /// deviations above it.
    fn seconds(self, handovers: u64) -> u64 {
        match self {
            Self::Timed | Self::Overlapping => handovers * 3 / 10 + 1,
            Self::Random => (handovers + 4 * handovers.isqrt() + 16) * 41 / 100 + 1,
            Self::Reactive => handovers * 8 / 5,
        }
    }

    fn keys(self) -> &'static str {
        match self {
            Self::Timed => r#"every = "300 ms""#,
            Self::Overlapping => {
                r#"every = "300 ms"
                   overlap = "100 ms""#
            }
            Self::Random => {
                r#"interval = { kind = "exponential", mean = "400 ms" }
                   outage = "10 ms""#
            }
            Self::Reactive => {
                r#"down_for = "20 ms"
                   outage = "5 ms""#
            }
        }
    }

    /// The rate of a link. One that handovers react to goes down by itself: at random, or on a grid for `rebind`, as QUIC relies on
    /// addresses that stay in its handshake (RFC 9000 section 9).
    fn link(self, kind: &str, name: &str) -> String {
        match (self, kind) {
            (Self::Timed | Self::Overlapping | Self::Random, _) => r#"rate = "2 Mbps""#.to_owned(),
            (Self::Reactive, "rebind") => {
                let period = if name == "a" { "1100 ms" } else { "1370 ms" };
                format!(
                    r#"channel = {{ kind = "schedule", repeat = "{period}", steps = [
                        {{ at = "0 s", rate = "2 Mbps" }}, {{ at = "1 s", up = false }}] }}"#
                )
            }
            (Self::Reactive, _) => {
                r#"channel = { kind = "on_off", rate = "2 Mbps", on = "1 s", off = "100 ms", outage = "drop" }"#.to_owned()
            }
        }
    }
}

/// A flow of 0.6 Mbit/s over a node that moves between two links of 2 Mbit/s.
fn moving(kind: &str, trigger: Trigger, flow: &str, handovers: u64) -> String {
    let (seconds, keys) = (trigger.seconds(handovers), trigger.keys());
    // Behind a translation, the node that moves is not the host of the flow.
    let (from, lan) = if kind == "rebind" {
        let lan = r#"
            [links.lan]
            between = ["host", "van"]
            rate = "100 Mbps"
            delay = "1 ms""#;
        ("host", lan)
    } else {
        ("van", "")
    };
    let link = |name: &str| {
        let rate = trigger.link(kind, name);
        format!(
            r#"
            [links.{name}]
            between = ["van", "server"]
            delay = "10 ms"
            queue = {{ kind = "fifo", limit = "50 packets" }}
            {rate}"#
        )
    };
    format!(
        r#"
        name = "soak"
        duration = "{seconds} s"
        until = "drained"
        drain_limit = "1 h"
        record = {{ messages = false, series = false }}
        nodes = {{ host = {{}}, van = {{}}, server = {{}} }}
        {lan}
        {}
        {}
        [handovers.h]
        node = "van"
        links = ["a", "b"]
        kind = "{kind}"
        {keys}
        [flows.main]
        from = "{from}"
        to = "server"
        {flow}
        source = {{ kind = "cbr", rate = "600 kbps", size = "500 B" }}
        "#,
        link("a"),
        link("b"),
    )
}

/// TCP loses its connection with its address, and connects again.
fn tcp(kind: &str) -> &'static str {
    if kind == "reroute" {
        r#"transport = "tcp""#
    } else {
        r#"transport = "tcp"
           reconnect = { after = "130 ms" }"#
    }
}

const QUIC: &str = r#"transport = { kind = "quic", congestion = "newreno" }"#;
const SEVERAL: &str =
    r#"transport = { kind = "quic", congestion = "newreno", multipath = { links = ["a", "b"] } }"#;

/// All handovers of a node that moves between links.
fn soak_motion(handovers: u64, flow: impl Fn(&str) -> &'static str, kinds: &[&str]) {
    for kind in kinds {
        for trigger in Trigger::ALL {
            let name = format!("{kind}, {trigger:?}, {}", flow(kind));
            let text = moving(kind, trigger, flow(kind), handovers);
            let summary = soak(&name, &text, handovers);
            let flow = &summary.flows[0];
            assert_whole(&name, flow);
            let seen = flow.handovers.as_ref().unwrap().count;
            assert!(seen >= handovers, "{name}: {seen} handovers");
        }
    }
}

const KINDS: [&str; 3] = ["reroute", "migrate", "rebind"];

#[test]
fn a_hundred_handovers_over_one_path() {
    soak_motion(SHORT, |_| QUIC, &KINDS);
}

/// A node that translates addresses opens no several paths.
#[test]
fn a_hundred_handovers_over_several_paths() {
    soak_motion(SHORT, |_| SEVERAL, &KINDS[..2]);
}

#[test]
fn a_hundred_handovers_of_tcp() {
    soak_motion(SHORT, tcp, &KINDS);
}

#[test]
#[ignore = "the long form"]
fn a_thousand_handovers_over_one_path() {
    soak_motion(LONG, |_| QUIC, &KINDS);
}

#[test]
#[ignore = "the long form"]
fn a_thousand_handovers_over_several_paths() {
    soak_motion(LONG, |_| SEVERAL, &KINDS[..2]);
}

#[test]
#[ignore = "the long form"]
fn a_thousand_handovers_of_tcp() {
    soak_motion(LONG, tcp, &KINDS);
}

/// A terminal under a chain of satellites, the next of which comes every 0.3 s; two subflows that have satellites of their own.
fn chain(flow: &str, handover: &str, handovers: u64) -> String {
    let seconds = handovers * 9 / 10;
    let link = |name: &str, subflow: u64| {
        format!(
            r#"
            [links.{name}]
            between = ["van", "server"]
            constellation = {{ terminal = "ground", subflow = {subflow} }}
            rate = "2 Mbps"
            delay = "10 ms"
            queue = {{ kind = "fifo", limit = "50 packets" }}"#
        )
    };
    format!(
        r#"
        name = "soak"
        duration = "{seconds} s"
        until = "drained"
        drain_limit = "1 h"
        record = {{ messages = false, series = false }}
        nodes = {{ van = {{}}, server = {{}} }}
        [constellation]
        satellites = {{ chain = "printed", spacing = "2.1 km", footprint = "4.6 km", altitude = "550 km", speed = 7.0 }}
        start = "2026-01-01T00:00:00Z"
        {handover}
        [constellation.terminals.ground]
        latitude = "0 deg"
        longitude = "0 deg"
        {}
        {}
        [flows.main]
        from = "van"
        to = "server"
        {flow}
        source = {{ kind = "cbr", rate = "600 kbps", size = "1000 B" }}
        "#,
        link("a", 0),
        link("b", 1),
    )
}

/// All handovers between satellites.
fn soak_chain(handovers: u64) {
    let handover = [
        r#"old_packets = "drop""#,
        r#"outage = "20 ms"
           old_packets = "deliver""#,
        r#"overlap = "30 ms""#,
    ];
    for flow in [QUIC, SEVERAL, tcp("reroute")] {
        for handover in handover {
            let name = format!("chain, {handover}, {flow}");
            let summary = soak(&name, &chain(flow, handover, handovers), handovers);
            let flow = &summary.flows[0];
            assert_whole(&name, flow);
            let seen = flow.handovers.as_ref().unwrap().count;
            assert!(seen >= handovers, "{name}: {seen} handovers");
        }
    }
}

#[test]
fn a_hundred_satellites() {
    soak_chain(SHORT);
}

#[test]
#[ignore = "the long form"]
fn a_thousand_satellites() {
    soak_chain(LONG);
}
