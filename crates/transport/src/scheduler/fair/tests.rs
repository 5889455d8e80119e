//! Shares computed by hand, and long-run shares.

use leobench_base::StreamIndex;

use super::super::tests::{Harness, spec};
use crate::buffer::Attributes;

fn harness(scheduler: &str, streams: usize) -> Harness {
    Harness::new(&spec(scheduler), &vec![Attributes::default(); streams], 1)
}

fn preloaded(scheduler: &str, backlogs: &[u64]) -> Harness {
    let mut harness = harness(scheduler, backlogs.len());
    for (stream, backlog) in backlogs.iter().enumerate().filter(|(_, backlog)| **backlog > 0) {
        harness.write(stream, *backlog);
    }
    harness
}

// A frame's header is 1 + 1 bytes for the first 16 streams at offset 0, 2 more at offsets of 64 and above, 4 at
// offsets of 16,384 and above; the length of all frames but the last takes 2 bytes from 64 on, else 1 (RFC 9000
// sections 16 and 19.8).

#[test]
fn two_streams_share_equally() {
    let mut fq = preloaded("fq", &[90_000, 90_000]);
    // 1,200 - 2 - 2 - 2 = 1,194
    assert_eq!(fq.send(1_200), [(0, 597), (1, 597)]);
    // 1,200 - 4 - 4 - 2 = 1,190
    assert_eq!(fq.send(1_200), [(0, 595), (1, 595)]);
    // 1,199 - 4 - 4 - 2 = 1,189: one of them is owed half a byte, ...
    assert_eq!(fq.send(1_199), [(1, 594), (0, 595)]);
    // ... and gets it with the next packet.
    assert_eq!(fq.send(1_199), [(0, 594), (1, 595)]);
    // A packet too short for ten frames is still shared by two.
    // 130 - 4 - 4 - 1 = 121: 60 1/2 each.
    assert_eq!(fq.send(130), [(1, 60), (0, 61)]);
}

#[test]
fn weights_share_in_proportion_and_carry_remainders() {
    let mut wfq = preloaded("wfq weights=2,1", &[90_000, 90_000]);
    assert_eq!(wfq.send(1_200), [(1, 398), (0, 796)]);
    // 1,190: 793 1/3 and 396 2/3; the next two make it whole.
    assert_eq!(wfq.send(1_200), [(1, 397), (0, 793)]);
    assert_eq!(wfq.send(1_200), [(1, 396), (0, 794)]);
    assert_eq!(wfq.send(1_200), [(1, 397), (0, 793)]);
}

#[test]
fn three_streams_share_what_one_leaves_by_their_weights() {
    // 1,200 - 3 * 2 - 2 - 1 = 1,191, of which 50 and, 3 : 1, 855.75 and 285.25.
    let mut wfq = preloaded("wfq weights=3,2,1", &[90_000, 50, 90_000]);
    assert_eq!(wfq.send(1_200), [(1, 50), (2, 285), (0, 856)]);
    // 1,200 - 4 - 4 - 2 = 1,190, and the quarter that was rounded up: 856 + 285 + 1,190 = 2,331, 3 : 1 is
    // 1,748.25 : 582.75.
    assert_eq!(wfq.send(1_200), [(2, 298), (0, 892)]);
    // Two streams with spare shares: 1,200 - 3 * 2 - 2 * 2 = 1,190 less 300 less 100.
    let mut fq = preloaded("fq", &[300, 90_000, 100]);
    assert_eq!(fq.send(1_200), [(2, 100), (0, 300), (1, 790)]);
    // Everything fits, and the last frame has a length, too.
    let mut fq = preloaded("fq", &[300, 200, 100]);
    assert_eq!(fq.send(1_200), [(2, 100), (1, 200), (0, 300)]);
}

#[test]
fn without_redistribution_what_a_stream_leaves_stays_empty() {
    // As above: 1,191, of which 595.5, 397 (it has 50) and 198.5.
    let mut wfq = preloaded("wfq weights=3,2,1 surplus=none", &[90_000, 50, 90_000]);
    assert_eq!(wfq.send(1_200), [(2, 198), (1, 50), (0, 596)]);
    // 1,190: 595 less the half that was too much, 198 1/3 and the half that was owed.
    assert_eq!(wfq.send(1_200), [(2, 199), (0, 594)]);
    // 595 - 0.5 + 0.5 and 198 1/3 - 1/6: half a byte less and a sixth less than due so far.
    assert_eq!(wfq.send(1_200), [(2, 198), (0, 595)]);
    let mut fq = preloaded("fq surplus=none", &[0, 0, 90_000]);
    // A third of what one frame leaves.
    assert_eq!(fq.send(1_200), [(2, 399)]);
}

