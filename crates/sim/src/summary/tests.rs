use std::sync::LazyLock;

use leobench_base::{Bytes, LogHistogram, SimDuration, SimTime};
use leobench_link::{Cause, Tallies};
use leobench_transport::arrivals::Arrivals;
use leobench_transport::buffer::Message;
use leobench_transport::endpoint::{Loss, PathId, PathSample, Report, Totals};
use serde_json::{Value, json};

use super::{
    ByCause, FlowSummaryInput, LinkSummaryInput, PageInput, RunSummaryInput, Summary, jain,
};
use crate::ledger::FlowLedger;
use crate::network::{LossTotals, ObjectTimes, PageTimes};
use crate::scenario::CompetitionSpec;

fn run(competition: &CompetitionSpec) -> RunSummaryInput<'_> {
    RunSummaryInput {
        scenario: "demo",
        seed: 7,
        engine: "virtual",
        end: SimTime::from_nanos(2_500_000_000),
        warm_up: SimTime::ZERO,
        packets: 42,
        competition,
    }
}

fn summary(flows: &[FlowSummaryInput<'_>], links: &[LinkSummaryInput<'_>]) -> Summary {
    Summary::new(run(&CompetitionSpec::default()), flows, links, Vec::new(), None)
}

fn flow<'a>(
    name: &'a str,
    streams: &'a [String],
    ledger: &'a FlowLedger,
    rtt: &'a LogHistogram,
) -> FlowSummaryInput<'a> {
    FlowSummaryInput {
        end: SimTime::MAX,
        name,
        streams,
        transport: "udp",
        congestion: None,
        start: SimTime::ZERO,
        offered_bps: None,
        ledger,
        totals: Totals::default(),
        unreported: &[],
        rtt,
        arrivals: None,
        dropped: &NO_DROPS,
        marked: 0,
        losses: Some(LossTotals { noticed: 2, unnoticed: 1, spurious: 3 }),
        handovers: None,
        paths: &[],
        pooled: false,
        path_delays: &[],
        lost: None,
        page: None,
        video: None,
        call: None,
    }
}

static NO_DROPS: LazyLock<Tallies> = LazyLock::new(Tallies::default);

/// A ledger with one message of a megabit, created at 0 and delivered after `millis`.
fn megabit_in(millis: u64) -> FlowLedger {
    megabit_with_deadline(millis, None)
}

fn megabit_with_deadline(millis: u64, deadline: Option<SimDuration>) -> FlowLedger {
    let mut ledger = FlowLedger::new(1, SimTime::ZERO).with_deadlines([deadline]);
    ledger.created(0.into(), Message { size: Bytes::new(125_000), created: SimTime::ZERO });
    let now = SimTime::ZERO + SimDuration::from_millis(millis);
    ledger.report(now, Report::Delivered { stream: 0.into(), offset: 125_000 }, &mut Vec::new());
    ledger
}

#[test]
fn fairness_of_textbook_shares() {
    assert_eq!(jain(&[]), None);
    assert_eq!(jain(&[5.0]), None);
    assert_eq!(jain(&[0.0, 0.0]), None, "nobody has anything");
    assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
    assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
    // (1 + 2 + 3)^2 / (3 * 14)
    assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
}

#[test]
fn the_warm_up_can_be_left_out_of_totals() {
    let totals = |factor: u64| Totals {
        sent_packets: factor,
        sent_bytes: Bytes::new(2 * factor),
        received_packets: 3 * factor,
        acked_bytes: Bytes::new(4 * factor),
        lost_packets: 5 * factor,
        lost_bytes: Bytes::new(6 * factor),
        retransmitted_bytes: Bytes::new(7 * factor),
        congestion_events: 8 * factor,
        timeouts: 9 * factor,
        spurious_losses: 10 * factor,
        undos: 12 * factor,
        ecn_marks: 11 * factor,
        retransmitted_packets: 12 * factor,
        reinjected_bytes: Bytes::new(13 * factor),
    };
    assert_eq!(totals(10).since(&totals(3)), totals(7));
}

