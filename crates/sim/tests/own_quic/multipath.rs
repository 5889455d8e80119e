//! Flows with several paths, over links.

use crate::common::{run, scenario, shipped, summary, table};
use leobench_sim::record::Table;
use leobench_sim::summary::Summary;

/// A client with two links to a server, and a flow between them, as text.
fn two_links(transport: &str, from: &str, links: [&str; 2], more: &str) -> String {
    let to = if from == "client" { "server" } else { "client" };
    let opened_by = if from == "client" { "from" } else { "to" };
    let [first, second] = links;
    format!(
        r#"
        name = "two-links"
        duration = "20 s"
        warm_up = "2 s"
        nodes = {{ client = {{}}, server = {{}} }}
        links.a = {{ between = ["client", "server"], {first} }}
        links.b = {{ between = ["client", "server"], {second} }}
        {more}
        [flows.main]
        transport = {transport}
        from = "{from}"
        to = "{to}"
        opened_by = "{opened_by}"
        source = "bulk"
        "#
    )
}

fn goodput(summary: &Summary) -> f64 {
    summary.flows[0].goodput_bps.unwrap()
}

const LINK: &str = r#"rate = "20 Mbps", delay = "20 ms""#;

#[test]
fn two_equal_links_carry_nearly_twice_what_one_carries() {
    for (from, scheduler) in
        [("client", "min_rtt"), ("client", "round_robin"), ("server", "min_rtt")]
    {
        let one = summary(&two_links("\"quic\"", from, [LINK, LINK], ""));
        let transport = format!(
            "{{ kind = \"quic\", multipath = {{ links = [\"a\", \"b\"], scheduler = \"{scheduler}\" }} }}"
        );
        let two = summary(&two_links(&transport, from, [LINK, LINK], ""));
        let ratio = goodput(&two) / goodput(&one);
        assert!(ratio >= 1.9, "{from} {scheduler}: {ratio}");
        let paths = &two.flows[0].paths;
        assert_eq!(paths.len(), 2);
        assert!(paths.iter().all(|path| path.sent_packets > 20_000), "{paths:?}");
        assert!(paths.iter().all(|path| path.cwnd_bytes > Some(0) && path.sent_bytes > Some(0)));
    }
}

/// Over 20 and 5 Mbit/s with queues of their products, every controller and every stream scheduler uses nine tenths of both.
#[test]
fn every_controller_and_scheduler_uses_unequal_links() {
    let queue = r#"queue = { kind = "fifo", limit = "1 BDP" }"#;
    let fast = format!("{LINK}, {queue}");
    let slow = format!("rate = \"5 Mbps\", delay = \"60 ms\", {queue}");
    let controllers = ["newreno", "cubic", "westwood", "hybla", "vegas", "bbr", "bbr3"];
    let schedulers = ["rr", "fq", "bp", "stbp", "max_delay", "edf", "priority"];
    let controllers = controllers.map(|name| format!("congestion = \"{name}\""));
    let schedulers = schedulers.map(|name| format!("scheduler = \"{name}\""));
    for (keys, streams) in controllers
        .iter()
        .map(|keys| (keys, ""))
        .chain(schedulers.iter().map(|keys| (keys, "\nstreams = 4")))
    {
        let transport = format!(
            "{{ kind = \"quic\", {keys}, multipath = {{ links = [\"a\", \"b\"] }} }}{streams}"
        );
        let outcome = summary(&two_links(&transport, "client", [&fast, &slow], ""));
        let paths = &outcome.flows[0].paths;
        assert!(goodput(&outcome) > 0.9 * 25e6, "{keys}: {} bit/s, {paths:?}", goodput(&outcome));
    }
}

/// A node that moves from one link to the other and back, whose flow has a path over each as long as it is there.
#[test]
fn paths_come_and_go_with_their_links() {
    let handover = r#"handovers.h = { node = "client", links = ["a", "b"], kind = "migrate", overlap = "2 s", every = "5 s" }"#;
    let transport = r#"{ kind = "quic", multipath = { links = ["a", "b"] } }"#;
    let outcome = run(&scenario(&two_links(transport, "client", [LINK, LINK], handover)), 1);
    let flow = &outcome.summary.flows[0];
    assert_eq!(flow.lost, None);
    assert!(flow.paths.len() >= 4, "{:?}", flow.paths);
    assert!(flow.goodput_bps.unwrap() > 15e6, "{:?}", flow.goodput_bps);
}

#[test]
fn the_shipped_scenario_uses_both_paths() {
    let outcome = run(&shipped("multipath.toml", &[("duration", "5 s")]), 1);
    let paths = &outcome.summary.flows[0].paths;
    assert_eq!(paths.len(), 2);
    assert!(paths.iter().all(|path| path.sent_packets > 1_000), "{paths:?}");
    let series = table(&outcome, Table::Transport);
    let path = series.integers("path");
    assert!(path.contains(&0) && path.contains(&1));
}
