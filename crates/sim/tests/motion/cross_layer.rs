//! The cross-layer store of a flow as users see it: rows of what changes, nothing else in any table, and refusals.

use crate::common::{VAN_SKY, bytes, run, scenario, shipped, table};
use leobench_sim::Outcome;
use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::Table;

const BUDGET: &str = r#"{ frequency = "14 GHz", bandwidth = "60 MHz", transmitter = { eirp = "34 dBW" }, receiver = { g_over_t = "8 dB/K" } }"#;

/// A van under a shell of satellites, with a budget for its uplink alone.
fn van(transport: &str, flow: &str) -> String {
    format!(
        r#"
        name = "van"
        duration = "60 s"
        nodes = {{ van = {{}}, office = {{}}, server = {{}} }}
        [constellation]
        {VAN_SKY}
        outage = "40 ms"
        old_packets = "drop"
        [links.sky]
        between = ["van", "office"]
        constellation = {{ terminal = "van", uplink = {BUDGET} }}
        queue = {{ kind = "fifo", limit = "100 kB" }}
        backward = {{ rate = "50 Mbps" }}
        [links.core]
        between = ["office", "server"]
        rate = "40 Mbps"
        queue = {{ kind = "fifo", limit = "100 kB" }}
        [flows.main]
        transport = {transport}
        source = "bulk"
        {flow}
        "#
    )
}

const UP: &str = "from = \"van\"\nto = \"server\"";
const DOWN: &str = "from = \"server\"\nto = \"van\"";

/// The rows of a kind, with their times in seconds.
fn rows(outcome: &Outcome, wanted: &str) -> Vec<(f64, String)> {
    let events = table(outcome, Table::Events);
    let (times, kinds) = (events.integers("t_ns"), events.texts("kind"));
    let all = times.iter().zip(&kinds).zip(events.texts("detail"));
    all.filter(|((_, kind), _)| *kind == wanted)
        .map(|((time, _), detail)| (*time as f64 / 1e9, detail))
        .collect()
}

