//! The ways that flows take by addresses of their own: what the table `paths` and the handover metrics say of connections that
//! migrate, move because their path fails, follow a preferred address, or have several paths.

use crate::common::{run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;

const SECOND: i64 = 1_000_000_000;

/// A client with links of 10 ms and 30 ms to its server, whose routes take the first.
fn network(transport: &str, download: bool, more: &str) -> Outcome {
    let (from, to, opened_by) =
        if download { ("server", "client", "to") } else { ("client", "server", "from") };
    run(
        &scenario(&format!(
            r#"
            name = "paths"
            duration = "10 s"
            nodes = {{ client = {{}}, server = {{}} }}
            {more}
            [flows.main]
            transport = {transport}
            from = "{from}"
            to = "{to}"
            opened_by = "{opened_by}"
            source = "bulk"
            "#
        )),
        1,
    )
}

const LINKS: &str = r#"
    links.short = { between = ["client", "server"], rate = "10 Mbps", delay = "10 ms", queue = { kind = "fifo", limit = "50 kB" } }
    links.long = { between = ["client", "server"], rate = "20 Mbps", delay = "30 ms", queue = { kind = "fifo", limit = "100 kB" } }
"#;

/// The rows of the table `paths`: seconds, path, round trip in milliseconds, and bottleneck in Mbit/s.
fn paths(outcome: &Outcome) -> Vec<(f64, i64, Option<i64>, Option<i64>)> {
    let rows = table(outcome, Table::Paths);
    let times = rows.integers("t_ns");
    let times = times.iter().map(|nanos| *nanos as f64 / SECOND as f64);
    let trips = rows.maybe_integers("base_rtt_ns");
    let rates = rows.maybe_integers("bottleneck_bps");
    let trips = trips.into_iter().map(|nanos| nanos.map(|nanos| nanos / 1_000_000));
    let rates = rates.into_iter().map(|bps| bps.map(|bps| bps / 1_000_000));
    let values = trips.zip(rates);
    let rows = times.zip(rows.integers("path")).zip(values);
    rows.map(|((at, path), (trip, rate))| (at, path, trip, rate)).collect()
}

fn events(outcome: &Outcome, subject: &str, detail: &str) -> Vec<f64> {
    let rows = table(outcome, Table::Events);
    let seconds = rows.integers("t_ns").into_iter().map(|nanos| nanos as f64 / SECOND as f64);
    let told = rows.texts("subject").into_iter().zip(rows.texts("detail"));
    seconds
        .zip(told)
        .filter(|(_, (at, what))| at == subject && what.starts_with(detail))
        .map(|(at, _)| at)
        .collect()
}

/// With an overlap the client stays on its address until that goes, although routes lead elsewhere before.
#[test]
fn a_client_that_migrates_has_the_path_of_its_address() {
    for download in [false, true] {
        let moves = r#"handovers.h = { node = "client", links = ["long", "short"], kind = "migrate", at = ["4 s"], overlap = "1 s" }"#;
        let outcome = network("\"quic\"", download, &format!("{LINKS}{moves}"));
        let rows = paths(&outcome);
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert_eq!(rows[0], (0.0, 0, Some(60), Some(20)));
        let (at, path, trip, rate) = rows[1];
        assert_eq!((path, trip, rate), (0, Some(20), Some(10)));
        let client = if download { "main/receiver" } else { "main/sender" };
        assert_eq!(events(&outcome, client, "moved"), [at], "the row comes when the client moves");
        let handover = outcome.summary.flows[0].handovers.clone().unwrap();
        assert_eq!((handover.count, handover.recovered), (1, 1));
        let each = &handover.each[0];
        assert_eq!(each.phases.no_way_ms, Some(0.0));
        assert_eq!(each.phases.detection_ms, Some(1_000.0), "its address stays for so long");
        assert!(each.recovery_ms.unwrap() < 3_000.0, "{each:?}");
    }
}

/// The link of the route fails at 4 s, and nothing tells the client: it probes its other interfaces and moves.
#[test]
fn a_client_whose_path_fails_moves_to_another_interface() {
    let fails = r#"
        links.short = { between = ["client", "server"], delay = "10 ms", queue = { kind = "fifo", limit = "50 kB" }, channel = { kind = "schedule", steps = [{ at = "0 s", rate = "10 Mbps" }, { at = "4 s", up = false }] } }
        links.long = { between = ["client", "server"], rate = "20 Mbps", delay = "30 ms", queue = { kind = "fifo", limit = "100 kB" } }
    "#;
    for download in [false, true] {
        let client = if download { "main/receiver" } else { "main/sender" };
        let stays = network("\"quic\"", download, fails);
        assert!(events(&stays, client, "moved").is_empty());
        let stays = stays.summary.flows[0].goodput_bps.unwrap();

        // A client that only receives has nothing to send that would time out.
        if download {
            continue;
        }
        let outcome = network("{ kind = \"quic\", probe_after = 2 }", download, fails);
        let probed = events(&outcome, client, "probes");
        let moved = events(&outcome, client, "moved");
        assert!(probed[0] > 4.0 && moved[0] > probed[0] && moved[0] < 6.0, "{probed:?} {moved:?}");
        let goodput = outcome.summary.flows[0].goodput_bps.unwrap();
        assert!(goodput > 1.5 * stays, "{goodput} {stays}");
        let rows = paths(&outcome);
        let last = *rows.last().unwrap();
        assert_eq!(last, (moved[0], 0, Some(60), Some(20)), "{rows:?}");
    }
}

/// The server's route leads over the long link, and it prefers the address of the short one.
#[test]
fn a_preferred_address_changes_the_path() {
    for download in [false, true] {
        let outcome = network("{ kind = \"quic\", preferred_address = \"long\" }", download, LINKS);
        let rows = paths(&outcome);
        let [(start, 0, Some(20), Some(10)), (moved, 0, there, _)] = rows[..] else {
            panic!("{rows:?}")
        };
        // The server's packets leave by the long link, and so do those to its address there; both ways are 30 ms long.
        assert_eq!((start, there), (0.0, Some(60)));
        assert!(moved > 0.06 && moved < 0.3, "{moved}");
        let flow = &outcome.summary.flows[0];
        assert!(flow.goodput_bps.unwrap() > 15e6 && flow.lost.is_none(), "{:?}", flow.goodput_bps);
    }
}

/// Each path has its rows, from when it is opened, and one that says when it is gone.
#[test]
fn several_paths_have_rows_each() {
    let several = r#"{ kind = "quic", multipath = { links = ["long", "short"] } }"#;
    for download in [false, true] {
        let rows = paths(&network(several, download, LINKS));
        let [first, (opened, 1, Some(20), Some(10))] = rows[..] else { panic!("{rows:?}") };
        assert_eq!(first, (0.0, 0, Some(60), Some(20)));
        assert!(opened > 0.0 && opened < 0.5, "{opened}");
    }
}

/// One of two paths loses its link at 4 s: the flow has a way all the time, notices at once, and loses what was on the link; its other
/// path carries on. A flow on the other link only is not concerned.
#[test]
fn a_handover_of_one_path_is_measured() {
    let moves = r#"handovers.h = { node = "client", links = ["short", "spare"], kind = "migrate", at = ["4 s"] }
        links.spare = { between = ["client", "server"], rate = "10 Mbps", delay = "20 ms", queue = { kind = "fifo", limit = "50 kB" } }"#;
    let several = r#"{ kind = "quic", multipath = { links = ["short", "long", "spare"] } }"#;
    for download in [false, true] {
        let outcome = network(several, download, &format!("{LINKS}{moves}"));
        let rows = paths(&outcome);
        let gone = rows.iter().find(|(_, path, trip, _)| *path == 0 && trip.is_none());
        assert_eq!(gone.map(|(at, ..)| *at), Some(4.0), "{rows:?}");
        let spare = rows.iter().find(|(at, _, trip, _)| *at > 3.9 && *trip == Some(40));
        assert!(spare.is_some_and(|(at, path, ..)| *path >= 2 && *at < 4.5), "{rows:?}");
        let handovers = outcome.summary.flows[0].handovers.clone().unwrap();
        assert_eq!((handovers.count, handovers.recovered), (1, 1));
        let each = &handovers.each[0];
        assert_eq!((each.phases.no_way_ms, each.phases.detection_ms), (Some(0.0), Some(0.0)));
        assert!(each.outage_ms.unwrap() < 150.0 && each.lost_bytes > 0, "{each:?}");
    }
    let one = r#"{ kind = "quic", multipath = { links = ["long", "other"] } }"#;
    let other = r#"links.other = { between = ["client", "server"], rate = "10 Mbps", delay = "40 ms", queue = { kind = "fifo", limit = "50 kB" } }"#;
    let outcome = network(one, false, &format!("{LINKS}{moves}\n{other}"));
    assert_eq!(outcome.summary.flows[0].handovers.clone().unwrap().count, 0);
}
