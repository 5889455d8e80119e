//! Videos against arithmetic: what a segment costs in round trips, over both transports.

use crate::common::{one_link, run, scenario, table};
use leobench_sim::Outcome;
use leobench_sim::record::Table;
use leobench_sim::summary::VideoSummary;

/// At this rate bytes take no time.
const FAST: &str = "rate = \"1000 Gbps\"\ndelay = \"50 ms\"";
/// Five segments of 8,000 bytes, which fit the initial window.
const SHORT: &str = r#"ladder = ["16 kbps"], length = "20 s""#;

/// A video that `b` watches and `a` sends.
fn video(transport: &str, link: &str, video: &str) -> Outcome {
    let flow = format!("transport = {transport}\nopened_by = \"to\"\nvideo = {{ {video} }}");
    run(&scenario(&one_link("duration = \"100 s\"\nuntil = \"drained\"", link, &flow)), 1)
}

fn seen(outcome: &Outcome) -> &VideoSummary {
    outcome.summary.flows[0].video.as_ref().unwrap()
}

/// The handshake takes a round trip, and so does each segment.
#[test]
fn a_segment_takes_a_round_trip() {
    for transport in ["\"quic\"", "\"tcp\""] {
        let outcome = video(transport, FAST, SHORT);
        let segments = table(&outcome, Table::Segments);
        let arrived = segments.integers("arrived_ns");
        assert_eq!(arrived.len(), 5, "{transport}");
        for (number, arrived) in (0..).zip(&arrived) {
            let expected = 200_000_000 + 100_000_000 * number;
            // Bytes take 8 ps each.
            assert!((0..1_000_000).contains(&(arrived - expected)), "{transport}: {arrived}");
        }
        assert_eq!(segments.integers("t_ns")[1..], arrived[..4], "{transport}");
        let seen = seen(&outcome);
        assert_eq!((seen.stalls, seen.segments, seen.switches), (0, 5, 0));
        assert_eq!(seen.bitrate_bps, Some(16e3));
        assert_eq!(seen.startup_s, Some(arrived[0] as f64 / 1e9));
        assert_eq!(outcome.summary.flows[0].messages, 5);
    }
}

/// TLS takes a round trip more before the request.
#[test]
fn tls_delays_the_first_picture_by_a_round_trip() {
    let outcome = video(r#"{ kind = "tcp", tls = true }"#, FAST, SHORT);
    assert!((seen(&outcome).startup_s.unwrap() - 0.3).abs() < 1e-3);
}

/// Over 0.8 Mbit/s, a segment of 4 s at 1 Mbit/s takes 5 s and a little: pictures stand still for that before each but the first.
#[test]
fn a_link_that_is_too_slow_stalls_before_every_segment() {
    for transport in ["\"quic\"", "\"tcp\""] {
        let link = "rate = \"800 kbps\"\ndelay = \"10 ms\"";
        let outcome = video(transport, link, r#"ladder = ["1 Mbps"], length = "40 s""#);
        let seen = seen(&outcome);
        assert_eq!(seen.stalls, 9, "{transport}");
        // Headers take 4 to 6 %, and requests and slow start some round trips.
        assert!(
            (9.0 * 1.15..9.0 * 1.45).contains(&seen.stalled_s),
            "{transport}: {}",
            seen.stalled_s
        );
        assert!(seen.played_s < 40.0, "the run ends with the last arrival");
    }
}

/// The rate falls from 8 to 1 Mbit/s at 10 s. The download of 4 Mbit/s that begins after it takes 17 s in full; it is given up half a
/// second after its first bytes for one of 4 s, before which goes the rest that is on its way.
#[test]
fn an_abandoned_download_makes_room_for_a_lower_bitrate() {
    for transport in ["\"quic\"", "\"tcp\""] {
        let watch = |abandons: bool| {
            let link = r#"delay = "10 ms"
channel = { kind = "schedule", steps = [{ at = "0 s", rate = "8 Mbps" }, { at = "10 s", rate = "1 Mbps" }] }
queue = { kind = "fifo", limit = "20 kB" }"#;
            let keys = format!(
                "ladder = [\"1 Mbps\", \"4 Mbps\"], length = \"40 s\", abandons = {abandons}, \
                 adaptation = {{ kind = \"fixed\", rung = 1 }}"
            );
            video(transport, link, &keys)
        };
        let outcome = watch(true);
        let segments = table(&outcome, Table::Segments);
        let (asked, number) = (segments.integers("t_ns"), segments.integers("segment"));
        let rate = segments.integers("bitrate_bps");
        let first = (1..number.len()).find(|row| number[*row] == number[*row - 1]).unwrap();
        assert_eq!(rate[first - 1..=first], [4_000_000, 1_000_000], "{transport}");
        let waited = (asked[first] - asked[first - 1]) as f64 / 1e9;
        assert!((0.5..0.7).contains(&waited), "{transport}: {waited} s");
        // The next one is asked for when it has arrived.
        let took = (asked[first + 1] - asked[first]) as f64 / 1e9;
        // 4.2 s with headers, behind 36 kB at most of a queue and a frame, or what the send buffer of TCP holds.
        let most = if transport == "\"quic\"" { 4.6 } else { 8.0 };
        assert!((4.2..most).contains(&took), "{transport}: {took} s");
        let flow = &outcome.summary.flows[0];
        let abandoned = seen(&outcome).abandoned.unwrap();
        assert_eq!(flow.messages, seen(&outcome).segments + abandoned);
        assert!(seen(&outcome).stalled_s < seen(&watch(false)).stalled_s);
    }
}
