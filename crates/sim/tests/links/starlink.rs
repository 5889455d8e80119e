//! The fitted channel in a network: each direction has its own rate and loss.

use crate::common::{one_link, summary};

/// Rates of 5 and 80 Mbit/s; the uplink loses 2 % of all packets.
const CHANNEL: &str = r#"kind = "starlink", fit = "tests/links/fit.json", uplink_rate = "5 Mbps", downlink_rate = "80 Mbps""#;
const BULK: &str = r#"transport = "quic"
    source = { kind = "bulk", size = "1 MB" }"#;

/// Headers of 28 bytes take 2.3 % of datagrams with 1,200.
#[test]
fn each_direction_has_its_own_rate_and_loss() {
    const PAYLOAD: f64 = 1_200.0 / 1_228.0;
    for (terminal, rate, passes) in [("first", 5.0, 0.98), ("second", 80.0, 1.0)] {
        let link = format!(
            r#"channel = {{ {CHANNEL}, terminal = "{terminal}" }}
            queue = {{ kind = "fifo", limit = "100 packets" }}"#
        );
        let flow = r#"transport = "udp"
            source = { kind = "cbr", rate = "100 Mbps", size = "1200 B" }"#;
        let summary = summary(&one_link(r#"duration = "20 s""#, &link, flow));
        let goodput = summary.flows[0].goodput_bps.unwrap() / 1e6;
        let expected = rate * PAYLOAD * passes;
        // Of 10,000 packets, 4 standard errors of the loss are 0.6 %.
        assert!((goodput / expected - 1.0).abs() < 0.01, "{terminal}: {goodput}, not {expected}");
    }
}

/// A limit in BDP follows the rate of its direction.
#[test]
fn limits_follow_the_rate_of_their_direction() {
    let link = format!(
        r#"channel = {{ {CHANNEL} }}
        queue = {{ kind = "fifo", limit = "1 BDP" }}"#
    );
    let summary = summary(&one_link(r#"duration = "1 s""#, &link, BULK));
    let [up, down] = [0, 1].map(|direction| summary.links[direction].queue_limit_bytes.unwrap());
    assert!((down as f64 / up as f64 - 16.0).abs() < 0.01, "{up} {down}");
}
