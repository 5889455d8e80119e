//! Recorded traces: opportunities, delays, and files that are none.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use leobench_base::spec::{Fault, TableSpec};
use leobench_base::{Bytes, SimDuration, SimTime};
use proptest::prelude::*;

use super::super::trace::{Cursor, Opportunities, TraceSpec};
use super::super::{ChannelModel, Service};
use crate::testing::{Folder, assert_refused, context, read};

const FULL: Bytes = Bytes::new(1500);

fn ms(millis: u64) -> SimTime {
    SimTime::from_nanos(millis * 1_000_000)
}

/// Serves packets of the given sizes at the head of the line from the given milliseconds on; when each is out.
fn serve(trace: &Opportunities, packets: &[(u64, u64)]) -> Vec<u64> {
    let mut cursor = Cursor::new(trace, FULL);
    let mut free = SimTime::ZERO;
    packets
        .iter()
        .map(|(at, size)| {
            free = cursor.serve(trace, free.max(ms(*at)), Bytes::new(*size));
            free.as_nanos() / 1_000_000
        })
        .collect()
}

#[test]
fn packets_share_opportunities_and_opportunities_packets() {
    let trace = Opportunities::new(&[2, 5], FULL, 0);
    // 1000 + 500 bytes at 2 ms, 500 + 1000 at 5 ms; then 3000 bytes take those at 7 and 10 ms.
    assert_eq!(serve(&trace, &[(0, 1000), (0, 1000), (0, 1000), (0, 3000)]), [2, 5, 5, 10]);
    // Fifteen packets of 100 bytes fit one opportunity.
    let small = serve(&trace, &[(0, 100); 16]);
    assert_eq!((&small[..15], small[15]), (&[2; 15][..], 5));
}

#[test]
fn several_opportunities_at_one_instant_add_up() {
    let trace = Opportunities::new(&[3, 3, 3, 4], FULL, 0);
    assert_eq!(serve(&trace, &[(0, 4500), (0, 1), (0, 1499), (0, 1)]), [3, 4, 4, 7]);
}

#[test]
fn idle_credit_is_lost() {
    let trace = Opportunities::new(&[2, 5], FULL, 0);
    // What 2 ms had left after 100 bytes is gone at 3 ms; a packet that comes at 5 ms sharp still has its chance.
    assert_eq!(serve(&trace, &[(0, 100), (3, 1500)]), [2, 5]);
    assert_eq!(serve(&trace, &[(0, 100), (5, 1500)]), [2, 5]);
    // At the very instant of an opportunity, a packet takes what those before it left, and waits for the rest.
    assert_eq!(serve(&trace, &[(0, 100), (2, 1400)]), [2, 2]);
    assert_eq!(serve(&trace, &[(0, 100), (2, 1500)]), [2, 5]);
    // After long idleness the cursor finds its place in a later repetition.
    assert_eq!(serve(&trace, &[(0, 100), (501, 1500), (5_003, 1)]), [2, 502, 5_005]);
}

#[test]
fn a_trace_starts_again_where_it_ends() {
    // The opportunity at 0 ms of the next repetition coincides with the last one of this.
    let trace = Opportunities::new(&[0, 4], FULL, 0);
    assert_eq!(serve(&trace, &[(0, 1500); 6]), [0, 4, 4, 8, 8, 12]);
    assert_eq!([0, 3, 4, 7, 8].map(|at| trace.count_through(ms(at))), [1, 1, 3, 3, 5]);
    // Started 1 ms into the trace, the first opportunity has passed.
    let later = Opportunities::new(&[0, 4], FULL, 1);
    assert_eq!(serve(&later, &[(0, 1500); 4]), [3, 3, 7, 7]);
    assert_eq!([0, 2, 3, 7].map(|at| later.count_through(ms(at))), [0, 0, 2, 4]);
    // Started at the millisecond of an opportunity, that one still comes.
    let sharp = Opportunities::new(&[2, 5], FULL, 2);
    assert_eq!(serve(&sharp, &[(0, 1500); 3]), [0, 3, 5]);
    assert_eq!([0, 2, 3, 5].map(|at| sharp.count_through(ms(at))), [1, 1, 2, 3]);
}

#[test]
fn the_mean_rate_is_that_of_a_repetition() {
    let trace = Opportunities::new(&[2, 5], FULL, 0);
    assert!((trace.mean_rate() - 2.0 * 12_000.0 / 0.005).abs() < 1e-6);
}

