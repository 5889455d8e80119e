//! Runs that take more than they may: they end with an error that says what, how much, and what to change.

use crate::common::{one_link, scenario};
use leobench_sim::record::MemorySink;
use leobench_sim::{Run, RunOptions};

/// The error a run ends with.
fn failure(run: &str, link: &str, flow: &str) -> String {
    let scenario = scenario(&one_link(run, link, flow));
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario, 1, RunOptions::default(), sink).unwrap();
    run.to_end().unwrap_err().to_string()
}

const SMALL: &str = r#"
    duration = "60 s"
    record = { messages = false, series = false }
    limits = { memory = "10 MB" }
"#;

#[test]
fn messages_that_pile_up_end_the_run() {
    let flow = r#"
        transport = "quic"
        source = { kind = "cbr", rate = "9000 Gbps", size = "1 B" }
    "#;
    let said = failure(SMALL, r#"rate = "10 Mbps""#, flow);
    assert!(said.contains("messages of flow `main` that have not arrived"), "{said}");
    assert!(said.contains("that is more than `limits.memory`, 10 MB; allowed: "), "{said}");
    assert!(said.contains("flows.main.application = \"blocking\""), "{said}");
}

#[test]
fn messages_that_an_older_one_keeps_in_memory_count_too() {
    // The first datagrams wait out an outage of the whole run; the queue drops all others, which are done with.
    let link = r#"
        channel = { kind = "schedule", steps = [{ at = "0 s", rate = "0 bps" }, { at = "1 h", rate = "1 Mbps" }] }
        queue = { kind = "fifo", limit = "3 packets" }
    "#;
    let flow = r#"
        transport = "udp"
        source = { kind = "cbr", rate = "100 Mbps", size = "100 B" }
    "#;
    let said = failure(SMALL, link, flow);
    assert!(said.contains("messages of flow `main`"), "{said}");
}

#[test]
fn packets_that_pile_up_end_the_run() {
    // A datagram message is cut into hundreds of packets.
    let flow = r#"
        transport = { kind = "udp", payload = "100 B" }
        source = { kind = "bulk", size = "1 GB" }
    "#;
    let said = failure(SMALL, r#"rate = "1 Mbps""#, flow);
    assert!(said.contains("packets in link `path/a->b`"), "{said}");
    assert!(said.contains("a limit for `links.path.queue`"), "{said}");
}

#[test]
fn tables_that_outgrow_memory_or_their_limit_end_the_run() {
    let flow = r#"
        transport = "quic"
        source = { kind = "cbr", rate = "8 Mbps", size = "100 B" }
    "#;
    let link = r#"rate = "10 Mbps""#;
    let memory = r#"
        duration = "60 s"
        record = { packets = true }
        limits = { memory = "10 MB" }
    "#;
    let said = failure(memory, link, flow);
    assert!(said.contains("of it for tables; that is more than `limits.memory`"), "{said}");
    assert!(said.contains("allowed: results in a folder"), "{said}");
    let tables = r#"
        duration = "60 s"
        record = { messages = false, series = false, packets = true }
        limits = { tables = "10 MB" }
    "#;
    let said = failure(tables, link, flow);
    assert!(said.contains("the tables have grown to"), "{said}");
    assert!(said.contains("that is more than `limits.tables`, 10 MB"), "{said}");
}
