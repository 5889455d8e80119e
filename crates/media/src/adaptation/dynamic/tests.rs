//! DYNAMIC against its sources, worked out by hand. The ladder has 1, 2 and 4 Mbit/s, segments have 4 s, the buffer 24 s.

use leobench_base::spec::Whole;
use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

use super::DynamicSpec;
use crate::adaptation::tests::{built, download, view};
use crate::adaptation::{Adaptation, AdaptationSpec, Download, PlayerView};

fn build(spec: DynamicSpec) -> Box<dyn Adaptation> {
    built(&AdaptationSpec::Dynamic(spec))
}

fn version_4() -> Box<dyn Adaptation> {
    build(DynamicSpec { version: Whole::nearest(4), ..DynamicSpec::default() })
}

/// Chooses at a time in seconds.
fn choose(known: &mut dyn Adaptation, now_s: f64, buffer_s: f64, last: usize) -> usize {
    let now = SimTime::ZERO + SimDuration::from_secs_f64(now_s);
    known.choose(&PlayerView { now, ..view(buffer_s, Some(last)) }).unwrap()
}

/// The download of a segment of 2 Mbit/s.
fn downloaded(seconds: f64) -> Download {
    Download { bytes: Bytes::new(1_000_000), seconds, is_replacement: false }
}

/// A segment like that has arrived after this many seconds.
fn arrive(known: &mut dyn Adaptation, seconds: f64) {
    known.on_download(&downloaded(seconds)).unwrap();
}

#[test]
fn the_first_segment_has_at_most_the_bitrate_of_the_start() {
    for (kbps, rung) in [(None, 0), (Some(999), 0), (Some(2_000), 1)] {
        let start = kbps.map(|kbps| BitRate::from_bps(1_000 * kbps));
        let mut known = build(DynamicSpec { start, ..DynamicSpec::default() });
        assert_eq!(known.choose(&view(0.0, None)), Ok(rung), "{kbps:?} kbit/s");
    }
}

/// A second at 8 Mbit/s and four at 2 weigh 1.5 and 6. With half-lives of 3 and 8, the means are (0.75 * 2 + 0.25 * 0.2929 * 8) /
/// 0.8232 = 2.534 and (0.4054 * 2 + 0.5946 * 0.1219 * 8) / 0.4779 = 2.910 Mbit/s; the other way around, 4.135 and 3.530. Of the
/// smaller one, 0.7 are enough for 16 Mbit with 9.02 s, or 6.47 s, in the buffer.
#[test]
fn the_throughput_is_the_smaller_of_two_means() {
    for (mbps, short, long) in [([8.0, 2.0], 9.0, 9.05), ([2.0, 8.0], 6.45, 6.5)] {
        let mut known = build(DynamicSpec { share: 2.0, ..DynamicSpec::default() });
        for each in mbps {
            known.on_download(&download(each)).unwrap();
        }
        assert_eq!(known.choose(&view(short, Some(1))), Ok(1), "{mbps:?} Mbit/s, {short} s");
        assert_eq!(known.choose(&view(long, Some(1))), Ok(2), "{mbps:?} Mbit/s, {long} s");
    }
}

#[test]
fn the_first_two_segments_know_no_limit_by_the_buffer() {
    let mut known = build(DynamicSpec::default());
    known.on_download(&download(8.0)).unwrap();
    assert_eq!(known.choose(&view(1.0, Some(0))), Ok(2));
    known.on_download(&download(8.0)).unwrap();
    assert_eq!(known.choose(&view(1.0, Some(2))), Ok(0), "0.7 * 8 Mbit/s * 1 s are 5.6 Mbit");
}

/// The drop is one of eight choices. The next is one as well.
#[test]
fn a_bitrate_that_was_left_is_not_asked_for() {
    let mut known = build(DynamicSpec::default());
    for _ in 0..2 {
        known.on_download(&download(8.0)).unwrap();
    }
    let choices = [(1.0, 2, 0), (11.0, 0, 2)];
    for (buffer, last, rung) in choices.into_iter().chain([(11.0, 2, 2); 6]).chain([(11.0, 2, 1)]) {
        assert_eq!(known.choose(&view(buffer, Some(last))), Ok(rung));
    }
}

/// With V p = 10.10 and gamma p = 0.990, so that the scores of 1 and 4 Mbit/s are zero at 10 and 24 s, BOLA goes from 1 to 2 Mbit/s at
/// 3.0 s and to 4 at 10 s. It begins with two segments by throughput: 0.9 of 3 Mbit/s carry 2.
#[test]
fn bola_raises_no_bitrate_above_what_the_throughput_carries() {
    let mut known = build(DynamicSpec::default());
    for _ in 0..2 {
        known.on_download(&download(3.0)).unwrap();
    }
    for (now, buffer) in [(0.0, 12.0), (2.667, 13.333), (5.333, 14.667), (8.0, 16.0)] {
        assert_eq!(choose(&mut *known, now, buffer, 1), 1, "{buffer} s");
        arrive(&mut *known, 8.0 / 3.0);
    }
    for _ in 0..20 {
        known.on_download(&download(6.0)).unwrap();
    }
    assert_eq!(choose(&mut *known, 9.333, 18.667, 1), 2, "0.9 of nearly 6 Mbit/s carry 4");
}

