//! Data that is sent on more than one path: by the scheduler `redundant`, and by `reinject`.

use leobench_transport::path_scheduler::PathSchedulerSpec;

use super::paths::{client_over, send, several};
use super::*;
use crate::spec::Reinject;

const MBIT: u64 = 1_000_000;

fn scheduler(kind: &str) -> PathSchedulerSpec {
    PathSchedulerSpec::examples().into_iter().find(|spec| spec.kind() == kind).unwrap()
}

/// A client that sends `bytes` over two ways with this scheduler and this rule about repeating.
fn sending(
    kind: &str,
    reinject: Reinject,
    ways: [(u64, u64); 2],
    bytes: u64,
) -> Pipe<QuicEndpoint> {
    let spec = several(2, |multipath| {
        (multipath.scheduler, multipath.reinject) = (scheduler(kind), reinject);
    });
    let mut pipe = client_over(&spec, &ways, 2);
    send(&mut pipe, bytes);
    pipe
}

/// Milliseconds until so many bytes are delivered.
fn duration(kind: &str, reinject: Reinject, ways: [(u64, u64); 2], bytes: u64) -> u64 {
    let mut pipe = sending(kind, reinject, ways, bytes);
    pipe.deliver(bytes);
    pipe.now.as_nanos() / 1_000_000
}

/// The delivered offset every 5 ms over the first ways, if one of them is down for 60 ms of every 500. The source sends at half the
/// rate of a way, so that no queue overflows.
fn progress(known: usize, lossy: Option<usize>) -> Vec<u64> {
    let spec = several(2, |multipath| multipath.scheduler = scheduler("redundant"));
    let mut pipe = client_over(&spec, &[(20, 10 * MBIT), (45, 10 * MBIT)], known);
    let mut offsets = Vec::new();
    for millis in (0..6_000).step_by(5) {
        pipe.write(0, 3_125);
        if let Some(way) = lossy {
            pipe.ways[way].is_up = millis < 1_500 || millis % 500 >= 60;
        }
        pipe.run(ms(millis), |_| false);
        offsets.push(pipe.delivered[0]);
    }
    offsets
}

/// How many milliseconds later than `first` each offset is reached, at most.
fn behind(first: &[u64], second: &[u64]) -> usize {
    let late = second.iter().enumerate().map(|(at, offset)| {
        (at + 1).saturating_sub(first.partition_point(|reached| reached <= offset)) * 5
    });
    late.max().unwrap_or_default()
}

#[test]
fn redundant_delivers_each_byte_at_its_earlier_arrival() {
    let [alone, both] = [1, 2].map(|known| progress(known, None));
    assert!(behind(&alone, &both) <= 5, "beside nothing lost");
    assert!(behind(&alone, &progress(2, Some(1))) <= 5, "beside losses on the second way");
    // The second way takes 25 ms longer, and its pacer spreads what both carry when the first one falls silent.
    assert!(behind(&both, &progress(2, Some(0))) <= 40, "losses on the first way");
    assert!(behind(&alone, &progress(1, Some(0))) > 500, "without a rival");
}

#[test]
fn redundant_sends_each_byte_on_both_of_two_equal_paths() {
    let ways = [(20, 10 * MBIT); 2];
    let mut pipe = sending("redundant", Reinject::OnTimeout, ways, 5_000_000);
    pipe.deliver(5_000_000);
    let opened = pipe.events[SENDER].iter().find(|(_, event)| event.detail.contains("validated"));
    let opened = opened.unwrap().0 + SimDuration::from_millis(500);
    let mut sent = [Vec::new(), Vec::new()];
    for passed in pipe.passed[SENDER].iter().filter(|passed| passed.at > opened) {
        let number = super::paths::way(passed);
        sent[number].extend(passed.streams().map(|(_, offset, len, _)| (offset, offset + len)));
    }
    let bytes = |ranges: &[(u64, u64)]| ranges.iter().map(|(start, end)| end - start).sum::<u64>();
    let [first, second] = sent.each_ref().map(|ranges| bytes(ranges));
    assert!(first.abs_diff(second) * 50 <= first, "{first} and {second} bytes");
    let copied = pipe.ends[SENDER].totals().reinjected_bytes.get();
    assert!(copied * 10 >= 9 * first.min(second), "{copied} of {first} were copies");
    // Half of everything received came twice, but for the time before the second path was there.
    let arrivals = pipe.ends[RECEIVER].arrivals().unwrap();
    let (twice, once) = (arrivals.duplicate_bytes().get(), arrivals.reordering_delay().count());
    assert_eq!(once, 5_000_000);
    assert!(twice * 10 >= 9 * once && twice <= once, "{twice} of {once} bytes came twice");
}