/// When packets leave by Mahimahi's rules, step by step: at each opportunity, what waits is sent until its bytes are
/// used up; a packet sent in part goes on at the next one; what nothing waits for is lost.
fn mahimahi(times: &[u64], packets: &[(u64, u64)]) -> Vec<u64> {
    let mut out = Vec::new();
    let mut waiting: Vec<(u64, u64)> = packets.to_vec();
    let mut base = 0;
    loop {
        for time in times {
            let at = base + time;
            let mut left = FULL.get();
            while left > 0 && waiting.first().is_some_and(|(arrival, _)| *arrival <= at) {
                let taken = left.min(waiting[0].1);
                left -= taken;
                waiting[0].1 -= taken;
                if waiting[0].1 == 0 {
                    waiting.remove(0);
                    out.push(at);
                }
            }
            if waiting.is_empty() {
                return out;
            }
        }
        base += times[times.len() - 1];
    }
}

fn any_trace() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0u64..6, 1..20).prop_filter_map("has no length", |gaps| {
        let times: Vec<u64> = gaps
            .iter()
            .scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            })
            .collect();
        (times[times.len() - 1] > 0).then_some(times)
    })
}

proptest! {
    #[test]
    fn the_cursor_does_what_mahimahi_does(
        times in any_trace(),
        gaps in prop::collection::vec((0u64..40, 1u64..4000), 1..60),
    ) {
        let packets: Vec<(u64, u64)> = gaps
            .iter()
            .scan(0, |at, (gap, size)| {
                *at += gap / 4 * 2;
                Some((*at, *size))
            })
            .collect();
        let trace = Opportunities::new(&times, FULL, 0);
        prop_assert_eq!(serve(&trace, &packets), mahimahi(&times, &packets));
    }

    #[test]
    fn saturation_uses_every_opportunity(times in any_trace(), offset in 0u64..100, size in 1u64..4000) {
        let trace = Opportunities::new(&times, FULL, offset % times[times.len() - 1]);
        let mut cursor = Cursor::new(&trace, FULL);
        let mut now = SimTime::ZERO;
        for sent in 1..200 {
            now = cursor.serve(&trace, now, Bytes::new(size));
            let through = trace.count_through(now) * FULL.get();
            let before = now.as_nanos().checked_sub(1).map_or(0, |before| {
                trace.count_through(SimTime::from_nanos(before)) * FULL.get()
            });
            // The last byte of the packet goes with the opportunities of this very instant.
            prop_assert!(before < sent * size && sent * size <= through);
        }
    }
}