#[test]
fn nobody_is_left_without_any_byte_for_ever() {
    // A stream due less than a byte: the packet still carries one, and the excess is deducted later.
    let mut wfq = preloaded("wfq weights=1000,0.1 surplus=none", &[0, 500]);
    assert_eq!(wfq.send(1_200), [(1, 1)]);
    // 1.19 bytes a packet: a frame of 32 once that many are due, after 27 packets.
    let mut wfq = preloaded("wfq weights=1000,1", &[90_000, 500]);
    let packets: Vec<_> = (0..60).map(|_| wfq.send(1_200)).collect();
    let small = |packet: &Vec<_>| packet.iter().find(|(stream, _)| *stream == 1).copied();
    let frames: Vec<_> = packets.iter().filter_map(small).collect();
    assert_eq!(frames, [(1, 32), (1, 32)]);
    assert_eq!(packets.iter().position(|packet| small(packet).is_some()), Some(26));
}

#[test]
fn idle_streams_earn_nothing() {
    let mut fq = preloaded("fq", &[90_000, 0]);
    for _ in 0..10 {
        fq.send(1_200);
    }
    fq.write(1, 90_000);
    // 4 + 2 + 2: half each at once.
    assert_eq!(fq.send(1_200), [(0, 596), (1, 596)]);
    // A held stream counts as idle.
    fq.streams.hold(1.into(), true);
    fq.send(1_200);
    fq.streams.hold(1.into(), false);
    assert_eq!(fq.send(1_200), [(0, 595), (1, 595)]);
}

#[test]
fn without_redistribution_more_than_ten_go_in_tens() {
    let mut fq = harness("fq surplus=none", 25);
    for stream in [3, 4, 23] {
        fq.write(stream, 90_000);
    }
    let mut served = Vec::new();
    for _ in 0..5 {
        let packet = fq.send(1_200);
        // A tenth each of what the headers leave.
        assert!(packet.iter().all(|(_, bytes)| (118..=120).contains(bytes)), "{packet:?}");
        let mut streams: Vec<_> = packet.iter().map(|(stream, _)| *stream).collect();
        streams.sort_unstable();
        served.push(streams);
    }
    // Streams 0 to 9; 20 to 24 and 0 to 4, as 10 to 19 are idle; 15 to 24, as 5 to 14 are; and again.
    assert_eq!(served, [&[3, 4][..], &[3, 4, 23], &[23], &[3, 4], &[3, 4, 23]]);
}

/// Every stream always has bytes waiting, in messages of different sizes; returns bytes served per unit of weight.
fn saturated(scheduler: &str, weights: &[f64], packets: usize) -> Vec<f64> {
    let mut harness = harness(scheduler, weights.len());
    for packet in 0..packets {
        for stream in 0..weights.len() {
            while harness.streams.buffer().streams()[StreamIndex::from(stream)].backlog() < 3_000 {
                harness.write(stream, 40 + 137 * (stream as u64 + 1) % 1_500);
            }
        }
        harness.send(600 + packet as u64 % 800);
    }
    let taken = harness.streams.buffer().streams().iter().map(|stream| stream.taken() as f64);
    taken.zip(weights).map(|(taken, weight)| taken / weight).collect()
}

fn spread(levels: &[f64]) -> f64 {
    let most = levels.iter().copied().fold(0.0, f64::max);
    let least = levels.iter().copied().fold(f64::MAX, f64::min);
    (most - least) / most
}

#[test]
fn payload_shares_follow_the_weights_in_the_long_run() {
    let many: Vec<_> = (0..20).map(|stream| f64::from(1 + stream % 7)).collect();
    for weights in [&[2.0, 1.0][..], &[1.0, 0.3, 7.0], &many] {
        let list: Vec<_> = weights.iter().map(ToString::to_string).collect();
        let levels = saturated(&format!("wfq weights={}", list.join(",")), weights, 20_000);
        assert!(spread(&levels) < 0.01, "{weights:?}: {levels:?}");
    }
    for streams in [2, 3, 10, 20] {
        let levels = saturated("fq", &vec![1.0; streams], 20_000);
        assert!(spread(&levels) < 0.001, "{streams} streams: {levels:?}");
    }
}

#[test]
fn remainders_do_not_add_up() {
    // After 20,000 packets, all are within about a byte of their due.
    for scheduler in ["wfq weights=3,7,1", "wfq weights=3,7,1 surplus=none"] {
        let levels = saturated(scheduler, &[3.0, 7.0, 1.0], 20_000);
        let most = levels.iter().copied().fold(0.0, f64::max);
        assert!(spread(&levels) * most < 2.0, "{scheduler}: {levels:?}");
    }
}