/// Reports are no more than rows among the events if nobody acts on them, over one path and over two.
#[test]
fn reports_change_nothing_by_themselves() {
    let keys = r#"cross_layer = { every = "10 ms", snr_error = "1 dB" }"#;
    let pair = |transport: &str| {
        ["", keys].map(|keys| run(&scenario(&van(transport, &format!("{UP}\n{keys}"))), 1))
    };
    let overrides = [("duration", "35 s"), ("flows.upload.cross_layer", "{}")];
    let chain = [1, 2].map(|count| run(&shipped("maco-chain.toml", &overrides[..count]), 1));
    for [without, with] in [pair(r#""quic""#), pair(r#""tcp""#), chain] {
        for (one, other) in without.tables.iter().zip(&with.tables) {
            if one.table != Table::Events {
                assert_eq!(bytes(one), bytes(other), "{}", one.table.name());
            }
        }
        let [one, other] =
            [&without, &with].map(|outcome| serde_json::to_value(&outcome.summary).unwrap());
        assert_eq!(one, other);
        assert_eq!(rows(&without, "access").len(), 0);
        assert!(rows(&with, "access").len() >= 3, "{:#?}", rows(&with, "access"));
        let others = |outcome: &Outcome| {
            let kinds = table(outcome, Table::Events).texts("kind");
            kinds.into_iter().filter(|kind| kind != "access").collect::<Vec<_>>()
        };
        assert_eq!(others(&without), others(&with));
    }
}

/// A row comes with the first report, and when the satellite or what is known of the handover changes: not with each of 601 reports.
#[test]
fn rows_are_of_what_changes() {
    let text = van(r#""quic""#, &format!("{UP}\ncross_layer = {{ horizon = \"5 s\" }}"));
    let outcome = run(&scenario(&text), 1);
    let (told, handovers) = (rows(&outcome, "access"), table(&outcome, Table::Handovers));
    let begins: Vec<_> = handovers
        .integers("t_ns")
        .into_iter()
        .zip(handovers.texts("stage"))
        .filter(|(_, stage)| stage == "begin")
        .map(|(time, _)| time as f64 / 1e9)
        .collect();
    assert!(begins.len() >= 3, "{begins:?}");
    // First: nothing to come. Of each handover: that it comes, when it will be over, the outage, and the new satellite.
    let times: Vec<_> = told.iter().map(|(at, _)| *at).collect();
    let expected = begins.iter().flat_map(|begin| [begin - 5.0, begin - 4.9, *begin, begin + 0.1]);
    let expected: Vec<_> = [0.0].into_iter().chain(expected).collect();
    assert_eq!(times.len(), expected.len(), "{told:#?}");
    for (time, expected) in times.iter().zip(&expected) {
        assert!((time - expected).abs() < 1e-6, "{told:#?}");
    }
    assert!(told[0].1.starts_with("path 0 over sky at 0.000000000 s: own/"), "{told:#?}");
    assert!(told[0].1.ends_with("; no handover"), "{told:#?}");
    assert!(told[3].1.contains(": no satellite; handover from "), "{told:#?}");
}

fn refused(text: &str) -> String {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let source = Source { file: "test.toml", text, syntax: Syntax::Toml, folder };
    load(&source, &[]).unwrap_err().to_string()
}

#[test]
fn stores_that_cannot_be_are_refused() {
    let keys = |keys: &str| refused(&van(r#""quic""#, &format!("{UP}\ncross_layer = {keys}")));
    let over = |transport: &str| refused(&van(transport, &format!("{UP}\ncross_layer = {{}}")));
    let udp = van(r#""udp""#, &format!("{UP}\ncross_layer = {{}}"));
    let udp = refused(&udp.replace("\"bulk\"", r#"{ kind = "bulk", size = "1 MB" }"#));
    let place = "test.toml: flows.main.cross_layer";
    let cases = [
        (
            refused(&van(r#""quic""#, &format!("{DOWN}\ncross_layer = {{}}"))),
            format!(
                "{place} = {{}}: reports the signal-to-noise ratio of link `sky`, which has no budget in the direction of the \
                 data; allowed: `links.sky.constellation.downlink`, or no `cross_layer`"
            ),
        ),
        (
            refused(&van(r#""quic""#, "from = \"office\"\nto = \"server\"\ncross_layer = {}")),
            format!(
                "{place} = {{}}: has no access link to report on; allowed: a link through a `constellation` on the way of the \
                 data"
            ),
        ),
        (
            udp,
            format!(
                "{place} = {{}}: applies only to senders that adapt their rate: `udp` sends as fast as its source; allowed: no \
                 `cross_layer`, or the transport `quic` or `tcp`"
            ),
        ),
        (
            over(r#"{ kind = "quic", stack = "noq" }"#),
            format!(
                "{place} = {{}}: is not passed on by the stack `noq` here; allowed: no `cross_layer`, or the stack `own`"
            ),
        ),
        (
            refused(&format!(
                "engine = \"real\"\n{}",
                van(r#""tcp""#, &format!("{UP}\ncross_layer = {{}}"))
            )),
            format!(
                "{place} = {{}}: cannot be passed to the kernel's TCP; allowed: no `cross_layer`, or the transport `quic`, in \
                 real time"
            ),
        ),
        (
            keys("{ every = \"0 s\" }"),
            format!("{place}.every = \"0 s\": is zero; allowed: a time above zero"),
        ),
        (
            keys("{ every = \"1 us\" }"),
            format!("{place}.every = \"1 us\": is too short; allowed: 1 ms or more"),
        ),
        (
            keys("{ horizon = \"50 ms\" }"),
            format!(
                "{place}.horizon = \"50 ms\": is shorter than the time to the next report; allowed: at least `every`, 100 ms"
            ),
        ),
        (
            keys("{ every = \"20 s\" }"),
            format!(
                "{place}.horizon: is shorter than the time to the next report: it is 15 s unless given; allowed: at least \
                 `every`, 20 s"
            ),
        ),
        (
            keys("{ horizon = \"11 min\" }"),
            format!("{place}.horizon = \"11 min\": is too long; allowed: at most 600 s"),
        ),
        (
            keys("{ delay = \"2 h\" }"),
            format!("{place}.delay = \"7200 s\": is too large; allowed: at most 3600 s"),
        ),
        (
            keys("{ snr_error = \"31 dB\" }"),
            format!(
                "{place}.snr_error = \"31 dB\": is out of range; allowed: decibels from 0 to 30, such as \"1.5 dB\""
            ),
        ),
        (
            keys("{ snr_error = \"-1 dB\" }"),
            format!(
                "{place}.snr_error = \"-1 dB\": is out of range; allowed: decibels from 0 to 30, such as \"1.5 dB\""
            ),
        ),
    ];
    for (message, expected) in cases {
        assert_eq!(message, expected);
    }
    // A second link from the van that leads over no satellite needs no budget.
    let cable = "[links.cable]\nbetween = [\"van\", \"office\"]\nrate = \"40 Mbps\"\n";
    scenario(&van(r#""quic""#, &format!("{UP}\ncross_layer = {{}}\n{cable}")));
}
