//! TCP against ns-3 over the same bottleneck: 45 Mbit/s, 20 ms one way, one bulk transfer. `testdata/ns3` holds what ns-3
//! measured, and how.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]
#![allow(clippy::print_stdout, reason = "--nocapture shows the comparison")]

mod common;

use std::path::Path;

use common::{one_link, run, scenario, table};
use leobench_sim::record::Table;

/// Half of, once and twice what the path holds: 45 Mbit/s times 40 ms are 150 packets of 1,500 bytes.
const QUEUES: [u64; 3] = [75, 150, 300];
/// Warm-up that both leave out, in seconds.
const WARM_UP: u64 = 20;
const MSS: f64 = 1_448.0;
/// How long before and after K the cubic term is less than a segment: 0.4 times its cube is 1. In seconds.
const ROUNDED: f64 = 1.357;

const RENO: Pair = Pair { ns3: "TcpLinuxReno", delayed_acks: 2, ours: r#"congestion = "newreno""# };
const CUBIC: Pair = Pair { ns3: "TcpCubic", delayed_acks: 2, ours: r#"congestion = "cubic""# };

/// The same thing in ns-3 and here.
#[derive(Clone, Copy)]
struct Pair {
    ns3: &'static str,
    delayed_acks: u64,
    ours: &'static str,
}

/// A file of comma-separated values whose first line names its columns.
struct Recorded {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Recorded {
    fn read(file: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ns3");
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines().map(split);
        Self { names: lines.next().unwrap(), rows: lines.collect() }
    }

    fn column(&self, name: &str) -> usize {
        self.names.iter().position(|other| other == name).expect(name)
    }

    /// The rows in which these columns have these values.
    fn only(&self, values: &[(&str, &str)]) -> Self {
        let right = |row: &&Vec<String>| {
            values.iter().all(|(name, value)| row[self.column(name)] == *value)
        };
        let rows: Vec<_> = self.rows.iter().filter(right).cloned().collect();
        assert!(!rows.is_empty(), "ns-3 was not run with {values:?}");
        Self { names: self.names.clone(), rows }
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        let column = self.column(name);
        self.rows.iter().map(|row| row[column].parse().unwrap()).collect()
    }

    /// Returns the measurements of ns-3 until `end`, in seconds, under `pair`.
    fn measured(&self, pair: Pair, queue: u64, fast_convergence: &str, end: u64) -> Measured {
        let rows = self.only(&[
            ("algorithm", pair.ns3),
            ("delayed_acks", &pair.delayed_acks.to_string()),
            ("queue_packets", &queue.to_string()),
            ("hystart", if pair.ns3 == "TcpCubic" { "false" } else { "" }),
            ("fast_convergence", fast_convergence),
            ("timestamps", "true"),
            ("warm_up_s", &WARM_UP.to_string()),
            ("end_s", &end.to_string()),
        ]);
        Measured {
            goodput_bps: rows.numbers("goodput_bps")[0],
            episodes: rows.numbers("loss_episodes")[0],
            queueing_ms: rows.numbers("mean_queueing_delay_ms")[0],
        }
    }
}

struct Measured {
    goodput_bps: f64,
    /// Reductions of the window on loss.
    episodes: f64,
    /// Mean time in the queue.
    queueing_ms: f64,
}

/// A loss episode, windows in segments.
struct Episode {
    before: f64,
    after: f64,
    /// How long the recovery took.
    seconds: f64,
}

/// The run with the parameters that ns-3 had.
fn ours(transport: &str, queue: u64, end: u64) -> (Measured, Vec<Episode>) {
    let outcome = run(
        &scenario(&one_link(
            &format!(
                "duration = \"{end} s\"\nwarm_up = \"{WARM_UP} s\"\nrecord = {{ series = false }}"
            ),
            // PPP adds two bytes to a packet in ns-3.
            &format!(
                r#"
                rate = "45 Mbps"
                delay = "20 ms"
                overhead = "2 B"
                queue = {{ kind = "fifo", limit = "{queue} packets" }}
                "#
            ),
            &format!(
                r#"
                transport = {{ kind = "tcp", receive_buffer = "unlimited", send_buffer = "unlimited", {transport} }}
                source = {{ kind = "bulk", size = "1000 GB" }}
                "#
            ),
        )),
        1,
    );
    let (flow, link) = (&outcome.summary.flows[0], &outcome.summary.links[0]);
    assert_eq!((flow.timeouts, flow.spurious_losses), (0, 0), "{transport}, {queue} packets");
    assert_eq!(flow.lost_packets, link.dropped_packets.of("queue"), "{transport}, {queue} packets");
    let measured = Measured {
        goodput_bps: flow.goodput_bps.unwrap(),
        episodes: flow.congestion_events as f64,
        queueing_ms: link.queue_delay_ms.mean.unwrap(),
    };
    (measured, episodes(&table(&outcome, Table::Events)))
}

/// The loss episodes after the warm-up that ended.
fn episodes(events: &common::frame::Frame) -> Vec<Episode> {
    let (times, kinds) = (events.integers("t_ns"), events.texts("kind"));
    let details = events.texts("detail");
    let rows: Vec<_> = (0..times.len())
        .filter(|row| times[*row] as u64 >= WARM_UP * 1_000_000_000)
        .filter(|row| kinds[*row] == "congestion" || details[*row].starts_with("recovery -> "))
        .collect();
    let pairs = rows.windows(2).filter(|pair| kinds[pair[0]] == "congestion");
    pairs
        .map(|pair| {
            let windows = details[pair[0]].strip_prefix("loss: window ").unwrap();
            let (before, after) = windows.split_once(" -> ").unwrap();
            let seconds = (times[pair[1]] - times[pair[0]]) as f64 / 1e9;
            Episode { before: segments(before), after: segments(after), seconds }
        })
        .collect()
}

/// A size such as `437.289 kB` in segments.
fn segments(size: &str) -> f64 {
    let (number, unit) = size.split_once(' ').unwrap();
    let bytes = match unit {
        "B" => 1.0,
        "kB" => 1e3,
        other => panic!("{other}"),
    };
    number.parse::<f64>().unwrap() * bytes / MSS
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// Runs `pair` with every queue until `end` and compares.
fn compare(pair: Pair, fast_convergence: &str, end: u64, share: f64) -> Vec<(Measured, Measured)> {
    QUEUES.map(|queue| compare_at(queue, pair, fast_convergence, end, share)).into()
}

/// Runs `pair` with this queue until `end`, prints the comparison, and holds it to 3 % of goodput, and to `share` of the loss
/// episodes, or one.
fn compare_at(
    queue: u64,
    pair: Pair,
    fast_convergence: &str,
    end: u64,
    share: f64,
) -> (Measured, Measured) {
    let theirs = Recorded::read("runs.csv").measured(pair, queue, fast_convergence, end);
    let (ours, _) = ours(pair.ours, queue, end);
    println!(
        "{}, {queue} packets: {:.2} Mbit/s (ns-3 {:.2}), {} loss episodes ({}), {:.1} ms in the queue ({:.1})",
        pair.ours,
        ours.goodput_bps / 1e6,
        theirs.goodput_bps / 1e6,
        ours.episodes,
        theirs.episodes,
        ours.queueing_ms,
        theirs.queueing_ms,
    );
    let goodput = ours.goodput_bps / theirs.goodput_bps;
    assert!((goodput - 1.0).abs() < 0.03, "goodput: {goodput} of ns-3's");
    let (count, reference) = (ours.episodes, theirs.episodes);
    let allowed = (share * reference).max(1.0);
    assert!((count - reference).abs() <= allowed, "{count} episodes, not {reference}");
    (ours, theirs)
}

#[test]
fn newreno_has_the_goodput_and_the_losses_of_ns3() {
    compare(RENO, "", 220, 0.2);
}

/// How many losses CUBIC has hangs on a segment more or less in the window, and on what ns-3 rounds and leaves out:
/// docs/reports/congestion-controllers.md says what.
#[test]
fn cubic_has_the_goodput_of_ns3_and_about_its_losses() {
    compare(CUBIC, "true", 220, 0.35);
}

#[test]
fn hybla_has_the_goodput_and_the_losses_of_ns3() {
    let pair = Pair { ns3: "TcpHybla", delayed_acks: 2, ours: r#"congestion = "hybla""# };
    compare_at(150, pair, "", 320, 0.2);
}

#[test]
#[ignore = "ten minutes of virtual time, six times"]
fn over_ten_minutes_newreno_and_cubic_still_agree_with_ns3() {
    compare(RENO, "", 620, 0.2);
    compare(CUBIC, "true", 620, 0.35);
}

/// With an acknowledgement for every segment, ns-3's NewReno grows as RFC 5681 says, less what it rounds off.
#[test]
#[ignore = "ten minutes of virtual time, three times"]
fn newreno_agrees_with_ns3_when_every_segment_is_acknowledged() {
    let ours = r#"congestion = "newreno", delayed_ack = "0 s""#;
    compare(Pair { ns3: "TcpNewReno", delayed_acks: 1, ours }, "", 620, 0.2);
}

/// ns-3's CUBIC rounds C·|t - K|³ down to whole segments, as Linux does, and is therefore back at its plateau when that is
/// one segment: 1.36 s before K. Without fast convergence the plateau is where packets are lost, so its epochs are
/// shorter by that.
#[test]
#[ignore = "ten minutes of virtual time, three times"]
fn without_fast_convergence_epochs_differ_from_those_of_ns3_by_what_it_rounds() {
    let ours = r#"congestion = { kind = "cubic", fast_convergence = false }"#;
    for (ours, theirs) in compare(Pair { ours, ..CUBIC }, "false", 620, 0.35) {
        let longer = 600.0 / ours.episodes - 600.0 / theirs.episodes;
        println!("an epoch lasts {longer:.2} s longer; {ROUNDED} s are expected");
        assert!((longer - ROUNDED).abs() < 0.15, "{longer} s");
    }
}

/// Windows in segments and recoveries in seconds, one loss episode like the other.
#[test]
fn a_loss_episode_goes_as_in_ns3() {
    let recorded = Recorded::read("episodes.csv");
    for (pair, factor) in [(RENO, 0.5), (CUBIC, 0.7)] {
        let queue = 150;
        let rows = recorded.only(&[("algorithm", pair.ns3), ("queue_packets", "150")]);
        let theirs = |name| mean(rows.numbers(name).into_iter());
        let recovery = theirs("ended_s") - theirs("began_s");
        let (_, episodes) = ours(pair.ours, queue, 120);
        let ours = |of: fn(&Episode) -> f64| mean(episodes.iter().map(of));
        let (before, after) = (ours(|episode| episode.before), ours(|episode| episode.after));
        let seconds = ours(|episode| episode.seconds);
        println!(
            "{}: window {before:.1} -> {after:.1} segments (ns-3 {:.1} -> {:.1}), recovery {seconds:.4} s ({recovery:.4})",
            pair.ours,
            theirs("window_before"),
            theirs("threshold"),
        );
        // What fits the path and its queue, and the segment that did not, with what was sent until that was known.
        assert!((before - theirs("window_before")).abs() < 2.0);
        assert!((after - theirs("threshold")).abs() < 2.0);
        assert!((after / before - factor).abs() < 1e-3);
        // ns-3 stays in recovery for a round trip more where it lost two segments.
        assert!((seconds / recovery - 1.0).abs() < 0.2);
    }
}
