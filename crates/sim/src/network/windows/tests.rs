//! Windows against steps: all tables and the summary are equal, whatever the flows and the links.

use std::path::PathBuf;

use proptest::prelude::*;

use crate::load::{Source, Syntax, load};
use crate::record::{MemorySink, Stored};
use crate::{Outcome, Run, RunOptions};

/// Three nodes in a row, and a link from the first to the last, so that packets are forwarded, and paths meet.
fn scenario(links: &[String; 3], flows: &[String], warm_up: u64, series: bool) -> String {
    let [first, second, aside] = links;
    let flows = flows.iter().enumerate().map(|(number, flow)| format!("[flows.f{number}]\n{flow}"));
    format!(
        r#"
        name = "windows"
        duration = "1500 ms"
        warm_up = "{warm_up} ms"
        until = "time"
        record = {{ series = {series}, interval = "130 ms" }}
        nodes = {{ a = {{}}, b = {{}}, c = {{}} }}
        [links.first]
        between = ["a", "b"]
        {first}
        [links.second]
        between = ["b", "c"]
        {second}
        [links.aside]
        between = ["a", "c"]
        {aside}
        {}
        "#,
        flows.collect::<Vec<_>>().join("\n")
    )
}

/// Runs a scenario, in windows or step by step. Returns the number of windows.
fn run(text: &str, windows: bool) -> (Outcome, u64) {
    let source = Source { file: "t.toml", text, syntax: Syntax::Toml, folder: PathBuf::new() };
    let scenario = load(&source, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario, 1, RunOptions::default(), sink).unwrap();
    let network = run.network();
    network.windows.apply = windows && network.has_independent_flows();
    run.to_end().unwrap();
    let count = run.network().windows.count;
    (run.finish().unwrap(), count)
}

/// Compares a run in windows with one step by step. Returns the number of windows.
fn compare(text: &str) -> u64 {
    let ((steps, none), (windows, count)) = (run(text, false), run(text, true));
    assert_eq!(none, 0);
    assert_eq!(steps.summary, windows.summary, "{text}");
    for (one, other) in steps.tables.iter().zip(&windows.tables) {
        let (Stored::Memory(one_bytes), Stored::Memory(other_bytes)) = (&one.stored, &other.stored)
        else {
            panic!("in memory")
        };
        assert!(one_bytes == other_bytes, "the table `{}` differs:\n{text}", one.table.name());
    }
    assert_eq!(steps.tables.len(), windows.tables.len());
    count
}

/// A link: its channel, its queue and its losses.
fn link() -> impl Strategy<Value = String> {
    let channel = prop::sample::select(vec![
        r#"rate = "6 Mbps""#,
        r#"rate = "30 Mbps""#,
        r#"channel = { kind = "on_off", rate = "12 Mbps", on = "170 ms", off = "20 ms" }"#,
    ]);
    let queue = prop::sample::select(vec![
        r#"queue = { kind = "fifo", limit = "12 packets" }"#,
        r#"queue = { kind = "fifo", limit = "200 packets" }"#,
        r#"queue = { kind = "codel", target = "3 ms", interval = "20 ms", limit = "100 packets" }"#,
    ]);
    let loss =
        prop::sample::select(vec!["", "", r#"loss = { kind = "bernoulli", probability = 0.02 }"#]);
    let delay = prop::sample::select(vec![2u64, 10, 10, 23]);
    (channel, queue, loss, delay).prop_map(|(channel, queue, loss, delay)| {
        format!("{channel}\n{queue}\n{loss}\ndelay = \"{delay} ms\"\n")
    })
}

/// A flow between two of the nodes.
fn flow() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        r#"transport = "quic"
        source = { kind = "bulk", size = "900 kB" }"#,
        r#"transport = { kind = "quic", congestion = "bbr3" }
        streams = 3
        source = { kind = "poisson", rate = "1 Mbps", size = "900 B" }"#,
        r#"transport = { kind = "quic", stack = "noq" }
        source = { kind = "cbr", rate = "800 kbps", size = "3000 B" }"#,
        r#"transport = { kind = "tcp", ecn = true }
        source = { kind = "poisson", rate = "1 Mbps", size = "5 kB" }"#,
        r#"transport = "udp"
        source = { kind = "poisson", rate = "700 kbps", size = "3500 B" }"#,
        r#"transport = "quic"
        streams = [{ source = { kind = "cbr", rate = "1 Mbps", size = "4000 B" }, carried = "datagrams", deadline = "50 ms" },
            { source = { kind = "cbr", rate = "1 Mbps", size = "4000 B" }, carried = "stream_per_message", deadline = "60 ms", on_deadline = "cancel" }]"#,
        r#"transport = "quic"
        video = { ladder = ["1 Mbps", "3 Mbps"], length = "20 s", segment = "400 ms" }"#,
        r#"transport = "udp"
        call = { length = "1 s", video = { start = "1 Mbps", most = "3 Mbps" }, audio = {}, rate_control = "gcc" }"#,
        r#"transport = "quic"
        objects = [{ name = "html", size = "20 kB" }, { name = "image", count = 5, size = "30 kB", after = ["html"], think = "5 ms" }]"#,
    ]);
    let ends = prop::sample::select(vec![["a", "b"], ["a", "c"], ["c", "a"], ["b", "c"]]);
    (kind, ends, 0u64..300).prop_map(|(kind, [from, to], start)| {
        let opened = if kind.contains("ladder") || kind.contains("objects") { "to" } else { "from" };
        format!(
            "from = \"{from}\"\nto = \"{to}\"\nopened_by = \"{opened}\"\nstart = \"{start} ms\"\n{kind}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn windows_and_steps_give_the_same_bytes(
        links in [link(), link(), link()],
        flows in prop::collection::vec(flow(), 1..7),
        warm_up in prop::sample::select(vec![0u64, 400]),
        series in any::<bool>(),
    ) {
        let count = compare(&scenario(&links, &flows, warm_up, series));
        prop_assert!(count > 0, "no windows");
    }
}

/// Paths of equal delay and copies of all data: packets of both arrive at the same instant, and windows end before it.
#[test]
fn copies_on_equal_paths_arrive_in_the_order_of_their_links() {
    let link = || "rate = \"8 Mbps\"\ndelay = \"10 ms\"".to_owned();
    let flow = |number: usize| {
        format!(
            r#"from = "a"
            to = "c"
            start = "{number} ms"
            transport = {{ kind = "quic", multipath = {{ links = ["first", "aside"], scheduler = "redundant" }} }}
            source = {{ kind = "cbr", rate = "300 kbps", size = "1000 B" }}"#
        )
    };
    let flows: Vec<_> = (0..4).map(flow).collect();
    compare(&scenario(
        &[link(), "rate = \"100 Gbps\"\ndelay = \"0 ms\"".to_owned(), link()],
        &flows,
        0,
        true,
    ));
}