/// V p (1 + gamma p) is 20.10 s: with more in the buffer, BOLA lets it shrink to that rather than ask for 1 Mbit/s, which are all that
/// 0.9 of 1.05 Mbit/s carry.
#[test]
fn bola_pauses_while_the_buffer_is_too_long_for_its_bitrate() {
    for (buffer, pause) in [(20.0, 0.0), (22.0, 1.901)] {
        let mut known = build(DynamicSpec::default());
        for _ in 0..2 {
            known.on_download(&download(1.05)).unwrap();
        }
        for (now, before) in [(0.0, 12.0), (3.8, 12.2)] {
            assert_eq!(choose(&mut *known, now, before, 0), 0);
            known.on_download(&Download { bytes: Bytes::new(500_000), ..downloaded(3.8) }).unwrap();
        }
        assert_eq!(choose(&mut *known, 7.6, buffer, 0), 0);
        assert!((known.pause_s() - pause).abs() < 1e-3, "{buffer} s: {}", known.pause_s());
    }
}

/// After 9 s, 6.17 of 15.17 s are left, and BOLA does not drop below the last bitrate with 10.17 s; after 10 s, 5.17 are left: 0.8
/// Mbit/s carry 1 at most.
#[test]
fn bola_hands_back_once_the_buffer_falls_below_half() {
    for (seconds, rung) in [(9.0, 1), (10.0, 0)] {
        let mut known = build(DynamicSpec { patience: Some(2.0), ..DynamicSpec::default() });
        for _ in 0..2 {
            known.on_download(&download(3.0)).unwrap();
        }
        for (now, buffer) in [(0.0, 12.5), (2.667, 13.833), (5.333, 15.167)] {
            assert_eq!(choose(&mut *known, now, buffer, 1), 1);
            arrive(&mut *known, if now > 5.0 { seconds } else { 8.0 / 3.0 });
        }
        assert_eq!(choose(&mut *known, 5.333 + seconds, 19.167 - seconds, 1), rung, "{seconds} s");
    }
}

/// A placeholder of 20.1 - 14 s lets it begin with 4 Mbit/s, and keeps them with 8 s in the buffer though 1.6 Mbit/s are too few. It
/// is gone once the buffer has run empty: with 7 s, the best score is that of 2 Mbit/s.
#[test]
fn bola_begins_with_what_the_throughput_carries() {
    let long_buffer = Some(SimDuration::from_secs(6));
    let mut known =
        build(DynamicSpec { patience: Some(2.0), long_buffer, ..DynamicSpec::default() });
    for _ in 0..2 {
        known.on_download(&download(8.0)).unwrap();
    }
    for (now, buffer, last, rung, took) in [
        (0.0, 12.0, 2, 2, 2.0),
        (2.0, 14.0, 2, 2, 10.0),
        (12.0, 8.0, 2, 2, 9.0),
        (21.0, 4.0, 2, 0, 1.0),
    ] {
        assert_eq!(choose(&mut *known, now, buffer, last), rung, "{buffer} s at {now} s");
        known.on_download(&Download { bytes: Bytes::new(2_000_000), ..downloaded(took) }).unwrap();
    }
    for _ in 0..10 {
        known.on_download(&download(8.0)).unwrap();
    }
    assert_eq!(choose(&mut *known, 22.0, 7.0, 0), 1);
}

/// Mean throughput is 5 Mbit/s after 8 and 2: 0.9 of it carries 4 Mbit/s. Half of the buffer is enough for 16 Mbit from 6.4 s on,
/// for 8 Mbit from 3.2 s.
#[test]
fn version_4_asks_for_what_half_of_the_buffer_has_time_for() {
    let mut known = version_4();
    known.on_download(&download(8.0)).unwrap();
    assert_eq!(known.choose(&view(1.0, None)), Ok(2), "the first two segments know no limit");
    known.on_download(&download(2.0)).unwrap();
    for (buffer, rung) in [(6.5, 2), (6.3, 1), (3.3, 1), (3.1, 0), (0.0, 0)] {
        assert_eq!(known.choose(&view(buffer, Some(0))), Ok(rung), "{buffer} s");
    }
}

/// BOLA goes from 1 to 2 Mbit/s at 13.5 s and to 4 at 15.6 s (above); the buffer is long from 10 s on.
#[test]
fn version_4_hands_over_to_bola_once_it_asks_for_as_much() {
    let mut known = version_4();
    for _ in 0..4 {
        known.on_download(&download(1.3)).unwrap();
    }
    assert_eq!(known.choose(&view(14.0, Some(0))), Ok(1), "BOLA asks for more than the throughput");
    assert_eq!(known.choose(&view(9.0, Some(1))), Ok(0));
    for _ in 0..4 {
        known.on_download(&download(8.0)).unwrap();
    }
    for (buffer, rung) in [(11.0, 0), (9.0, 2), (11.0, 2), (14.0, 2), (16.0, 2), (14.0, 1)] {
        assert_eq!(known.choose(&view(buffer, Some(2))), Ok(rung), "{buffer} s");
    }
}
