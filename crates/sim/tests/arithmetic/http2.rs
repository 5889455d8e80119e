//! Pages over HTTP/2 against arithmetic: frames on one byte stream of TCP, and what a lost segment holds up.

use crate::common::{one_link, run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use leobench_sim::summary::PageSummary;

/// At this rate a byte takes a microsecond.
const MEGABYTE: &str = "rate = \"8 Mbps\"\ndelay = \"50 ms\"";

/// A page of `objects` that `b` asks `a` for over TCP.
pub(crate) fn page(link: &str, transport: &str, objects: &str) -> Outcome {
    let flow = format!("transport = {transport}\nopened_by = \"to\"\nobjects = {objects}");
    let settings = "duration = \"10 s\"\nuntil = \"drained\"\nrecord = { packets = true }";
    run(&scenario(&one_link(settings, link, &flow)), 1)
}

pub(crate) fn page_of(outcome: &Outcome) -> &PageSummary {
    outcome.summary.flows[0].page.as_ref().unwrap()
}

fn micros(seconds: Option<f64>) -> f64 {
    seconds.unwrap() * 1e6
}

/// By object, when it had arrived, in microseconds.
pub(crate) fn arrivals(outcome: &Outcome) -> Vec<f64> {
    page_of(outcome).objects.iter().map(|object| micros(object.delivered_s)).collect()
}

pub(crate) fn assert_close(found: &[f64], expected: &[f64]) {
    let close = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-3;
    let alike = found.len() == expected.len() && found.iter().zip(expected).all(close);
    assert!(alike, "{found:?} µs instead of {expected:?}");
}

/// SYN and SYN-ACK of 60 bytes, an acknowledgement of 52, and the request of 400 in a frame; at the server the acknowledgement
/// of the request, and the answer in two frames behind headers of 52 bytes.
#[test]
fn one_object_takes_two_round_trips_and_its_bytes() {
    let outcome = page(MEGABYTE, "\"tcp\"", r#"[{ name = "a", size = "1 kB" }]"#);
    let bytes = 60 + 60 + 52 + (52 + 9 + 400) + 52 + (52 + 9 + 9 + 1_000);
    assert_close(&arrivals(&outcome), &[200_000.0 + f64::from(bytes)]);
    let page = page_of(&outcome);
    assert_eq!(page.completion_s, page.objects[0].delivered_s);
    assert_eq!([page.first_byte_s, page.byte_index_s], [page.completion_s; 2]);
    assert_eq!(outcome.summary.flows[0].completion_s, page.completion_s);
    let messages = table(&outcome, Table::Messages);
    assert_eq!(messages.integers("size_bytes"), [1_000]);
    assert_eq!(messages.integers("first_sent_ns"), [150_000_000 + 1_000 * (60 + 60 + 52 + 461)]);
}

#[test]
fn header_fields_count_like_the_object() {
    for transport in ["\"tcp\"", "\"quic\""] {
        let objects = r#"[{ name = "a", size = "1 kB", headers = "200 B" }]"#;
        let outcome = page(MEGABYTE, transport, objects);
        assert_eq!(table(&outcome, Table::Messages).integers("size_bytes"), [1_200]);
    }
}

#[test]
fn tls_takes_a_round_trip_more() {
    let link = "rate = \"1000 Gbps\"\ndelay = \"50 ms\"";
    for (transport, took) in [("\"tcp\"", 0.2), ("{ kind = \"tcp\", tls = true }", 0.3)] {
        let outcome = page(link, transport, r#"[{ name = "a", size = "1 kB" }]"#);
        let found = page_of(&outcome).completion_s.unwrap();
        assert!((found - took).abs() < 1e-5, "{transport}: {found} s");
    }
}

/// A link that never idles: objects of one urgency come one after the other, in full segments but for the last.
#[test]
fn objects_come_one_after_the_other() {
    let objects = r#"[{ name = "a", size = "30 kB" }, { name = "b", size = "20 kB" }, { name = "c", size = "10 kB" }]"#;
    let outcome = page("rate = \"8 Mbps\"\ndelay = \"1 ms\"", "\"tcp\"", objects);
    let first = f64::from(60 + 60 + 52 + (52 + 3 * 409) + 52 + 3 * 1_000);
    // Frames of 16,384 bytes at most, and one with the header fields of each.
    let ends = [30_000 + 3 * 9, 50_000 + 6 * 9, 60_000 + 8 * 9];
    let segments = ends.map(|end: u32| end.div_ceil(1_448));
    let wire = [segments[0] * 1_500, segments[1] * 1_500, ends[2] + segments[2] * 52];
    assert_close(&arrivals(&outcome), &wire.map(|bytes| first + 1_000.0 + f64::from(bytes)));
    let first_byte = micros(page_of(&outcome).first_byte_s);
    assert_close(&[first_byte], &[first + 1_000.0 + 1_500.0]);
}

/// Five objects in two segments each, sent at once. When segment `lost` is lost, the third acknowledgement of later ones
/// repeats it: objects before it are as early as ever, all others come when it does.
#[test]
fn a_lost_segment_delays_all_objects_behind_it() {
    // The first segment leaves the server after the handshake, the requests and an acknowledgement.
    let first = 3 * 50_000 + 60 + 60 + 52 + (52 + 5 * 109) + 52;
    let objects = r#"[{ name = "o", size = "2878 B", request = "100 B", count = 5 }]"#;
    for lost in 1..=7 {
        let end = first + 1_500 * lost;
        let link = format!(
            "delay = \"50 ms\"\nchannel = {{ kind = \"schedule\", steps = [{{ at = \"0 s\", rate = \"8 Mbps\" }},
              {{ at = \"{} us\", loss = 1.0 }}, {{ at = \"{} us\", loss = 0.0 }}] }}",
            end - 700,
            end + 700
        );
        let outcome = page(&link, "\"tcp\"", objects);
        // An acknowledgement with a block of SACK takes 64 bytes.
        let noticed = first + 1_500 * (lost + 3) + 50_000 + 64 + 50_000;
        let repeated = noticed + 1_500 + 50_000;
        let arrival = |object: i32| match 2 * object {
            last if last < lost => first + 1_500 * last + 50_000,
            _ => repeated,
        };
        let expected: Vec<_> = (1..=5).map(|object| f64::from(arrival(object))).collect();
        assert_close(&arrivals(&outcome), &expected);
        assert_eq!(outcome.summary.flows[0].retransmitted_packets, 1);
    }
}

/// Over QUIC, the same loss delays no object but the one whose bytes were lost.
#[test]
fn quic_delays_one_object_instead() {
    let objects = r#"[{ name = "o", size = "2000 B", request = "100 B", count = 5 }]"#;
    let arrived = |loss: &str| {
        let link = format!(
            "delay = \"50 ms\"\nchannel = {{ kind = \"schedule\", steps = [{{ at = \"0 s\", rate = \"8 Mbps\" }}, {loss}] }}"
        );
        let transport = r#"{ kind = "quic", scheduler = "priority", pacing = false }"#;
        arrivals(&page(&link, transport, objects))
    };
    let clean = arrived("{ at = \"9 s\" }");
    // The second object is under way when 2.5 kB have arrived.
    let at = clean[0] - 50_000.0 + 700.0;
    let steps = format!(
        "{{ at = \"{} us\", loss = 1.0 }}, {{ at = \"{} us\", loss = 0.0 }}",
        at.round(),
        at.round() + 1_400.0
    );
    let lossy = arrived(&steps);
    let delayed: Vec<_> =
        clean.iter().zip(&lossy).map(|(clean, lossy)| lossy - clean > 50_000.0).collect();
    assert_eq!(delayed.iter().filter(|delayed| **delayed).count(), 1, "{clean:?} {lossy:?}");
    assert!(!delayed[4], "{clean:?} {lossy:?}");
}

/// 30 kB in flight and two frames at the server at most are in front of an urgent object; with a socket that takes all of a
/// large one, all of it is.
#[test]
fn an_urgent_object_overtakes_what_the_server_has_not_written() {
    let objects = r#"[{ name = "big", size = "1 MB", urgency = 5 },
                      { name = "style", size = "10 kB", urgency = 1, at = "500 ms" }]"#;
    let style = |socket: &str| {
        let transport = format!("{{ kind = \"tcp\", receive_buffer = \"30 kB\"{socket} }}");
        let outcome = page("rate = \"8 Mbps\"\ndelay = \"10 ms\"", &transport, objects);
        assert_eq!(outcome.summary.flows[0].lost_packets, 0);
        let style = &page_of(&outcome).objects[1];
        style.delivered_s.unwrap() - style.requested_s.unwrap()
    };
    let bytes = 30_000 + 2 * 16_393 + 10_018 + 9 + 400;
    // Headers of 52 bytes are less than 4 % of 1,500.
    let most = 0.02 + f64::from(bytes) * 1.04 / 1e6;
    let took = style("");
    assert!((0.03..most).contains(&took), "{took} s, at most {most}");
    assert!(style(", send_buffer = \"unlimited\", notsent_lowat = \"4 MB\"") > 0.5);
}