#[test]
fn delays_change_by_interval_and_wrap_with_the_trace() {
    // In `testdata`: 50 ms of opportunities; delays of 10, 10, 12, 30 and 11 ms, for 10 ms each.
    let spec = TraceSpec { start: read(r#""beginning""#).unwrap(), ..TraceSpec::example() };
    let mut channel = spec.build(&context(1)).unwrap();
    assert_eq!(channel.state().delay, SimDuration::from_millis(10));
    let seen: Vec<_> = (0..6)
        .map(|_| {
            let at = channel.next_change().unwrap();
            (at.as_nanos() / 1_000_000, channel.advance(at).delay.as_nanos() / 1_000_000)
        })
        .collect();
    assert_eq!(seen, [(20, 12), (30, 30), (40, 11), (50, 10), (70, 12), (80, 30)]);
}

#[test]
fn delays_are_exact_to_the_nanosecond() {
    let folder = Folder::new("trace-delays");
    folder.write("wire", "0\n100\n");
    let lines = "31.25\n0.000001\n\"7.5\"\n12\n+.5\n3.\n3600000\n";
    folder.write("delays", lines);
    let spec: TraceSpec = read(r#"{"file": "wire", "delay_file": "delays"}"#).unwrap();
    let mut channel = spec.build(&folder.context()).unwrap();
    let found = (0..7).map(|line| channel.advance(ms(10 * line)).delay.as_nanos());
    let expected = [31_250_000, 1, 7_500_000, 12_000_000, 500_000, 3_000_000, 3_600_000_000_000];
    assert_eq!(found.collect::<Vec<u64>>(), expected);
}

#[test]
fn a_random_start_shifts_opportunities_and_delays_together() {
    let spec = TraceSpec::example();
    let mut offsets = Vec::new();
    for seed in 0..50 {
        let mut channel = spec.build(&context(seed)).unwrap();
        let Service::Opportunities(trace) = channel.state().service.clone() else { unreachable!() };
        let threes: Vec<u64> = (1..=100)
            .filter(|at| trace.count_through(ms(*at)) - trace.count_through(ms(at - 1)) == 3)
            .collect();
        let peak = (0..100).map(ms).find(|at| channel.advance(*at).delay.as_nanos() == 30_000_000);
        let peak = peak.unwrap().as_nanos() / 1_000_000;
        // Three at once come at 3 and 21 ms of the trace; the delay peaks from 30 to 40 ms.
        let offset = (0..50).find(|offset| {
            let expected = |at: u64| (at + 100 - offset) % 50;
            threes.iter().all(|at| [expected(3), expected(21)].contains(&(at % 50)))
                && (peak == 0 || peak == expected(30))
        });
        offsets.push(offset.unwrap());
    }
    offsets.sort_unstable();
    offsets.dedup();
    assert!(offsets.len() > 20, "50 seeds give only the offsets {offsets:?}");
}

#[test]
fn compressed_files_and_those_of_spreadsheets_are_read() {
    let folder = Folder::new("trace-gz");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"\xef\xbb\xbf\"1\"\r\n2\r\n4\r\n").unwrap();
    folder.write("x.gz", encoder.finish().unwrap());
    let spec: TraceSpec = read(r#"{"file": "x.gz"}"#).unwrap();
    let channel = spec.build(&folder.context()).unwrap();
    assert_eq!(channel.next_change(), None);
    let Service::Opportunities(trace) = &channel.state().service else { unreachable!() };
    assert_eq!(trace.count_through(ms(4)), 3);
}

#[test]
fn files_that_are_no_traces_are_refused_by_file_and_line() {
    let folder = Folder::new("trace-bad");
    let fault = |name: &str, content: &[u8]| -> Fault {
        folder.write(name, content);
        folder.write("good", "1\n2\n");
        let (file, delays) =
            if name == "delay" { ("good", ", \"delay_file\": \"delay\"") } else { (name, "") };
        let spec: TraceSpec = read(&format!(r#"{{"file": "{file}"{delays}}}"#)).unwrap();
        spec.build(&folder.context()).err().unwrap()
    };
    let refused = |name: &str, content: &[u8], problem: &str| {
        let fault = fault(name, content);
        let field = if name == "delay" { "delay_file" } else { "file" };
        assert_eq!((fault.field.as_str(), fault.problem.as_str()), (field, problem));
        assert!(!fault.allowed.is_empty());
    };
    refused("x", b"", "x is empty");
    refused("x", b"1\nabc\n", "x, line 2: \"abc\" is not a whole number of milliseconds");
    refused("x", b"1\n2.5\n", "x, line 2: \"2.5\" is not a whole number of milliseconds");
    refused("x", b"-1\n2\n", "x, line 1: \"-1\" is not a whole number of milliseconds");
    refused("x", b"1\n\n2\n", "x, line 2: \"\" is not a whole number of milliseconds");
    refused("x", b"1\n3\n2\n", "x, line 3: 2 comes after 3");
    refused("x", b"0\n0\n", "x, line 2: the last time is 0, so the trace has no length");
    refused("x", b"1\n99999999999999999\n", "x, line 2: 99999999999999999 is too large");
    refused("x", b"1\n\xfe\xff\n", "x, line 2: is not text");
    refused("x", b"1\n\"2\n", "x, line 2: \"\\\"2\" is not a whole number of milliseconds");
    refused("x", b"1,2\n", "x, line 1: \"1,2\" is not a whole number of milliseconds");
    refused("x", "0".repeat(50_000_000).as_bytes(), "x, line 1: is too long");
    refused("delay", b"", "delay is empty");
    for (text, problem) in [
        ("-5", "\"-5\" is not a number of milliseconds"),
        ("1e3", "\"1e3\" is not a number of milliseconds"),
        (".", "\".\" is not a number of milliseconds"),
        ("1.5 ms", "\"1.5 ms\" is not a number of milliseconds"),
        ("0.0000001", "\"0.0000001\" is finer than a nanosecond"),
        ("3600000.000001", "3600000.000001 is too large"),
        ("99999999999999999999", "99999999999999999999 is too large"),
    ] {
        refused("delay", format!("1\n{text}\n").as_bytes(), &format!("delay, line 2: {problem}"));
    }
    assert!(fault("x.gz", b"1\n2\n").problem.contains("cannot be read"));
    let missing: TraceSpec = read(r#"{"file": "nowhere"}"#).unwrap();
    let fault = missing.build(&folder.context()).err().unwrap();
    assert!(fault.problem.starts_with("there is no file "), "{}", fault.problem);
    assert_refused::<TraceSpec>(
        r#"{"file": "x", "opportunity": "0 B"}"#,
        "opportunity",
        "never up",
    );
    assert_refused::<TraceSpec>(
        r#"{"file": "x", "delay_interval": "0 s"}"#,
        "delay_interval",
        "zero",
    );
    assert_refused::<TraceSpec>(r#"{"file": "x", "start": "end"}"#, "start", "unknown word");
}
