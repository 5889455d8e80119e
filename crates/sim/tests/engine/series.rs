//! The tables over time: when their rows are, and whether they say what the network did.

use crate::common::frame::Frame;
use crate::common::{bytes, one_link, run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;

fn network(record: &str) -> Outcome {
    run(
        &scenario(&format!(
            r#"
            name = "series"
            duration = "1 s"
            record = {record}
            nodes = {{ a = {{}}, b = {{}}, c = {{}} }}
            [links.near]
            between = ["a", "b"]
            rate = "50 Mbps"
            delay = "3 ms"
            [links.far]
            between = ["b", "c"]
            delay = "1 ms"
            backward = {{ delay = "2 ms" }}
            queue = {{ kind = "fifo", limit = "30 packets" }}
            [links.far.channel]
            kind = "schedule"
            steps = [
                {{ at = "0 s", rate = "10 Mbps", delay = "20 ms" }},
                {{ at = "300 ms", rate = "40 Mbps", delay = "10 ms" }},
                {{ at = "600 ms", rate = "80 Mbps" }},
            ]
            [flows.main]
            transport = "quic"
            from = "a"
            to = "c"
            source = {{ kind = "bulk", size = "1 GB" }}
            [flows.load]
            transport = "udp"
            from = "b"
            to = "c"
            source = {{ kind = "cbr", rate = "1 Mbps", size = "1000 B" }}
            "#
        )),
        1,
    )
}

#[test]
fn samples_are_taken_at_every_interval_from_the_start() {
    let outcome = network(r#"{ interval = "7 ms" }"#);
    let expected: Vec<i64> = (0..=142).map(|k| k * 7_000_000).collect();
    let times = |frame: &Frame, key: &str, name: &str| -> Vec<i64> {
        frame.of(key, name, "t_ns").into_iter().map(Option::unwrap).collect()
    };
    let (queues, streams) = (table(&outcome, Table::Queues), table(&outcome, Table::Streams));
    for link in ["near/a->b", "near/b->a", "far/b->c", "far/c->b"] {
        assert_eq!(times(&queues, "link", link), expected, "{link}");
    }
    for flow in ["main", "load"] {
        assert_eq!(times(&streams, "flow", flow), expected, "{flow}");
    }
    assert_eq!(times(&table(&outcome, Table::Transport), "flow", "main"), expected);
}

#[test]
fn what_the_paths_offer_is_recorded_on_change() {
    let paths = table(&network("{}"), Table::Paths);
    let rows = |flow| {
        let column = |name| paths.of("flow", flow, name).into_iter().map(Option::unwrap);
        let rates = column("bottleneck_bps");
        column("t_ns").zip(column("base_rtt_ns")).zip(rates).collect::<Vec<_>>()
    };
    // Both directions of the far link follow the channel's delay.
    assert_eq!(
        rows("main"),
        [
            ((0, 6_000_000 + 3_000_000 + 40_000_000), 10_000_000),
            ((300_000_000, 6_000_000 + 3_000_000 + 20_000_000), 40_000_000),
            ((600_000_000, 6_000_000 + 3_000_000 + 20_000_000), 50_000_000),
        ]
    );
    assert_eq!(
        rows("load"),
        [
            ((0, 43_000_000), 10_000_000),
            ((300_000_000, 23_000_000), 40_000_000),
            ((600_000_000, 23_000_000), 80_000_000),
        ]
    );
}

#[test]
fn the_sender_s_state_is_plausible_at_every_sample() {
    let outcome = network("{}");
    let transport = table(&outcome, Table::Transport);
    let column = |name| transport.integers(name);
    let (windows, flights) = (column("cwnd_bytes"), column("in_flight_bytes"));
    for name in ["bytes_sent", "bytes_delivered", "bytes_lost", "bytes_retransmitted"] {
        assert!(column(name).is_sorted(), "{name} falls");
    }
    let paths = table(&outcome, Table::Paths);
    let base = paths.of("flow", "main", "base_rtt_ns").into_iter().flatten().min().unwrap();
    let rtts: Vec<_> = transport.maybe_integers("latest_rtt_ns").into_iter().flatten().collect();
    assert!(rtts.iter().all(|rtt| *rtt >= base), "{:?} below {base}", rtts.iter().min());
    // A loss shrinks the window below what is in flight; but there is never more than there was room for.
    let most = windows.iter().max().unwrap();
    assert!(flights.iter().all(|flight| flight <= most), "{flights:?} {windows:?}");
    // 30 packets of 1,280 bytes at most wait at the bottleneck.
    let queues = table(&outcome, Table::Queues);
    let waiting = queues.of("link", "far/b->c", "backlog_packets").into_iter().flatten().max();
    assert!(waiting.is_some_and(|most| (20..=30).contains(&most)), "{waiting:?}");
}

#[test]
fn what_a_trace_offered_so_far_is_sampled() {
    let outcome = run(
        &scenario(
            r#"
            name = "traced"
            duration = "1 s"
            nodes = { a = {}, b = {} }
            [links.access]
            between = ["a", "b"]
            forward = { channel = { kind = "trace", file = "../link/testdata/example.mahimahi", opportunity = "500 B" } }
            rate = "1 Mbps"
            [flows.main]
            transport = "udp"
            from = "a"
            to = "b"
            source = { kind = "cbr", rate = "1 Mbps", size = "1000 B" }
            "#,
        ),
        1,
    );
    let offered = table(&outcome, Table::Opportunities);
    let text = include_str!("../../../link/testdata/example.mahimahi");
    let millis: Vec<i64> = text.lines().map(|line| line.trim().parse().unwrap()).collect();
    let (period, whole) = (millis[millis.len() - 1], millis.len() as i64);
    let until = |at: i64| {
        let left = millis.iter().filter(|each| **each <= at % period).count() as i64;
        500 * (at / period * whole + left)
    };
    let expected: Vec<i64> = (0..=100).map(|k| until(10 * k)).collect();
    let sampled = offered.of("link", "access/a->b", "offered_bytes");
    assert_eq!(sampled.into_iter().flatten().collect::<Vec<_>>(), expected);
    assert_eq!(offered.rows(), expected.len(), "only the direction that the trace serves has rows");
    // Where rates are known, nothing is sampled.
    assert_eq!(table(&network("{}"), Table::Opportunities).rows(), 0);
}

#[test]
fn without_series_only_messages_and_events_are_kept() {
    let outcome = network("{ series = false }");
    for kind in Table::ALL {
        let kept = matches!(kind, Table::Messages | Table::Events);
        assert_eq!(table(&outcome, kind).rows() > 0, kept, "{}", kind.name());
    }
    let quiet = network("{ series = false, messages = false }");
    assert_eq!(table(&quiet, Table::Messages).rows(), 0);
    // What is recorded does not change what happens.
    assert_eq!(quiet.summary, network("{ packets = true }").summary);
}

/// Links that no flow can use add no rows, and change none of the others.
#[test]
fn idle_links_add_no_rows() {
    let text = one_link(
        "duration = \"2 s\"",
        "rate = \"5 Mbps\"",
        "transport = \"quic\"\nsource = \"bulk\"",
    );
    let idle = text.replace("nodes = { a = {}, b = {} }", "nodes = { a = {}, b = {}, hill = {}, valley = {} }\nlinks.idle = { between = [\"hill\", \"valley\"], rate = \"1 Mbps\" }\nlinks.end = { between = [\"b\", \"hill\"], rate = \"1 Mbps\" }");
    let [alone, beside] = [text, idle].map(|text| run(&scenario(&text), 1));
    for (one, other) in alone.tables.iter().zip(&beside.tables) {
        assert_eq!(bytes(one), bytes(other), "{}", one.table.name());
    }
    assert!(table(&alone, Table::Queues).rows() > 100);
    assert_eq!(beside.summary.links.len(), 3 * alone.summary.links.len());
}
