//! Pages against arithmetic: what an object costs in bytes and round trips, and who waits for whom.

use std::collections::BTreeMap;

use crate::common::{one_link, run, scenario, shipped, summary, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use leobench_sim::scenario::Scenario;
use leobench_sim::summary::{ObjectSummary, PageSummary};

/// At this rate a byte takes a microsecond, and no page of a few kilobytes fills the link.
const MEGABYTE: &str = "rate = \"8 Mbps\"\ndelay = \"50 ms\"";
/// At this rate bytes take no time.
const FAST: &str = "rate = \"1000 Gbps\"\ndelay = \"50 ms\"";

/// A page of `objects` that `b` asks `a` for.
fn page(run: &str, link: &str, objects: &str) -> Scenario {
    let flow = format!("transport = \"quic\"\nopened_by = \"to\"\nobjects = {objects}");
    scenario(&one_link(&format!("duration = \"10 s\"\nuntil = \"drained\"\n{run}"), link, &flow))
}

fn page_of(outcome: &Outcome) -> &PageSummary {
    outcome.summary.flows[0].page.as_ref().unwrap()
}

fn times(object: &ObjectSummary) -> (f64, f64) {
    (object.requested_s.unwrap(), object.delivered_s.unwrap())
}

/// Sizes of the packets that entered a direction of the link, in order.
fn sizes(outcome: &Outcome, link: &str) -> Vec<i64> {
    let packets = table(outcome, Table::Packets);
    let rows = packets.texts("link").into_iter().zip(packets.texts("event"));
    let rows = rows.zip(packets.integers("size_bytes"));
    let entered = rows.filter(|((of, event), _)| of == link && event == "enqueue");
    entered.map(|(_, size)| size).collect()
}

/// The client's Initial, the server's flight of three packets, the client's Finished with the request behind two
/// acknowledgements, and the server's answer, each propagated for 50 ms: a microsecond for every byte that the next
/// step has to wait for.
#[test]
fn one_object_takes_two_round_trips_and_its_bytes() {
    let outcome = run(
        &page("record = { packets = true }", MEGABYTE, r#"[{ name = "a", size = "1 kB" }]"#),
        1,
    );
    let (up, down) = (sizes(&outcome, "path/b->a"), sizes(&outcome, "path/a->b"));
    let waited = up[0] + down[..3].iter().sum::<i64>() + up[3] + down[3] + down[4];
    let messages = table(&outcome, Table::Messages);
    assert_eq!(messages.integers("created_ns"), [0]);
    assert_eq!(messages.integers("delivered_ns"), [200_000_000 + 1_000 * waited]);
    // The handshake with 400 bytes of request, and 1,000 bytes behind a short header (1 + 8 + 1), tag (16), STREAM
    // header (1 + 1, and 2 for a length) and 28 bytes of IPv4 and UDP; little else.
    assert!((1_000 + 56..1_000 + 64).contains(&down[4]), "{down:?}");
    assert!(up[3] > 400 + 54, "{up:?}");
    let page = page_of(&outcome);
    assert_eq!(page.completion_s, Some((200_000 + waited) as f64 / 1e6));
    assert_eq!(times(&page.objects[0]), (0.0, page.completion_s.unwrap()));
    assert_eq!(outcome.summary.flows[0].completion_s, page.completion_s);
}

/// On a connection that stands, an object costs its request, its bytes, and a round trip.
#[test]
fn an_object_on_an_open_connection_takes_a_round_trip_and_its_bytes() {
    let objects = r#"[{ name = "a", size = "1 kB" }, { name = "b", size = "500 B", request = "300 B", at = "2 s" }]"#;
    let outcome = run(&page("record = { packets = true }", MEGABYTE, objects), 1);
    let (requested, delivered) = times(&page_of(&outcome).objects[1]);
    assert!((requested - 2.0).abs() < 1e-12, "{requested} s");
    let (up, down) = (sizes(&outcome, "path/b->a"), sizes(&outcome, "path/a->b"));
    // The request's packet, and the answer's, in front of which a small one has just been sent for the request stream
    // that has ended: 8 bytes of ACK with ECN counts and 3 of MAX_STREAMS (RFC 9000 sections 19.3 and 19.11), behind a
    // short header (10) and in front of a tag (16), of IPv4 and UDP (28): 65 at most.
    let request = *up.iter().rfind(|size| **size > 300).unwrap();
    let place = down.iter().rposition(|size| *size > 500).unwrap();
    let (credit, answer) = (down[place - 1], down[place]);
    assert!((300 + 56..300 + 68).contains(&request), "{up:?}");
    assert!((500 + 56..500 + 68).contains(&answer) && credit <= 65, "{down:?}");
    let took = ((delivered - requested) * 1e9).round() as i64;
    assert_eq!(took, 100_000_000 + 1_000 * (request + credit + answer));
}

/// A request in 0-RTT data is answered before the handshake is complete: the page costs one round trip instead of two.
#[test]
fn a_request_may_go_early() {
    let cases = [("false", 0.2), ("true", 0.1), ("\"rejected\"", 0.2)];
    let cases = ["null", "tls"].into_iter().flat_map(|of| cases.map(|(key, time)| (of, key, time)));
    for (protection, zero_rtt, expected) in cases {
        let transport = format!(
            "{{ kind = \"quic\", protection = \"{protection}\", resumption = true, zero_rtt = {zero_rtt} }}"
        );
        let objects = r#"[{ name = "a", size = "1 kB" }]"#;
        let flow = format!("transport = {transport}\nopened_by = \"to\"\nobjects = {objects}");
        let text = one_link("duration = \"10 s\"\nuntil = \"drained\"", FAST, &flow);
        let completion = page_of(&run(&scenario(&text), 1)).completion_s.unwrap();
        assert!((completion - expected).abs() < 1e-4, "{protection} {zero_rtt}: {completion} s");
    }
}

#[test]
fn a_chain_of_objects_costs_a_round_trip_each() {
    for links in 1..=6 {
        let object = |k: u32| match k {
            1 => r#"{ name = "o1", size = "3 kB" }"#.to_owned(),
            k => format!(r#"{{ name = "o{k}", size = "3 kB", after = ["o{}"] }}"#, k - 1),
        };
        let chain: Vec<_> = (1..=links).map(object).collect();
        let outcome = run(&page("", FAST, &format!("[{}]", chain.join(","))), 1);
        let page = page_of(&outcome);
        // One round trip for the handshake, one for each object; bytes take no time.
        let completion = page.completion_s.unwrap();
        let expected = 0.1 * f64::from(1 + links);
        assert!((completion - expected).abs() < 1e-5, "{links}: {completion} s");
        for pair in page.objects.windows(2) {
            assert_eq!(pair[0].delivered_s, pair[1].requested_s);
        }
    }
}

/// A quarter of the bytes arrives after 200 ms, the rest after 300 ms.
#[test]
fn the_byte_index_is_the_mean_time_of_arrival_of_a_byte() {
    let objects =
        r#"[{ name = "b", size = "3 kB", after = ["a"] }, { name = "a", size = "1 kB" }]"#;
    for transport in ["quic", "tcp"] {
        let flow = format!("transport = \"{transport}\"\nopened_by = \"to\"\nobjects = {objects}");
        let summary = summary(&one_link("duration = \"9 s\"", FAST, &flow));
        let page = summary.flows[0].page.as_ref().unwrap();
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-5;
        assert!(close(page.byte_index_s, 0.25 * 0.2 + 0.75 * 0.3), "{transport}: {page:?}");
        assert!(close(page.first_byte_s, 0.2) && close(page.objects[0].first_byte_s, 0.3));
    }
}

#[test]
fn the_page_and_the_server_may_take_their_time() {
    let objects = r#"[{ name = "a", size = "1 kB", think = "30 ms" },
                      { name = "b", size = "1 kB", after = ["a"], delay = "7 ms", think = "11 ms" }]"#;
    let outcome = run(&page("", FAST, objects), 1);
    let page = page_of(&outcome);
    let [(_, first), (requested, second)] = [0, 1].map(|index| times(&page.objects[index]));
    assert!((first - 0.230).abs() < 1e-5, "{first} s");
    assert!((requested - first - 0.007).abs() < 1e-9, "{requested} s after {first} s");
    assert!((second - requested - 0.111).abs() < 1e-5, "{second} s");
    // No byte of an object leaves before its request has travelled and been thought about.
    let messages = table(&outcome, Table::Messages);
    let waits = messages.integers("first_sent_ns").into_iter().zip(messages.integers("created_ns"));
    let waits: Vec<_> = waits.map(|(sent, created)| sent - created).collect();
    assert!(waits[0] >= 180_000_000 && (61_000_000..61_010_000).contains(&waits[1]), "{waits:?}");
}

#[test]
fn a_page_counts_from_the_start_of_its_flow() {
    let late = |start| {
        let flow = format!(
            "transport = \"quic\"\nopened_by = \"to\"\nstart = \"{start} s\"\n\
             objects = [{{ name = \"a\", size = \"1 kB\", at = \"1 s\" }}]"
        );
        let flow = summary(&one_link("duration = \"9 s\"", MEGABYTE, &flow)).flows.remove(0);
        (flow.page.unwrap(), flow.completion_s.unwrap())
    };
    let ((page, done), (later, done_later)) = (late(0), late(3));
    assert_eq!(page, later);
    assert_eq!(page.objects[0].requested_s, Some(1.0));
    assert!((done_later - done - 3.0).abs() < 1e-9, "{done} s and {done_later} s");
}

/// Either end may open the connection; the end that asks waits half a round trip longer where the other one opens it.
#[test]
fn the_sending_end_may_open_the_connection_too() {
    let text = |by| {
        let flow = format!(
            "transport = \"quic\"\nopened_by = \"{by}\"\nobjects = [{{ name = \"a\", size = \"1 kB\" }}]"
        );
        let summary = summary(&one_link("duration = \"9 s\"", FAST, &flow));
        summary.flows[0].page.as_ref().unwrap().completion_s.unwrap()
    };
    assert!((text("to") - 0.200).abs() < 1e-5 && (text("from") - 0.250).abs() < 1e-5);
}

const LOSSY: &str = r#"
    rate = "10 Mbps"
    delay = "20 ms"
    loss = { kind = "bernoulli", probability = 0.05 }
    queue = { kind = "fifo", limit = "30 packets" }"#;

/// Requests and objects are lost and repeated; every object arrives once, after what it waited for.
#[test]
fn losses_delay_a_page_and_leave_its_order() {
    let objects = r#"[
        { name = "html", size = "30 kB" },
        { name = "script", count = 20, size = "15 kB", after = ["html"], request = "3 kB" },
        { name = "font", count = 3, size = "9 kB", after = ["html", "script"], delay = "10 ms" }]"#;
    let clean = run(&page("", &LOSSY.replace("0.05", "0"), objects), 1);
    let quickest = page_of(&clean).completion_s.unwrap();
    let mut lost = 0;
    for seed in 1..=20 {
        let outcome = run(&page("", LOSSY, objects), seed);
        let flow = &outcome.summary.flows[0];
        assert_eq!((flow.messages, flow.undelivered_messages), (24, 0));
        lost += flow.lost_packets;
        let page = page_of(&outcome);
        assert!(page.completion_s.unwrap() > quickest, "seed {seed}");
        let latest = |objects: &[ObjectSummary]| {
            objects.iter().map(|object| times(object).1).fold(0.0, f64::max)
        };
        let (html, scripts) = (times(&page.objects[0]).1, latest(&page.objects[1..21]));
        assert!(page.objects[1..21].iter().all(|script| script.requested_s == Some(html)));
        let fonts = page.objects[21..].iter().map(|font| font.requested_s.unwrap());
        assert!(fonts.into_iter().all(|at| (at - scripts - 0.01).abs() < 1e-8), "seed {seed}");
        assert_eq!(page.completion_s, Some(latest(&page.objects)));
        let rows = table(&outcome, Table::Messages);
        let bytes: BTreeMap<_, _> =
            rows.texts("stream").into_iter().zip(rows.integers("size_bytes")).collect();
        assert_eq!((bytes.len(), bytes.values().sum::<i64>()), (24, 30_000 + 300_000 + 27_000));
    }
    assert!(lost > 100, "{lost} packets lost in 20 runs");
}

#[test]
fn a_page_that_is_cut_off_has_no_completion() {
    let objects = r#"[{ name = "a", size = "1 kB" }, { name = "b", size = "5 MB", after = ["a"] },
                      { name = "c", size = "1 kB", after = ["b"] }, { name = "d", size = "1 kB", at = "3 s" }]"#;
    let flow = format!("transport = \"quic\"\nopened_by = \"to\"\nobjects = {objects}");
    let summary = summary(&one_link("duration = \"2 s\"", MEGABYTE, &flow));
    let flow = &summary.flows[0];
    assert_eq!((flow.messages, flow.undelivered_messages, flow.completion_s), (2, 1, None));
    let page = flow.page.as_ref().unwrap();
    assert_eq!(page.completion_s, None);
    let seen = page.objects.iter().map(|o| (o.requested_s.is_some(), o.delivered_s.is_some()));
    assert!(seen.eq([(true, true), (true, false), (false, false), (false, false)]));
}

