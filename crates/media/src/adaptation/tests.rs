//! Algorithms against their papers, worked out by hand.

use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime};
use leobench_transport::testing::in_order;

use super::{Adaptation, AdaptationContext, AdaptationSpec, Download, PlayerView};
use crate::film::Film;

const LADDER: [f64; 3] = [1e6, 2e6, 4e6];
const BITS: [f64; 3] = [4e6, 8e6, 16e6];

/// An algorithm by its example, with a host of plug-ins.
pub(super) fn built(spec: &AdaptationSpec) -> Box<dyn Adaptation> {
    let ladder = LADDER.map(|rate| BitRate::from_bps(rate as u64)).into();
    let (length, segment) = (SimDuration::from_secs(600), SimDuration::from_secs(4));
    let film = &Film { ladder, length, segment };
    let (rng, plugins) = (&RngTree::new(1), &in_order());
    spec.model().build(&AdaptationContext { film, rng, plugins }).unwrap()
}

fn build(kind: &str) -> Box<dyn Adaptation> {
    let specs = AdaptationSpec::examples();
    built(specs.iter().find(|spec| spec.kind() == kind).unwrap())
}

pub(super) fn view(buffer_s: f64, last: Option<usize>) -> PlayerView<'static> {
    PlayerView {
        now: SimTime::ZERO,
        ladder: &LADDER,
        bits: &BITS,
        segment_s: 4.0,
        buffer_s,
        most_buffer_s: 24.0,
        last,
    }
}

pub(super) fn download(mbps: f64) -> Download {
    Download { bytes: Bytes::new(1_000_000), seconds: 8.0 / mbps, is_replacement: false }
}

#[test]
fn all_begin_with_the_lowest() {
    for spec in AdaptationSpec::examples() {
        assert_eq!(built(&spec).choose(&view(0.0, None)), Ok(0), "{}", spec.kind());
    }
}

/// The harmonic mean of 8 and 2 Mbit/s is 3.2; 0.9 of it is 2.88. With a third of 8 it is 4: 0.9 of it is 3.6.
#[test]
fn the_throughput_counts_by_its_harmonic_mean() {
    let mut known = build("throughput");
    for (mbps, rung) in [(8.0, 2), (2.0, 1), (8.0, 1)] {
        known.on_download(&download(mbps)).unwrap();
        assert_eq!(known.choose(&view(10.0, Some(0))), Ok(rung), "after {mbps} Mbit/s");
    }
    for _ in 0..5 {
        known.on_download(&download(4.5)).unwrap();
    }
    assert_eq!(
        known.choose(&view(10.0, Some(0))),
        Ok(2),
        "five of 4.5 Mbit/s have pushed out the rest"
    );
}

/// Of 24 s, the reservoir is 9 s and the cushion 12.6 s: the line is at 2 Mbit/s with 13.2 s, at 4 with 21.6 s.
#[test]
fn the_buffer_moves_the_bitrate_once_the_line_has_passed_the_next() {
    let mut known = build("buffer");
    for (buffer, last, rung) in [
        (8.9, 2, 0),
        (12.0, 0, 0),
        (13.3, 0, 1),
        (21.5, 1, 1),
        (21.7, 1, 2),
        (15.0, 2, 2),
        (13.1, 2, 1),
        (9.05, 1, 1),
    ] {
        assert_eq!(known.choose(&view(buffer, Some(last))), Ok(rung), "{buffer} s after {last}");
    }
}

/// With gamma 5 and room for 6 segments, V = 5 / (ln 4 + 5) = 0.783. The scores of two bitrates of sizes S and 2 S cross where
/// Q = V (5 - ln 2 + 2 ln u) with u the utility's base: 3.37 segments from 1 to 2 Mbit/s, 3.91 from 2 to 4.
#[test]
fn bola_changes_at_the_crossings_of_its_scores() {
    let mut known = build("bola");
    let weight = 5.0 / (libm::log(4.0) + 5.0);
    let crossing = |lower: f64| 4.0 * weight * (5.0 + libm::log(lower) - libm::log(2.0));
    for (lower, rung) in [(1.0, 0), (2.0, 1)] {
        let buffer = crossing(lower);
        assert_eq!(known.choose(&view(buffer - 0.01, None)), Ok(rung));
        assert_eq!(known.choose(&view(buffer + 0.01, None)), Ok(rung + 1));
    }
}

/// Over a constant throughput, downloads take as long as they play on average: that is the constraint that it learns.
#[test]
fn l2a_learns_what_the_link_carries() {
    for (mbps, least, most) in
        [(0.5, 0.99, 1.01), (2.1, 1.7, 2.2), (3.0, 2.4, 3.1), (9.0, 3.9, 4.0)]
    {
        let mut known = build("l2a");
        known.choose(&view(20.0, None)).unwrap();
        let mut asked = 0.0;
        for _ in 0..400 {
            known.on_download(&download(mbps)).unwrap();
            asked += LADDER[known.choose(&view(20.0, Some(0))).unwrap()] / 1e6 / 400.0;
        }
        assert!((least..=most).contains(&asked), "{asked} of {mbps} Mbit/s");
    }
}

/// At 3 Mbit/s, a segment of 16 Mbit takes 5.3 s, one of 8 Mbit 2.7 s.
#[test]
fn l2a_asks_for_nothing_that_would_empty_the_buffer() {
    let mut known = build("l2a");
    known.choose(&view(4.0, None)).unwrap();
    for _ in 0..100 {
        known.on_download(&download(3.0)).unwrap();
        assert!(known.choose(&view(5.0, Some(0))).unwrap() < 2);
        known.on_download(&download(3.0)).unwrap();
        assert_eq!(known.choose(&view(2.0, Some(0))), Ok(0));
    }
}
