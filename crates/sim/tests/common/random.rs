//! Random networks with random traffic, as scenario text.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;

/// A scenario, and what its checks must know of it.
#[derive(Clone)]
pub struct Case {
    pub text: String,
    pub links: Vec<RandomLink>,
    pub flows: Vec<RandomFlow>,
    pub seed: u64,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seed {}:\n{}", self.seed, self.text)
    }
}

/// A link between two nodes by number.
#[derive(Clone, Debug)]
pub struct RandomLink {
    pub ends: [usize; 2],
    pub overtaking: bool,
}

/// A flow between two nodes by number.
#[derive(Clone, Debug)]
pub struct RandomFlow {
    pub ends: [usize; 2],
    pub transport: &'static str,
}

const CHANNELS: &[&str] = &[
    r#"{ kind = "steady", rate = "1 Mbps" }"#,
    r#"{ kind = "steady", rate = "12345678 bps" }"#,
    r#"{ kind = "lms", preset = "s" }"#,
    r#"{ kind = "lms", preset = "ka" }"#,
    r#"{ kind = "on_off", rate = "6 Mbps", on = "300 ms", off = "80 ms" }"#,
    r#"{ kind = "on_off", rate = "6 Mbps", on = "300 ms", off = "80 ms", outage = "drop" }"#,
    r#"{ kind = "schedule", repeat = "500 ms", steps = [
        { at = "0 s", rate = "5 Mbps", delay = "30 ms" }, { at = "100 ms", rate = "0 bps" },
        { at = "200 ms", rate = "9 Mbps", delay = "1 ms", loss = 0.05 }, { at = "410 ms", up = false }] }"#,
];
const QUEUES: &[&str] = &["unlimited", "1 packets", "7 packets", "60 packets", "3000 B", "20 kB"];
const LOSSES: &[&str] = &[
    "",
    "",
    r#"loss = { kind = "bernoulli", probability = 0.02 }"#,
    r#"loss = { kind = "gilbert_elliott", p = 0.01, r = 0.3 }"#,
];
const EXTRAS: &[&str] =
    &["", "", "independent = true", "overtaking = true", "overhead = \"-28 B\""];
const SOURCES: &[&str] = &[
    r#"{ kind = "bulk", size = "150 kB" }"#,
    r#"{ kind = "bulk", size = "1 B" }"#,
    r#"{ kind = "cbr", rate = "900 kbps", size = "1000 B", offset = "3 ms" }"#,
    r#"{ kind = "poisson", rate = "1500 kbps", size = "700 B" }"#,
    r#"{ kind = "poisson", rate = "500 kbps", size = "4000 B" }"#,
    r#"{ kind = "poisson_batch", slot = "50 ms", rate = "800 kbps", size = "1000 B" }"#,
    r#"{ kind = "on_off", rate = "3 Mbps", size = "1200 B", on = "100 ms", off = "100 ms" }"#,
];
const QUIC: &[&str] = &[
    r#"{ kind = "quic", congestion = "cubic" }"#,
    r#"{ kind = "quic", congestion = "newreno", pacing = false, payload = "1400 B" }"#,
    r#"{ kind = "quic", stream_window = "30 kB", connection_window = "50 kB", initial_rtt = "50 ms" }"#,
];
const TCP: &[&str] = &[
    r#"{ kind = "tcp", congestion = "cubic" }"#,
    r#"{ kind = "tcp", congestion = "newreno", mss = "1000 B", tls = true, nagle = false, ecn = true }"#,
    r#"{ kind = "tcp", sack = false, pacing = true, delayed_ack = "0 s", receive_buffer = "40 kB" }"#,
    r#"{ kind = "tcp", timestamps = false, initial_rto = "300 ms", min_rto = "50 ms" }"#,
];
const UDP: &str = r#""udp""#;

/// Applications of flows over QUIC and TCP. A page can replace the source.
const APPLICATIONS: &[&str] = &["buffered", "blocking"];
const PAGES: &[&str] = &[
    r#"[{ name = "a", size = "20 kB" }, { name = "b", size = "3 kB", count = 5, after = ["a"], request = "2 kB" },
        { name = "c", size = "1 B", at = "300 ms", think = "20 ms" }]"#,
    r#"[{ name = "a", size = "1 kB", count = 3 }, { name = "b", size = "60 kB", after = ["a"], delay = "5 ms" }]"#,
];