/// Flows compete whose deliveries are recorded, which those of background flows are not.
#[test]
fn background_flows_are_left_out_of_fairness() {
    let step = SimDuration::from_millis(100);
    let ledger = |offset| {
        let mut ledger = FlowLedger::new(1, SimTime::ZERO).with_deliveries(step);
        ledger.created(0.into(), Message { size: Bytes::new(1_000_000), created: SimTime::ZERO });
        let now = SimTime::ZERO + SimDuration::from_millis(50);
        ledger.report(now, Report::Delivered { stream: 0.into(), offset }, &mut Vec::new());
        ledger
    };
    let (fast, slow, noise) = (ledger(300_000), ledger(100_000), megabit_in(300));
    let rtt = LogHistogram::new();
    let names = ["0".to_owned()];
    let end = SimTime::ZERO + SimDuration::from_secs(1);
    let flow = |name, ledger| FlowSummaryInput { end, ..flow(name, &names, ledger, &rtt) };
    let flows = [flow("a", &fast), flow("b", &slow), flow("noise", &noise)];
    let shared = summary(&flows, &[]);
    // Shares 3 : 1, so (3 + 1)^2 / (2 * 10).
    let index = shared.fairness_jain.unwrap();
    assert!((index - 0.8).abs() < 1e-12, "{index}");
    let names: Vec<_> =
        shared.competition.unwrap().flows.into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["a", "b"]);
    let alone = summary(&flows[1..], &[]);
    assert_eq!((alone.fairness_jain, alone.competition), (None, None));
}

