//! Queues that manage themselves against those of ns-3, each above a device queue of one packet: 20 Mbit/s, 20 ms one way, one
//! bulk transfer. `testdata/ns3` holds what ns-3 measured, and how.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]
#![allow(clippy::print_stdout, reason = "--nocapture shows the comparison")]

mod common;

use std::path::Path;

use common::{one_link, run, scenario};

/// Congestion controllers, ns-3's and ours.
const CONTROLLERS: [(&str, &str); 2] = [("TcpLinuxReno", "newreno"), ("TcpCubic", "cubic")];
/// Runs of a queue that draws at random; the others come out alike in every run.
const RUNS: u64 = 3;

/// Means over the runs of one controller and one queue.
#[derive(Debug)]
struct Means {
    goodput_bps: f64,
    drops: f64,
    queueing_ms: f64,
}

impl Means {
    /// Of rows of these three numbers.
    fn of(rows: &[[f64; 3]]) -> Self {
        assert!(!rows.is_empty(), "no runs");
        let [goodput_bps, drops, queueing_ms] =
            [0, 1, 2].map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64);
        Self { goodput_bps, drops, queueing_ms }
    }
}

/// Returns the means of the runs in ns-3.
fn theirs(algorithm: &str, queue: &str) -> Means {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ns3/managed.csv");
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let at = |name| names.iter().position(|other| *other == name).unwrap();
    let rows: Vec<_> = lines
        .filter(|row| row[at("algorithm")] == algorithm && row[at("queue")] == queue)
        .map(|row| {
            ["goodput_bps", "dropped_packets", "mean_queueing_delay_ms"]
                .map(|name| row[at(name)].parse().unwrap())
        })
        .collect();
    Means::of(&rows)
}

/// The run with the parameters that ns-3 had.
fn ours(congestion: &str, queue: &str, seeds: u64) -> Means {
    let scenario = scenario(&one_link(
        "duration = \"220 s\"\nwarm_up = \"20 s\"\nrecord = { series = false }",
        // PPP adds two bytes to a packet in ns-3.
        &format!(
            r#"
            rate = "20 Mbps"
            delay = "20 ms"
            overhead = "2 B"
            forward = {{ queue = {{ kind = "device", ring = "1 packets", queue = "{queue}" }} }}
            "#
        ),
        &format!(
            r#"
            transport = {{ kind = "tcp", congestion = "{congestion}", receive_buffer = "unlimited", send_buffer = "unlimited" }}
            source = {{ kind = "bulk", size = "1000 GB" }}
            "#
        ),
    ));
    let measured = |seed| {
        let summary = run(&scenario, seed).summary;
        let (flow, link) = (&summary.flows[0], &summary.links[0]);
        assert_eq!(flow.timeouts, 0, "{congestion}, {queue}");
        let drops = link.dropped_packets.total() as f64;
        [flow.goodput_bps.unwrap(), drops, link.queue_delay_ms.mean.unwrap()]
    };
    Means::of(&(1..=seeds).map(measured).collect::<Vec<_>>())
}

/// Prints the comparison under both controllers. Holds both goodputs to these shares of ns-3's, the first. With `NewReno` it
/// also holds the mean wait and the number of drops, the second. ns-3's CUBIC lacks the Reno-friendly region (RFC 9438 section
/// 4.3), by which the window grows on this path, so it has half the drops, and shorter waits.
fn compare(kind: &str, queue: &str, runs: u64, [goodput, others]: [f64; 2]) {
    for (algorithm, congestion) in CONTROLLERS {
        let (ours, theirs) = (ours(congestion, queue, runs), theirs(algorithm, kind));
        println!(
            "{queue}, {congestion}: {:.2} Mbit/s (ns-3 {:.2}), {:.2} ms in the queue ({:.2}), {:.0} drops ({:.0})",
            ours.goodput_bps / 1e6,
            theirs.goodput_bps / 1e6,
            ours.queueing_ms,
            theirs.queueing_ms,
            ours.drops,
            theirs.drops,
        );
        let within = |name, ours: f64, theirs: f64, share: f64| {
            assert!((ours / theirs - 1.0).abs() < share, "{queue}, {congestion}: {name}");
        };
        within("goodput", ours.goodput_bps, theirs.goodput_bps, goodput);
        if congestion == "newreno" {
            within("wait", ours.queueing_ms, theirs.queueing_ms, others);
            within("drops", ours.drops, theirs.drops, others);
        }
    }
}

#[test]
fn codel_agrees_with_ns3() {
    compare("CoDelQueueDisc", "codel", 1, [0.03, 0.1]);
}

#[test]
fn fq_codel_agrees_with_ns3() {
    compare("FqCoDelQueueDisc", "fq_codel", 1, [0.03, 0.1]);
}

#[test]
fn pie_agrees_with_ns3() {
    compare("PieQueueDisc", "pie", RUNS, [0.03, 0.1]);
}

/// ns-3 drops nothing early while at most one packet waits, which the paper does not say. RED drops more here: its average is
/// still long when the queue has drained. With ns-3's rule, both came within 2 % with `NewReno`.
#[test]
fn red_has_about_the_goodput_and_drops_of_ns3() {
    compare("RedQueueDisc", "red", RUNS, [0.1, 0.15]);
}