/// The lines that say what a flow sends.
fn any_traffic() -> impl Strategy<Value = (&'static str, String)> {
    let page = select(PAGES).prop_map(|objects| format!("objects = {objects}"));
    let source = (select(SOURCES), 1u32..5)
        .prop_map(|(source, streams)| format!("streams = {streams}\nsource = {source}"));
    let application = select(APPLICATIONS);
    let single = (select(SOURCES), application.clone()).prop_map(|(source, application)| {
        format!("application = \"{application}\"\nsource = {source}")
    });
    let written = (source.clone(), application)
        .prop_map(|(source, application)| format!("application = \"{application}\"\n{source}"));
    prop_oneof![
        3 => (select(QUIC), written),
        3 => (select(TCP), single),
        1 => (select(QUIC), page.clone()),
        1 => (select(TCP), page),
        1 => (Just(UDP), source),
    ]
}

fn any_link(node: usize) -> impl Strategy<Value = (RandomLink, String)> {
    let shape = (0..node, any::<bool>(), 0u32..40);
    let parts = (select(CHANNELS), select(QUEUES), select(LOSSES), select(EXTRAS));
    (shape, parts).prop_map(move |((parent, turned, delay), (channel, queue, loss, extra))| {
        let ends = if turned { [parent, node] } else { [node, parent] };
        let text = format!(
            "[links.l{node}]\nbetween = [\"n{}\", \"n{}\"]\nchannel = {channel}\ndelay = \"{delay} ms\"\n\
             queue = {{ kind = \"fifo\", limit = \"{queue}\" }}\n{loss}\n{extra}\n",
            ends[0], ends[1]
        );
        (RandomLink { ends, overtaking: extra.contains("overtaking") }, text)
    })
}

fn any_flow(nodes: usize) -> impl Strategy<Value = (RandomFlow, String)> {
    let shape = (0..nodes, 1..nodes, any::<bool>(), 0u32..300);
    (shape, any_traffic()).prop_map(
        move |((from, step, by_receiver, start), (transport, traffic))| {
            let kinds = ["quic", "tcp", "udp"];
            let kind = kinds.into_iter().find(|kind| transport.contains(kind)).expect("a kind");
            let to = (from + step) % nodes;
            let opened_by = if kind != "udp" && by_receiver { "to" } else { "from" };
            let text = format!(
                "transport = {transport}\nfrom = \"n{from}\"\nto = \"n{to}\"\nopened_by = \"{opened_by}\"\n\
                 start = \"{start} ms\"\n{traffic}\n"
            );
            (RandomFlow { ends: [from, to], transport: kind }, text)
        },
    )
}

/// Trees of two to five nodes with one to three flows.
pub fn any_case() -> impl Strategy<Value = Case> {
    let parts = (2usize..6).prop_flat_map(|nodes| {
        let links = (1..nodes).map(any_link).collect::<Vec<_>>();
        (links, prop::collection::vec(any_flow(nodes), 1..4), any::<bool>(), 1u64..1_000)
    });
    parts.prop_map(|(links, flows, drained, seed)| {
        let until = if drained { "drained" } else { "time" };
        let mut text = format!(
            "name = \"random\"\nduration = \"1 s\"\nuntil = \"{until}\"\ndrain_limit = \"60 s\"\n\
             record = {{ packets = true }}\n"
        );
        for node in 0..=links.len() {
            writeln!(text, "[nodes.n{node}]").expect("a text takes all");
        }
        for (_, link) in &links {
            text.push_str(link);
        }
        for (number, (_, flow)) in flows.iter().enumerate() {
            write!(text, "[flows.f{number}]\n{flow}").expect("a text takes all");
        }
        let links = links.into_iter().map(|(link, _)| link).collect();
        Case { text, links, flows: flows.into_iter().map(|(flow, _)| flow).collect(), seed }
    })
}
