//! Queues that manage themselves, end to end: goodput and delay of a bulk flow, marks, and limits that follow a link.

use crate::common::{one_link, run, scenario, summary};
use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::summary::Summary;

const LINK: &str = r#"rate = "20 Mbps"
    delay = "20 ms""#;

/// A bulk flow over 20 Mbit/s and a round trip of 40 ms, after its slow start.
fn bulk(transport: &str, queue: &str) -> Summary {
    summary(&one_link(
        "duration = \"60 s\"\nwarm_up = \"5 s\"\nrecord = { series = false }",
        &format!("{LINK}\nforward = {{ queue = {queue} }}"),
        &format!("transport = {transport}\nsource = \"bulk\""),
    ))
}

/// The goodput over the rate of the link, and the mean wait in its queue in milliseconds.
fn utility(summary: &Summary) -> (f64, f64) {
    let wait = summary.links[0].queue_delay_ms.mean.expect("packets");
    (summary.flows[0].goodput_bps.expect("data") / 20e6, wait)
}

/// `CoDel` lets a flow have little more than its target of 5 ms in the queue. The bandwidth-delay product is 100 kB (66
/// packets). A sawtooth that falls by the factor b from a peak of 1 + 5/40 products carries the mean of min(w, 1) over it:
/// - Reno, b = 0.5: from 0.56 to 1.125 products, linear. Below 1 for 0.78 of the time, where the mean is 0.78:
///   0.78 * 0.78 + 0.22 = 0.83, times 1448 / 1500 for headers: 0.80.
/// - CUBIC, b = 0.7: from 0.79 to 1.125, concave, so most of the time near the peak. Linear it would be below 1 for 0.63 of the
///   time, with a mean of 0.89: 0.93, times 0.965: 0.90.
///
/// Drops come at an interval after the delay passes the target, by which the peak is higher and the shares better.
#[test]
fn codel_keeps_the_delay_short_and_most_of_the_goodput() {
    for (congestion, least) in [("cubic", 0.88), ("newreno", 0.78)] {
        for ecn in [false, true] {
            let transport =
                format!(r#"{{ kind = "tcp", congestion = "{congestion}", ecn = {ecn} }}"#);
            let summary = bulk(&transport, r#""codel""#);
            let (share, wait) = utility(&summary);
            println!("{congestion}, ECN {ecn}: {share:.3}, {wait:.2} ms");
            assert!(share >= least && share < 0.966, "{congestion}, ECN {ecn}: {share}");
            assert!(wait < 15.0, "{congestion}, ECN {ecn}: {wait} ms");
            let (link, flow) = (&summary.links[0], &summary.flows[0]);
            if ecn {
                // Nothing is lost after slow start, and the flow answers every mark or so.
                assert_eq!((link.dropped_packets.total(), flow.lost_packets), (0, 0));
                assert!(link.marked_packets.of("codel") > 5, "{link:?}");
                // One that was made in the warm-up may be answered after it.
                let marks = link.marked_packets.total();
                assert!((6..=marks + 1).contains(&flow.ecn_marks), "{} of {marks}", flow.ecn_marks);
            } else {
                assert!(link.dropped_packets.of("codel") > 5, "{link:?}");
                assert_eq!(link.marked_packets.total() + flow.ecn_marks, 0);
                assert_eq!(link.dropped_packets.total(), flow.lost_packets);
            }
        }
    }
}

#[test]
fn every_managed_queue_keeps_the_delay_short() {
    let queues = [
        r#""fq_codel""#,
        r#""pie""#,
        r#""red""#,
        r#"{ kind = "cake", bandwidth = "19 Mbps" }"#,
        r#"{ kind = "device", ring = "3 packets", queue = "codel" }"#,
    ];
    let cubic = r#"{ kind = "tcp", congestion = "cubic" }"#;
    let (_, fifo) = utility(&bulk(cubic, r#"{ kind = "fifo", limit = "4 BDP" }"#));
    for queue in queues {
        let summary = bulk(cubic, queue);
        let (share, wait) = utility(&summary);
        println!("{queue}: {share:.3}, {wait:.2} ms");
        assert!(share > 0.75 && wait < 30.0 && 3.0 * wait < fifo, "{queue}: {share}, {wait} ms");
    }
    // A ring without a limit leaves nothing to manage.
    let unmanaged = r#"{ kind = "device", ring = "unlimited", queue = "codel" }"#;
    assert_eq!(bulk(cubic, unmanaged).links[0].dropped_packets.total(), 0);
}

#[test]
fn quic_negotiates_ecn_and_answers_marks() {
    for congestion in ["cubic", "newreno"] {
        let with = |ecn| {
            let transport =
                format!(r#"{{ kind = "quic", congestion = "{congestion}", ecn = {ecn} }}"#);
            bulk(&transport, r#""codel""#)
        };
        let (marked, dropped) = (with(true), with(false));
        let (link, flow) = (&marked.links[0], &marked.flows[0]);
        assert!(flow.ecn_marks > 5 && flow.ecn_marks <= link.marked_packets.total(), "{flow:?}");
        assert_eq!((link.dropped_packets.total(), flow.lost_packets), (0, 0), "{flow:?}");
        let (share, wait) = utility(&marked);
        println!("{congestion}: {share:.3}, {wait:.2} ms");
        assert!(share > 0.78 && wait < 15.0, "{congestion}: {share}, {wait} ms");
        let (link, flow) = (&dropped.links[0], &dropped.flows[0]);
        assert_eq!((flow.ecn_marks, link.marked_packets.total()), (0, 0));
        assert!(link.dropped_packets.of("codel") > 5, "{link:?}");
    }
}

#[test]
fn a_fifo_never_marks() {
    for transport in [r#"{ kind = "tcp", ecn = true }"#, r#"{ kind = "quic", ecn = true }"#] {
        let summary = bulk(transport, r#"{ kind = "fifo", limit = "1 BDP" }"#);
        assert!(summary.links[0].dropped_packets.of("queue") > 0);
        assert_eq!((summary.flows[0].ecn_marks, summary.links[0].marked_packets.total()), (0, 0));
        assert!(summary.links[0].marked_packets.is_empty());
    }
}

/// The bytes that the limit of the forward queue of `path` comes to, beside a link `leo`.
fn limit(link: &str, limit: &str, leo: &str) -> Result<Option<u64>, String> {
    let text = format!(
        r#"
        name = "limits"
        duration = "10 ms"
        nodes = {{ a = {{}}, b = {{}}, c = {{}} }}
        [links.leo]
        between = ["b", "c"]
        {leo}
        [links.path]
        between = ["a", "b"]
        {link}
        forward = {{ queue = {limit} }}
        [flows.main]
        from = "a"
        to = "c"
        transport = "udp"
        source = {{ kind = "cbr", rate = "1 Mbps", size = "1000 B" }}
        "#
    );
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../link/testdata");
    let source = Source { file: "test.toml", text: &text, syntax: Syntax::Toml, folder };
    let scenario = load(&source, &[]).map_err(|error| error.to_string())?;
    let outcome = run(&scenario, 1);
    let forward = outcome.summary.links.iter().find(|link| link.name == "path/a->b");
    Ok(forward.expect("the link").queue_limit_bytes)
}

const LEO: &str = r#"rate = "50 Mbps"
    delay = "30 ms""#;

#[test]
fn limits_follow_the_mean_rate_of_a_link() {
    let of_path = |link: &str, text: &str| limit(link, text, LEO).unwrap();
    // 20 Mbit/s x 40 ms = 100 kB.
    assert_eq!(of_path(LINK, r#"{ kind = "fifo", limit = "1 BDP" }"#), Some(100_000));
    assert_eq!(of_path(LINK, r#"{ kind = "codel", limit = "1.5 BDP" }"#), Some(150_000));
    assert_eq!(of_path(LINK, r#"{ kind = "pie", limit = "200 ms" }"#), Some(500_000));
    assert_eq!(of_path(LINK, r#"{ kind = "fifo", limit = "100 kB" }"#), None);
    // 50 Mbit/s x 60 ms = 375 kB; 50 Mbit/s x 100 ms = 625 kB.
    let named = r#"{ kind = "fifo", limit = { bdp = 1, link = "leo" } }"#;
    assert_eq!(of_path(LINK, named), Some(375_000));
    let timed = r#"{ kind = "red", limit = { time = "100 ms", link = "leo" } }"#;
    assert_eq!(of_path(LINK, timed), Some(625_000));
    let inner = r#"{ kind = "device", ring = "7 packets", queue = { kind = "fq_codel", limit = "1 BDP" } }"#;
    assert_eq!(of_path(LINK, inner), Some(100_000));
    // The direction's own rate and delay: 20 Mbit/s there, 20 ms + 60 ms.
    let uneven = r#"backward = { rate = "1 Mbps", delay = "60 ms" }
        rate = "20 Mbps"
        delay = "20 ms""#;
    assert_eq!(of_path(uneven, r#"{ kind = "fifo", limit = "1 BDP" }"#), Some(200_000));
    // On for 3 of 4 s: 15 Mbit/s.
    let on_off = r#"channel = { kind = "on_off", rate = "20 Mbps", on = "3 s", off = "1 s" }
        delay = "20 ms""#;
    assert_eq!(of_path(on_off, r#"{ kind = "fifo", limit = "1 BDP" }"#), Some(75_000));
    // 40 Mbit/s for 1 s and 20 for 3 s: 25 Mbit/s; delays of 10 and 30 ms: 25 ms each way on average, over the link's 5.
    let steps = r#"steps = [{ at = "0 s", rate = "40 Mbps", delay = "10 ms" }, { at = "1 s", rate = "20 Mbps", delay = "30 ms" }]"#;
    let schedule = |keys: &str| {
        format!("channel = {{ kind = \"schedule\", {steps}{keys} }}\ndelay = \"5 ms\"")
    };
    let fifo = r#"{ kind = "fifo", limit = "1 BDP" }"#;
    assert_eq!(of_path(&schedule(r#", repeat = "4 s""#), fifo), Some(25_000 * 60 / 8));
    // Without a period: the rate as given, and the delay up to the last row.
    assert_eq!(of_path(&schedule(r#", mean_rate = "8 Mbps""#), fifo), Some(8_000 * 30 / 8));
    // The published chain of the Ka band (Khan et al. 2023, Table 1), solved by hand: the jump chain visits its states in
    // the proportions 0.39298, 1 and 0.68163, which with their dwell times makes 41.327 Mbit/s on average.
    let lms = "channel = { kind = \"lms\", preset = \"ka\" }\ndelay = \"20 ms\"";
    let bytes = of_path(lms, fifo).unwrap() as f64;
    assert!((bytes * 8.0 / 0.04 / 41.327e6 - 1.0).abs() < 0.001, "{bytes}");
}

#[test]
fn limits_that_come_to_nothing_are_refused() {
    let refused = |link: &str, text: &str, leo: &str| limit(link, text, leo).unwrap_err();
    let fifo = r#"{ kind = "fifo", limit = "1 BDP" }"#;
    let error = refused(r#"rate = "20 Mbps""#, fifo, LEO);
    let place = "links.path.forward.queue.limit";
    assert!(error.contains(place) && error.contains("which has no delay"), "{error}");
    let schedule = r#"delay = "5 ms"
        channel = { kind = "schedule", steps = [{ at = "0 s", rate = "40 Mbps" }, { at = "1 s", rate = "20 Mbps" }] }"#;
    let error = refused(schedule, fifo, LEO);
    assert!(error.contains(place) && error.contains("no mean rate"), "{error}");
    let unknown = r#"{ kind = "codel", limit = { bdp = 1, link = "loe" } }"#;
    let error = refused(LINK, unknown, LEO);
    assert!(error.contains("`loe`, which does not exist") && error.contains("`leo`"), "{error}");
    let error = refused(LINK, r#"{ kind = "fifo", limit = "0.01 BDP" }"#, LEO);
    assert!(error.contains("comes to 1 kB, less than a packet"), "{error}");
    let error = refused(LINK, r#"{ kind = "fifo", limit = "0 BDP" }"#, LEO);
    assert!(error.contains("is zero"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn a_scenario_written_back_keeps_its_limits() {
    let text = one_link(
        "duration = \"1 s\"",
        &format!(
            "{LINK}\nqueue = {{ kind = \"fq_codel\", limit = {{ bdp = 2, link = \"path\" }} }}"
        ),
        "transport = \"quic\"\nsource = \"bulk\"",
    );
    let scenario = scenario(&text);
    let written = serde_json::to_string(&scenario.write()).unwrap();
    assert!(written.contains(r#""limit":{"bdp":2.0,"link":"path"}"#), "{written}");
}