/// A kilobyte every millisecond, in turns over a path of 10 ms and one of 60 ms one way: each that overtakes the one before waits
/// for it for the 50 ms between the paths, less the millisecond between the two.
#[test]
fn bytes_wait_for_those_of_a_slower_path() {
    let waited = |ways: &[(u64, u64)]| {
        let spec = several(ways.len(), |multipath| multipath.scheduler = scheduler("round_robin"));
        let mut pipe = client_over(&spec, ways, ways.len());
        let mut begun = None;
        for millis in 0..6_000 {
            if millis == 4_000 {
                // The windows have room for it by now.
                begun = pipe.ends[RECEIVER].arrivals().cloned();
            }
            pipe.write(0, 1_000);
            pipe.run(ms(millis), |_| false);
        }
        let arrivals = pipe.ends[RECEIVER].arrivals().unwrap().since(&begun.unwrap());
        [0.4, 0.6, 1.0]
            .map(|share| arrivals.reordering_delay().quantile(share).unwrap() / 1_000_000)
    };
    let ways = [(10, 20 * MBIT), (60, 20 * MBIT)];
    assert_eq!(waited(&ways[..1]), [0; 3], "one path keeps the order");
    let [in_order, overtaking, most] = waited(&ways);
    assert_eq!(in_order, 0, "what the slow path carries is delivered at once");
    assert!((48..=49).contains(&overtaking), "{overtaking} ms");
    assert!((48..=50).contains(&most), "{most} ms");
}

#[test]
fn a_fast_path_with_nothing_else_to_send_overtakes_a_slow_one() {
    let ways = [(20, 10 * MBIT), (300, 10 * MBIT)];
    let [timeout, idle] = [Reinject::OnTimeout, Reinject::Idle]
        .map(|rule| duration("min_rtt", rule, ways, 3_000_000));
    // The last packets of the slow path are on their way for 300 ms.
    assert!(idle + 150 < timeout, "{idle} ms, without {timeout} ms");
}

#[test]
fn nothing_is_repeated_while_new_data_waits_or_if_that_is_not_wanted() {
    let ways = [(20, 10 * MBIT), (100, 10 * MBIT)];
    for rule in [Reinject::OnTimeout, Reinject::Never, Reinject::Idle] {
        let mut pipe = sending("min_rtt", rule, ways, 10_000_000);
        pipe.run(ms(3_000), |_| false);
        let before = pipe.ends[SENDER].totals().reinjected_bytes.get();
        assert_eq!(before, 0, "{rule:?}: new data waits");
        pipe.deliver(10_000_000);
        let after = pipe.ends[SENDER].totals().reinjected_bytes.get();
        assert_eq!(after > 0, rule == Reinject::Idle, "{rule:?}: {after}");
    }
}

/// A path fails: what is on it goes to the other one after a probe timeout, or not before it counts as lost.
#[test]
fn data_on_a_silent_path_waits_for_loss_detection_unless_it_is_repeated() {
    let play = |rule| {
        let mut pipe = sending("min_rtt", rule, [(20, 10 * MBIT), (30, 10 * MBIT)], 10_000_000);
        pipe.run(ms(2_000), |_| false);
        pipe.ways[0].is_up = false;
        let before = pipe.delivered[0];
        pipe.run(ms(10_000), |pipe| pipe.delivered[0] > before + 500_000);
        pipe.now.as_nanos() / 1_000_000
    };
    let [never, timeout, idle] = [Reinject::Never, Reinject::OnTimeout, Reinject::Idle].map(play);
    assert!(timeout < 2_700 && idle <= timeout, "{timeout} ms, {idle} ms");
    assert!(never > timeout + 100, "{never} ms, {timeout} ms");
}
