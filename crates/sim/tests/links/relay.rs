//! Packets that leave one link at the very instant the next one has just sent another.

use crate::common::summary;
use leobench_sim::summary::Summary;

/// A transfer over three links of one rate without propagation delay: behind the first, every packet comes in when
/// the one before it gets out.
fn relayed(rates: [&str; 3]) -> Summary {
    let [first, second, third] = rates;
    summary(&format!(
        r#"
        name = "relay"
        duration = "2 s"
        until = "drained"
        nodes = {{ a = {{}}, b = {{}}, c = {{}}, d = {{}} }}
        links.first = {{ between = ["a", "b"], {first} }}
        links.second = {{ between = ["b", "c"], {second} }}
        links.third = {{ between = ["c", "d"], {third} }}

        [flows.main]
        transport = "quic"
        from = "a"
        to = "d"
        source = {{ kind = "bulk", size = "1 MB" }}
        "#
    ))
}

fn assert_nothing_is_lost(summary: &Summary) {
    let flow = &summary.flows[0];
    assert_eq!((flow.undelivered_messages, flow.lost_packets, flow.timeouts), (0, 0, 0));
    let delivered: Vec<_> = summary.links.iter().map(|link| link.delivered_packets).collect();
    assert!(delivered[0] > 800, "{delivered:?}");
    let [there, back] = [delivered[0], delivered[1]];
    assert_eq!(delivered, [there, back, there, back, there, back]);
}

#[test]
fn every_packet_passes_links_that_work_in_lockstep() {
    assert_nothing_is_lost(&relayed([r#"rate = "10 Mbps""#; 3]));
}

#[test]
fn every_packet_passes_links_that_change_when_it_arrives() {
    // 1,280 bytes of IP at 10.24 Mbit/s take 1 ms, the period of the schedule.
    let schedule = r#"channel = { kind = "schedule", repeat = "2 ms", steps = [
        { at = "0 s", rate = "10.24 Mbps" }, { at = "1 ms", rate = "20.48 Mbps" }] }"#;
    assert_nothing_is_lost(&relayed([schedule; 3]));
}