/// Also between objects, when all that was asked for has arrived, a page is not complete.
#[test]
fn a_page_is_not_complete_while_it_waits() {
    let objects = r#"[{ name = "a", size = "1 kB" }, { name = "b", size = "1 kB", after = ["a"], delay = "9 s" }]"#;
    let flow = format!("transport = \"quic\"\nopened_by = \"to\"\nobjects = {objects}");
    let cut = summary(&one_link("duration = \"2 s\"", MEGABYTE, &flow));
    assert_eq!((cut.flows[0].undelivered_messages, cut.flows[0].completion_s), (0, None));
    let drained = summary(&one_link("duration = \"2 s\"\nuntil = \"drained\"", MEGABYTE, &flow));
    assert!(
        (drained.flows[0].completion_s.unwrap() - 9.3).abs() < 0.02,
        "a page goes on to its end"
    );
}

#[test]
fn the_shipped_page_loads() {
    let outcome = run(&shipped("web.toml", &[]), 1);
    let page = page_of(&outcome);
    assert_eq!(page.objects.len(), 1 + 8 + 24 + 4 + 18);
    let rows = table(&outcome, Table::Messages);
    let bytes: i64 = rows.integers("size_bytes").into_iter().sum();
    // 18 + 78 + 613 + 131 + 1,054 kB, within the rounding of equal parts.
    assert!((bytes - 1_894_000).abs() < 1_000, "{bytes} bytes");
    // At least 1.9 MB at the 50 Mbit/s of line of sight, and the handshake, three rounds of requests, 50 ms of thought.
    let took = page.completion_s.unwrap();
    assert!((0.5..5.0).contains(&took), "{took} s");
}