#[test]
fn an_idle_run_is_all_null_and_never_not_a_number() {
    let ledger = FlowLedger::new(1, SimTime::ZERO);
    let nothing = LogHistogram::new();
    let names = ["0".to_owned()];
    let link = LinkSummaryInput {
        name: "uplink/a->b",
        span: SimDuration::ZERO,
        capacity: Bytes::ZERO,
        delivered: Bytes::ZERO,
        delivered_packets: 0,
        dropped_packets: ByCause::default(),
        marked_packets: ByCause::default(),
        queue_limit: None,
        queue_delay: &nothing,
    };
    let summary = summary(&[flow("a", &names, &ledger, &nothing)], &[link]);
    let flow = &summary.flows[0];
    assert_eq!((flow.goodput_bps, flow.jitter_ms, flow.completion_s), (None, None, None));
    assert_eq!((flow.delay_ms.mean, flow.delay_ms.max, flow.rtt_ms.p50), (None, None, None));
    assert_eq!((summary.links[0].mean_rate_bps, summary.links[0].utilisation), (None, None));
    let text = serde_json::to_string(&summary).unwrap();
    assert!(text.contains(r#""queue_delay_ms":{"mean":null,"p95":null}"#), "{text}");
}

/// The keys and their order are the file format: readers of `summary.json` rely on them.
#[test]
fn the_file_holds_what_it_promises() {
    let ledger = megabit_in(100);
    let mut rtt = LogHistogram::new();
    rtt.record(50_000_000);
    let names = ["video".to_owned()];
    let totals = Totals { sent_packets: 101, lost_packets: 1, ecn_marks: 2, ..Totals::default() };
    let path = PathSample { totals, ..PathSample::default() };
    let input = FlowSummaryInput {
        transport: "quic",
        congestion: Some("cubic"),
        offered_bps: Some(1e6),
        totals,
        paths: std::slice::from_ref(&path),
        ..flow("a", &names, &ledger, &rtt)
    };
    let link = LinkSummaryInput {
        name: "uplink/a->b",
        span: SimDuration::from_secs(2),
        capacity: Bytes::new(1_000_000),
        delivered: Bytes::new(250_000),
        delivered_packets: 100,
        dropped_packets: ByCause::new(Cause::OF_LINKS.into_iter().zip([4, 3, 2, 1])),
        marked_packets: ByCause::default(),
        queue_limit: None,
        queue_delay: &rtt,
    };
    let delay = |extra: &[&str]| {
        let keys = ["mean", "p50", "p95"].iter().chain(extra);
        Value::Object(keys.map(|key| ((*key).to_owned(), json!(100.0))).collect())
    };
    let mut summary = serde_json::to_value(summary(&[input], &[link])).unwrap();
    round_quantiles(&mut summary);
    let path = json!({
        "path": 0, "srtt_ms": null, "sent_packets": 101, "lost_packets": 1, "retransmitted_packets": 0,
        "retransmitted_bytes": 0, "congestion_events": 0, "timeouts": 0, "spurious_losses": 0, "undos": 0,
        "ecn_marks": 2,
    });
    let expected = json!({
        "scenario": "demo", "seed": 7, "engine": "virtual", "virtual_s": 2.5, "packets": 42,
        "flows": [{
            "name": "a", "transport": "quic", "congestion": "cubic", "offered_bps": 1e6,
            "goodput_bps": 1e7, "messages": 1, "undelivered_messages": 0,
            "delay_ms": delay(&["p99", "max"]), "jitter_ms": null,
            "rtt_ms": {"mean": 50.0, "p50": 50.0, "p95": 50.0},
            "sent_packets": 101, "lost_packets": 1,
            "retransmitted_packets": 0, "retransmitted_bytes": 0, "congestion_events": 0, "timeouts": 0,
            "spurious_losses": 0, "undos": 0, "ecn_marks": 2, "dropped_packets": {},
            "marked_packets": 0,
            "losses": {"noticed_packets": 2, "unnoticed_packets": 1, "spurious_packets": 3},
            "completion_s": 0.1,
            "streams": [{
                "name": "video", "goodput_bps": 1e7, "messages": 1, "undelivered_messages": 0,
                "delay_ms": delay(&["p99", "max"]), "jitter_ms": null,
            }],
            "paths": [path],
        }],
        "links": [{
            "name": "uplink/a->b", "mean_rate_bps": 4e6, "utilisation": 0.25,
            "delivered_packets": 100,
            "dropped_packets": {"queue": 4, "channel": 3, "down": 2, "mtu": 1},
            "queue_delay_ms": {"mean": 50.0, "p95": 50.0},
        }],
        "fairness_jain": null,
    });
    assert_eq!(serde_json::to_string(&summary).unwrap(), serde_json::to_string(&expected).unwrap());
}

/// Keys that only some flows have are left out of the others.
#[test]
fn pages_and_deadlines_stand_where_they_are() {
    let flows = |ledger: &FlowLedger, page: Option<PageInput<'_>>| {
        let (names, rtt) = (["a".to_owned()], LogHistogram::new());
        let input = FlowSummaryInput { page, ..flow("web", &names, ledger, &rtt) };
        serde_json::to_value(summary(&[input], &[])).unwrap()["flows"][0].clone()
    };
    let plain = flows(&megabit_in(100), None);
    assert!(plain.get("page").is_none() && plain["streams"][0].get("late_messages").is_none());
    let deadline = SimDuration::from_millis(99);
    let ledger = megabit_with_deadline(100, Some(deadline));
    let at = |millis| SimTime::ZERO + SimDuration::from_millis(millis);
    let start = at(250);
    let asked = ObjectTimes { requested: Some(start), ..ObjectTimes::default() };
    let mut times = PageTimes { objects: vec![asked], ..PageTimes::default() };
    let cut = flows(&ledger, Some(PageInput { start, times: &times }));
    let page = |whole: Value, first_byte: Value, index: Value| {
        let object = json!({"name": "a", "requested_s": 0.0, "first_byte_s": first_byte, "delivered_s": whole});
        json!({"completion_s": whole, "first_byte_s": first_byte, "byte_index_s": index, "objects": [object]})
    };
    assert_eq!(cut["page"], page(Value::Null, Value::Null, Value::Null));
    assert_eq!(cut["completion_s"], Value::Null);
    assert_eq!(cut["streams"][0]["late_messages"], 1);
    // A quarter of the bytes after 50 ms, the others after 250 ms.
    times.objects[0].first_byte = Some(at(300));
    times.objects[0].delivered = Some(at(500));
    (times.bytes, times.waited) = (1_000, 250 * 50_000_000 + 750 * 250_000_000);
    let whole = flows(&ledger, Some(PageInput { start, times: &times }));
    assert_eq!(whole["page"], page(json!(0.25), json!(0.05), json!(0.2)));
    assert_eq!(whole["completion_s"], 0.1);
}

/// Keys of several paths are left out of a flow that has had one, however it was set up.
#[test]
fn several_paths_stand_where_they_were() {
    let (names, rtt, ledger) = (["a".to_owned()], LogHistogram::new(), megabit_in(100));
    let mut arrivals = Arrivals::default();
    arrivals.on_duplicate(700);
    arrivals.on_delivered(3_000, SimDuration::ZERO);
    arrivals.on_delivered(1_000, SimDuration::from_millis(50));
    let mut delays = LogHistogram::new();
    delays.record(10_000_000);
    delays.record(30_000_000);
    let path_delays = [(PathId(1), delays.digest().unwrap())];
    let path = |number| {
        let reinjected_bytes = Bytes::new(u64::from(100 * number));
        let totals = Totals { reinjected_bytes, ..Totals::default() };
        PathSample { path: PathId(number), totals, ..PathSample::default() }
    };
    let flow_over = |paths: &[PathSample]| {
        let totals = Totals { reinjected_bytes: Bytes::new(100), ..Totals::default() };
        let arrivals = Some(&arrivals);
        let input = FlowSummaryInput {
            totals,
            arrivals,
            paths,
            path_delays: &path_delays,
            ..flow("main", &names, &ledger, &rtt)
        };
        let mut flow = serde_json::to_value(summary(&[input], &[])).unwrap()["flows"][0].clone();
        round_quantiles(&mut flow);
        flow
    };
    let alone = flow_over(&[path(1)]);
    for key in ["reinjected_bytes", "duplicate_bytes", "reordering_delay_ms"] {
        assert!(alone.get(key).is_none(), "{key}");
    }
    for key in ["reinjected_bytes", "packet_delay_ms", "cwnd_bytes", "sent_bytes"] {
        assert!(alone["paths"][0].get(key).is_none(), "{key}");
    }
    let both = flow_over(&[path(0), path(1)]);
    assert_eq!((&both["reinjected_bytes"], &both["duplicate_bytes"]), (&json!(100), &json!(700)));
    let delay = json!({"mean": 12.5, "p50": 0.0, "p95": 50.0, "p99": 50.0, "max": 50.0});
    assert_eq!(both["reordering_delay_ms"], delay);
    let none = json!({"mean": null, "p50": null, "p95": null, "p99": null, "max": null});
    let delay = json!({"mean": 20.0, "p50": 10.0, "p95": 30.0, "p99": 30.0, "max": 30.0});
    let paths = [(0, none), (100, delay)];
    for (path, (reinjected, delay)) in both["paths"].as_array().unwrap().iter().zip(paths) {
        assert_eq!(
            (&path["reinjected_bytes"], &path["packet_delay_ms"]),
            (&json!(reinjected), &delay)
        );
    }
}

#[test]
fn a_lost_connection_stands_where_it_was_lost() {
    let (names, rtt, ledger) = (["a".to_owned()], LogHistogram::new(), megabit_in(100));
    let at = SimTime::ZERO + SimDuration::from_millis(12_500);
    let loss = Loss { at, reason: "reset".into() };
    let summary_of = |lost| {
        let input = FlowSummaryInput { lost, ..flow("main", &names, &ledger, &rtt) };
        serde_json::to_value(summary(&[input], &[])).unwrap()["flows"][0].clone()
    };
    assert!(summary_of(None).get("lost").is_none());
    let expected = json!({"at_s": 12.5, "end": "sender", "reason": "reset"});
    assert_eq!(summary_of(Some(("sender", &loss)))["lost"], expected);
}

/// Quantiles are within 0.1 %: rounds every delay to whole milliseconds.
fn round_quantiles(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(round_quantiles),
        Value::Object(entries) => {
            for (key, entry) in entries {
                match entry.as_f64() {
                    Some(number) if key.starts_with('p') && entry.is_f64() => {
                        *entry = json!(number.round());
                    }
                    _ => round_quantiles(entry),
                }
            }
        }
        _ => {}
    }
}
