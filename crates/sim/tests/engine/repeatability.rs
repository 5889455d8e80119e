//! One scenario and one seed give one result, whatever else is asked for; what does not concern a link leaves it alone.

use crate::common::{bytes, run, run_with, scenario, shipped, table};
use leobench_sim::capture::{CaptureOptions, DEFAULT_SNAPLEN};
use leobench_sim::record::Table;
use leobench_sim::{Outcome, RunOptions};

/// Random in every respect: channels, losses, arrivals, and two connections.
const NETWORK: &str = r#"
    name = "random"
    duration = "3 s"
    until = "drained"
    record = { packets = true }
    [nodes.a]
    [nodes.b]
    [nodes.c]
    [links.lms]
    between = ["a", "b"]
    channel = { kind = "lms", preset = "s" }
    delay = "10 ms"
    independent = true
    queue = { kind = "fifo", limit = "10 packets" }
    loss = { kind = "bernoulli", probability = 0.01 }
    [links.isl]
    between = ["b", "c"]
    channel = { kind = "on_off", rate = "8 Mbps", on = "200 ms", off = "30 ms" }
    delay = "5 ms"
    [flows.main]
    transport = "quic"
    from = "a"
    to = "c"
    streams = 3
    source = { kind = "poisson", rate = "1 Mbps", size = "900 B" }
    [flows.other]
    transport = { kind = "quic", congestion = "newreno" }
    from = "c"
    to = "b"
    opened_by = "to"
    source = { kind = "bulk", size = "400 kB" }
"#;

/// A flow of datagrams, and a link of its own.
const UNRELATED: &str = r#"
    [nodes.aside]
    [links.aardvark]
    between = ["aside", "b"]
    channel = { kind = "on_off", rate = "1 Mbps", on = "100 ms", off = "100 ms" }
    [flows.aardvark]
    transport = "udp"
    from = "aside"
    to = "c"
    source = { kind = "poisson", rate = "500 kbps", size = "500 B" }
"#;

fn assert_same(one: &Outcome, other: &Outcome) {
    assert_eq!(one.summary, other.summary);
    for (one, other) in one.tables.iter().zip(&other.tables) {
        assert_eq!(one.table, other.table);
        assert!(bytes(one) == bytes(other), "the table `{}` differs", one.table.name());
    }
}

#[test]
fn the_same_seed_gives_the_same_tables() {
    let network = scenario(NETWORK);
    assert_same(&run(&network, 7), &run(&network, 7));
    let path = shipped("end-to-end.toml", &[("duration", "\"3 s\"")]);
    assert_same(&run(&path, 3), &run(&path, 3));
    let page = shipped("web.toml", &[]);
    assert_same(&run(&page, 3), &run(&page, 3));
}

#[test]
fn another_seed_gives_another_run() {
    let network = scenario(NETWORK);
    let (one, other) = (run(&network, 7), run(&network, 8));
    for table in [Table::Messages, Table::Channel, Table::Packets] {
        let [one, other] = [&one, &other].map(|run| bytes(&run.tables[table as usize]));
        assert!(one != other, "the table `{}` is the same", table.name());
    }
}

/// The `channel` rows of the links of `NETWORK`: link, time, rate, label.
fn channels(outcome: &Outcome) -> Vec<(String, i64, Option<i64>, String)> {
    let rows = table(outcome, Table::Channel);
    let links = rows.texts("link").into_iter().zip(rows.integers("t_ns"));
    let states = rows.maybe_integers("rate_bps").into_iter().zip(rows.texts("label"));
    let rows = links.zip(states).map(|((link, at), (rate, label))| (link, at, rate, label));
    rows.filter(|(link, ..)| !link.starts_with("aardvark")).collect()
}

#[test]
fn what_is_added_beside_a_link_leaves_its_history_alone() {
    let fixed = |text: &str| text.replace("until = \"drained\"", "until = \"time\"");
    let alone = run(&scenario(&fixed(NETWORK)), 7);
    let beside = run(&scenario(&fixed(&format!("{NETWORK}{UNRELATED}"))), 7);
    let history = channels(&alone);
    assert!(history.len() > 40, "{} rows", history.len());
    assert_eq!(history, channels(&beside));
    // Nor the messages' creation: arrivals are the flow's own.
    let created = |outcome| table(outcome, Table::Messages).of("flow", "main", "created_ns");
    let sorted = |mut times: Vec<_>| {
        times.sort_unstable();
        times
    };
    assert_eq!(sorted(created(&alone)), sorted(created(&beside)));
}

#[test]
fn a_capture_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let network = scenario(NETWORK);
    let capture = CaptureOptions { folder: folder.path().to_path_buf(), snaplen: DEFAULT_SNAPLEN };
    let options = RunOptions { capture: Some(capture), ..RunOptions::default() };
    assert_same(&run(&network, 7), &run_with(&network, 7, options));
}

#[test]
fn a_qlog_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let network = scenario(NETWORK);
    let options = RunOptions { qlog: Some(folder.path().to_path_buf()), ..RunOptions::default() };
    assert_same(&run(&network, 7), &run_with(&network, 7, options));
    let mut files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["main-receiver.sqlog", "main-sender.sqlog", "other-receiver.sqlog", "other-sender.sqlog"]
    );
    assert!(files.iter().all(|(_, size)| *size > 10_000), "{files:?}");
}
