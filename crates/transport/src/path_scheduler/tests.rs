//! Conformance tests that run on every path scheduler, and the order of each.

use super::*;

fn views(rtts: &[(u32, u64)]) -> PathViews {
    let view = |(id, millis): &(u32, u64)| PathView {
        id: PathId(*id),
        rtt: SimDuration::from_millis(*millis),
        window: Bytes::new(12_000),
        in_flight: Bytes::ZERO,
        payload: Bytes::new(1_252),
    };
    rtts.iter().map(view).collect()
}

/// The paths of so many packets in a row.
fn choices(spec: &PathSchedulerSpec, views: &[PathView], packets: usize) -> Vec<u32> {
    let mut scheduler = spec.model().build();
    let choose = || {
        let chosen = scheduler.choose(SimTime::ZERO, views).unwrap();
        scheduler.on_sent(chosen);
        chosen.0
    };
    std::iter::repeat_with(choose).take(packets).collect()
}

#[test]
fn every_scheduler_chooses_a_path_that_has_room() {
    for spec in PathSchedulerSpec::examples() {
        for paths in [&[(0, 20)][..], &[(3, 20)], &[(1, 20), (4, 10)], &[(0, 1), (2, 1), (7, 1)]] {
            let chosen = choices(&spec, &views(paths), 20);
            let known = |id: &u32| paths.iter().any(|(path, _)| path == id);
            assert!(chosen.iter().all(known), "{}: {chosen:?} of {paths:?}", spec.kind());
        }
    }
}

#[test]
fn a_choice_that_was_not_used_is_made_again() {
    for spec in PathSchedulerSpec::examples() {
        let mut scheduler = spec.model().build();
        let views = views(&[(0, 20), (1, 10)]);
        let first = scheduler.choose(SimTime::ZERO, &views);
        assert_eq!(scheduler.choose(SimTime::ZERO, &views), first, "{}", spec.kind());
    }
}

#[test]
fn round_robin_takes_turns() {
    let spec = PathSchedulerSpec::RoundRobin(round_robin::RoundRobinSpec::default());
    assert_eq!(choices(&spec, &views(&[(0, 20), (1, 10), (4, 30)]), 5), [0, 1, 4, 0, 1]);
}

#[test]
fn min_rtt_takes_the_shortest_round_trip_and_of_equal_ones_the_first() {
    let spec = PathSchedulerSpec::MinRtt(min_rtt::MinRttSpec::default());
    assert_eq!(choices(&spec, &views(&[(0, 20), (1, 10), (4, 10)]), 2), [1, 1]);
}
