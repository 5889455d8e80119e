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

/// A link of 10 ms and one of 60 ms one way, and a source at half their rate: no packet waits in a queue.
fn by_schedule(scheduler: &str) -> serde_json::Value {
    let transport = format!(
        r#"{{ kind = "quic", multipath = {{ links = ["a", "b"], scheduler = "{scheduler}" }} }}"#
    );
    let links = [r#"rate = "20 Mbps", delay = "10 ms""#, r#"rate = "20 Mbps", delay = "60 ms""#];
    let text = two_links(&transport, "client", links, "");
    let cbr = r#"source = { kind = "cbr", rate = "8 Mbps", size = "1000 B" }"#;
    let text = text.replace(r#"source = "bulk""#, cbr).replace("20 s", "8 s");
    serde_json::to_value(&summary(&text).flows[0]).unwrap()
}

#[test]
fn data_of_the_fast_link_waits_for_that_of_the_slow_one() {
    let flow = by_schedule("round_robin");
    let of = |value: &serde_json::Value, key: &str| value[key].as_f64().unwrap();
    for (path, delay) in flow["paths"].as_array().unwrap().iter().zip([10.0, 60.0]) {
        let found = &path["packet_delay_ms"];
        for key in ["p50", "mean", "p95"] {
            // Half a millisecond on the wire.
            assert!((delay..delay + 2.0).contains(&of(found, key)), "{delay}: {found}");
        }
        assert!(path["reinjected_bytes"] == 0, "{path}");
    }
    let waited = &flow["reordering_delay_ms"];
    // A packet leaves every millisecond: each of the fast link waits for the one before it, sent a millisecond earlier.
    assert!((48.0..51.0).contains(&of(waited, "p95")), "{waited}");
    assert!((48.0..51.0).contains(&of(waited, "max")), "{waited}");
    assert!((22.0..27.0).contains(&of(waited, "mean")), "half of them: {waited}");
    assert_eq!((&flow["duplicate_bytes"], &flow["reinjected_bytes"]), (&0.into(), &0.into()));
}

/// Everything comes over the fast link first, so nothing waits, and over the slow one a second time.
#[test]
fn redundant_data_comes_twice() {
    let flow = by_schedule("redundant");
    let [duplicate, reinjected, retransmitted] =
        ["duplicate_bytes", "reinjected_bytes", "retransmitted_bytes"]
            .map(|key| flow[key].as_u64().unwrap());
    // 8 Mbit/s for the 6 s after the warm-up.
    let all = 6_000_000;
    assert!(duplicate > all * 9 / 10 && duplicate <= all + 100_000, "{duplicate}");
    assert!(reinjected.abs_diff(duplicate) < all / 10 && retransmitted == 0, "{flow}");
    let of_paths = flow["paths"].as_array().unwrap().iter().map(|path| &path["reinjected_bytes"]);
    let of_paths: Vec<_> = of_paths.map(|bytes| bytes.as_u64().unwrap()).collect();
    assert_eq!(of_paths.iter().sum::<u64>(), reinjected);
    let waited = flow["reordering_delay_ms"]["p95"].as_f64().unwrap();
    assert!(waited < 1.0, "{waited} ms");
}

/// A flow over one path has none of these keys.
#[test]
fn metrics_of_several_paths_need_several() {
    let flow = summary(&two_links("\"quic\"", "client", [LINK, LINK], "")).flows.remove(0);
    let flow = serde_json::to_value(flow).unwrap();
    for key in ["reinjected_bytes", "duplicate_bytes", "reordering_delay_ms"] {
        assert!(flow.get(key).is_none(), "{key}");
    }
    assert!(flow["paths"][0].get("packet_delay_ms").is_none());
}

/// Over 20 and 5 Mbit/s with queues of their products, every controller and every stream scheduler uses nine tenths of both.
#[test]
fn every_controller_and_scheduler_uses_unequal_links() {
    let queue = r#"queue = { kind = "fifo", limit = "1 BDP" }"#;
    let fast = format!("{LINK}, {queue}");
    let slow = format!("rate = \"5 Mbps\", delay = \"60 ms\", {queue}");
    let controllers = [
        "newreno", "cubic", "westwood", "hybla", "vegas", "elastic", "bbr", "bbr3", "lia", "olia",
        "balia", "wvegas", "leocc", "maco",
    ];
    let schedulers = ["rr", "fq", "bp", "stbp", "max_delay", "edf", "priority"];
    let controllers = controllers.map(|name| match name {
        // These links have no link layer that reports.
        "maco" => "congestion = { kind = \"maco\", store = false }".to_owned(),
        _ => format!("congestion = \"{name}\""),
    });
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

/// A client with two links to a router, from which two links lead to the server: four paths over four pairs of links.
#[test]
fn a_full_mesh_uses_all_links_of_both_ends() {
    let text = r#"
        name = "mesh"
        duration = "10 s"
        nodes = { client = {}, router = {}, server = {} }
        links.wire = { between = ["client", "router"], rate = "10 Mbps", delay = "5 ms" }
        links.radio = { between = ["client", "router"], rate = "10 Mbps", delay = "15 ms" }
        links.east = { between = ["router", "server"], rate = "6 Mbps", delay = "1 ms" }
        links.west = { between = ["router", "server"], rate = "6 Mbps", delay = "2 ms" }
        [flows.main]
        transport = { kind = "quic", multipath = { links = ["wire", "radio"], MORE } }
        from = "client"
        to = "server"
        source = "bulk"
        "#;
    let mesh = r#"peer_links = ["east", "west"], manager = "full_mesh""#;
    let [plain, mesh] = ["", mesh].map(|more| summary(&text.replace("MORE", more)));
    assert_eq!((plain.flows[0].paths.len(), mesh.flows[0].paths.len()), (2, 4));
    // Without it, both paths lead to one address of the server, over one of its links.
    assert!(goodput(&plain) < 6.0e6, "{}", goodput(&plain));
    assert!(goodput(&mesh) > 0.9 * 12.0e6, "{}", goodput(&mesh));
    for link in mesh.links.iter().filter(|link| link.name.starts_with(['e', 'w'])) {
        assert!(link.delivered_packets > 1_000, "{link:?}");
    }
}

/// One link is left for the other every 5 s, 2 s after that came up. A client that is told of it loses nothing by that: the forecast
/// goes to the end that opens the paths, whichever sends.
#[test]
fn forecasts_let_a_client_change_paths_before_its_link_goes() {
    let queue = r#"queue = { kind = "fifo", limit = "100 kB" }"#;
    let links =
        ["20", "25"].map(|delay| format!(r#"rate = "20 Mbps", delay = "{delay} ms", {queue}"#));
    for from in ["client", "server"] {
        let play = |manager: &str, forecast: &str| {
            let more = r#"handovers.h = { node = "client", links = ["a", "b"], kind = "migrate", overlap = "2 s", every = "5 s" }"#;
            let transport = format!(
                "{{ kind = \"quic\", multipath = {{ links = [\"a\", \"b\"], manager = {manager} }} }}"
            );
            let text =
                two_links(&transport, from, links.each_ref().map(String::as_str), more) + forecast;
            let outcome = run(&scenario(&text), 1);
            let flow = &outcome.summary.flows[0];
            assert_eq!(flow.lost, None);
            (flow.goodput_bps.unwrap(), flow.dropped_packets.of("handover"))
        };
        let told = play("{ kind = \"make_before_break\", lead = \"500 ms\" }", "forecast = {}\n");
        let blind = play("\"standby\"", "");
        assert!(told.0 > 0.9 * 20e6, "{from}: {told:?}, {blind:?}");
        assert!(told.0 > blind.0, "{from}: {told:?}, {blind:?}");
        assert!(told.1 == 0 && blind.1 > 20, "{from}: {told:?}, {blind:?}");
    }
}

/// Messages of 80 packets under a connection window of 64 kB, over 10 and 100 ms: what is on the slow link fills the window, and the
/// fast one waits. Schedulers that look ahead deliver them as early as the fast link alone.
#[test]
fn with_a_small_window_only_a_scheduler_that_looks_ahead_does_not_block() {
    let links = ["10", "100"].map(|delay| {
        format!(r#"rate = "10 Mbps", delay = "{delay} ms", queue = {{ kind = "fifo", limit = "30 kB" }}"#)
    });
    let source = r#"source = { kind = "cbr", rate = "4 Mbps", size = "100 kB" }"#;
    let delay = |multipath: &str| {
        let transport = format!("{{ kind = \"quic\", connection_window = \"64 kB\"{multipath} }}");
        let text = two_links(&transport, "client", links.each_ref().map(String::as_str), "");
        let outcome = summary(&text.replace("source = \"bulk\"", source));
        outcome.flows[0].delay_ms.mean.unwrap()
    };
    let alone = delay("");
    let over = |scheduler: &str| {
        delay(&format!(", multipath = {{ links = [\"a\", \"b\"], scheduler = {scheduler} }}"))
    };
    let ecf = r#"{ kind = "ecf", whole_windows = true }"#;
    for scheduler in [r#""blest""#, ecf, r#""earliest_arrival""#] {
        let both = over(scheduler);
        println!("{scheduler}: {both} ms, {alone} ms over the fast link alone");
        assert!(both < 1.05 * alone, "{scheduler}: {both} ms, {alone} ms over the fast link alone");
    }
    let both = over(r#""min_rtt""#);
    println!("min_rtt: {both} ms, {alone} ms over the fast link alone");
    assert!(both > 1.5 * alone, "min_rtt: {both} ms, {alone} ms over the fast link alone");
}
