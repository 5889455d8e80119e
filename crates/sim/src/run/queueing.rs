//! Transfers at a single link against queueing theory.

use std::path::PathBuf;

use super::*;
use crate::load::{Source, Syntax, load};
use crate::record::MemorySink;
use crate::summary::TrafficSummary;

/// Datagrams that arrive at random at a link of 100 Mbit/s, half of which they need. Headers take no time, and nothing is lost.
fn run(queue: &str, size: &str) -> TrafficSummary {
    let text = format!(
        r#"
        name = "queueing"
        duration = "100 s"
        until = "drained"
        warm_up = "5 s"
        nodes = {{ a = {{}}, b = {{}} }}
        record = {{ series = false, messages = false }}
        [links.path]
        between = ["a", "b"]
        rate = "100 Mbps"
        overhead = "-28 B"
        queue = {queue}
        [traffic]
        between = ["a", "b"]
        matrix = {{ kind = "hot_spot", place = "b", share = 1.0 }}
        arrivals = {{ kind = "poisson", load = "50 Mbps" }}
        size = {size}
        transport = {{ kind = "udp", payload = "1000 B" }}
        "#
    );
    let source =
        Source { file: "q.toml", text: &text, syntax: Syntax::Toml, folder: PathBuf::from(".") };
    let scenario = load(&source, &[]).unwrap();
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario, 1, RunOptions::default(), sink).unwrap();
    run.to_end().unwrap();
    let traffic = run.finish().unwrap().summary.traffic.unwrap();
    assert_eq!(traffic.all.started, traffic.all.completed);
    assert!(traffic.all.started > 5_000, "{}", traffic.all.started);
    traffic
}

/// In the order of arrival, the wait is that of M/D/1: ρ S / (2 (1 - ρ)) on average (Pollaczek 1930, Khinchine 1932), half a transfer
/// at ρ = 1/2. The error of the mean over 6,000 transfers, whose waits are correlated over some ten, is about 3 %.
#[test]
fn waits_in_order_are_those_of_pollaczek_and_khinchine() {
    // 100 kB take 8 ms.
    let all = run(r#"{ kind = "fifo" }"#, r#"{ kind = "fixed", size = "100 kB" }"#).all;
    let (mean, slowdown) = (all.completion_ms.mean.unwrap(), all.slowdown.mean.unwrap());
    assert!((mean - 12.0).abs() < 0.06 * 12.0, "{mean} ms");
    assert!((slowdown - 1.5).abs() < 0.06 * 1.5, "{slowdown}");
    assert!((mean / 8.0 - slowdown).abs() < 1e-3 * slowdown, "the ideal is 8 ms");
}

/// Served in turn, transfers slow down as under processor sharing: by 1 / (1 - ρ) = 2 on average, whatever their sizes are (Kleinrock 1967,
/// "Time-shared systems: a theoretical treatment").
#[test]
fn served_in_turn_they_slow_down_as_under_processor_sharing() {
    let fair = r#"{ kind = "fq_codel", flows = 65536, quantum = "1028 B", target = "3000 s", interval = "3600 s", limit = "unlimited" }"#;
    for size in [
        r#"{ kind = "fixed", size = "100 kB" }"#,
        r#"{ kind = "pareto", shape = 1.5, least = "40 kB", most = "4 MB" }"#,
    ] {
        let slowdown = run(fair, size).all.slowdown.mean.unwrap();
        assert!((slowdown - 2.0).abs() < 0.08 * 2.0, "{size}: {slowdown}");
    }
}
