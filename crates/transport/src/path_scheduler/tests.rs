//! Conformance tests that run on every path scheduler, and the order of each.

use leobench_base::{BitRate, Bytes, SimDuration};

use super::*;
use crate::endpoint::{Forecast, HandoverForecast, PathId};

const PAYLOAD: u64 = 1_250;
const NOW: SimTime = SimTime::from_nanos(1_000_000_000);
const UNLIMITED: Backlog = Backlog { waiting: Bytes::new(1 << 30), credit: Bytes::new(1 << 40) };

/// A path without variation, with a window of ten packets and nothing in flight.
fn view(id: u32, millis: u64) -> PathView {
    PathView {
        id: PathId(id),
        link: Some(id as usize),
        rtt: SimDuration::from_millis(millis),
        variation: SimDuration::ZERO,
        window: Bytes::new(10 * PAYLOAD),
        in_flight: Bytes::ZERO,
        payload: Bytes::new(PAYLOAD),
        ready: SimTime::ZERO,
        slow_start: false,
        delivery_rate: None,
        forecast: None,
    }
}

/// The same, with its window full.
fn full(id: u32, millis: u64) -> PathView {
    PathView { in_flight: Bytes::new(10 * PAYLOAD), ..view(id, millis) }
}

fn views(rtts: &[(u32, u64)]) -> Vec<PathView> {
    rtts.iter().map(|(id, millis)| view(*id, *millis)).collect()
}

/// The names of so many links.
fn links(count: usize) -> Vec<String> {
    (0..count).map(|link| format!("link-{link}")).collect()
}

fn build(spec: &PathSchedulerSpec) -> Box<dyn PathScheduler> {
    let (rng, plugins) = (RngTree::new(1), &crate::testing::in_order());
    spec.model().build(&PathSchedulerContext { links: &links(8), rng: &rng, plugins }).unwrap()
}

fn backlog(waiting: u64, credit: u64) -> Backlog {
    Backlog { waiting: Bytes::new(waiting * PAYLOAD), credit: Bytes::new(credit * PAYLOAD) }
}

/// The path of a packet; none if it waits.
fn chosen(scheduler: &mut dyn PathScheduler, views: &[PathView], backlog: &Backlog) -> Option<u32> {
    scheduler.choose(NOW, views, backlog).unwrap().first().map(|path| path.0)
}

/// The paths of so many packets in a row.
fn choices(spec: &PathSchedulerSpec, views: &[PathView], packets: usize) -> Vec<u32> {
    let mut scheduler = build(spec);
    let choose = || {
        let path = chosen(&mut *scheduler, views, &UNLIMITED).unwrap();
        scheduler.on_sent(PathId(path)).unwrap();
        path
    };
    std::iter::repeat_with(choose).take(packets).collect()
}

fn of_kind(kind: &str) -> PathSchedulerSpec {
    let all = PathSchedulerSpec::examples().into_iter();
    all.into_iter().find(|spec| spec.kind() == kind).unwrap()
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

/// A random mix of full, paced and free paths: the choice has room, and if everything is free, nobody waits.
#[test]
fn no_scheduler_chooses_a_full_path_or_waits_for_nothing() {
    for spec in PathSchedulerSpec::examples() {
        let mut scheduler = build(&spec);
        let mut rng = RngTree::new(7).rng();
        for _ in 0..5_000 {
            let mut paths: Vec<_> =
                (0..=rng.below(4) as u32).map(|id| view(id, 1 + rng.below(300))).collect();
            let is_free = rng.below(4) == 0;
            for path in paths.iter_mut().filter(|_| !is_free) {
                path.in_flight = Bytes::new(rng.below(12) * PAYLOAD);
                path.ready = NOW + SimDuration::from_millis(rng.below(2) * rng.below(20));
                path.variation = SimDuration::from_millis(rng.below(50));
                path.delivery_rate =
                    (rng.below(2) == 0).then(|| BitRate::from_bps(rng.below(1 << 24)));
            }
            if !paths.iter().any(|path| path.has_room(NOW)) {
                continue;
            }
            let backlog = backlog(rng.below(200), 1 + rng.below(200));
            let choice = chosen(&mut *scheduler, &paths, &backlog);
            assert!(choice.is_some() || !is_free, "{}: {paths:?}", spec.kind());
            if let Some(path) = choice {
                let taken = paths.iter().find(|known| known.id.0 == path).unwrap();
                assert!(taken.has_room(NOW), "{}: {path} of {paths:?}", spec.kind());
                scheduler.on_sent(PathId(path)).unwrap();
            }
        }
    }
}

#[test]
fn a_choice_that_was_not_used_is_made_again() {
    for spec in PathSchedulerSpec::examples() {
        let mut scheduler = build(&spec);
        let views = views(&[(0, 20), (1, 10)]);
        let first = scheduler.choose(NOW, &views, &UNLIMITED);
        assert_eq!(scheduler.choose(NOW, &views, &UNLIMITED), first, "{}", spec.kind());
    }
}

#[test]
fn round_robin_takes_turns() {
    assert_eq!(
        choices(&of_kind("round_robin"), &views(&[(0, 20), (1, 10), (4, 30)]), 5),
        [0, 1, 4, 0, 1]
    );
}

#[test]
fn a_turn_is_as_long_as_the_weight_of_the_link() {
    let weights = Some([3, 1, 2].map(round_robin::Turn::nearest).to_vec());
    let spec = PathSchedulerSpec::RoundRobin(round_robin::RoundRobinSpec { weights });
    let mut paths = views(&[(0, 20), (1, 10), (5, 30)]);
    // The third path is over the first link, the first one over the third.
    (paths[0].link, paths[2].link) = (Some(2), Some(0));
    assert_eq!(choices(&spec, &paths, 9), [0, 0, 1, 5, 5, 5, 0, 0, 1]);
    // Who has no room loses the rest of his turn.
    let mut scheduler = build(&spec);
    scheduler.on_sent(PathId(0)).unwrap();
    paths[0] = PathView { link: Some(2), ..full(0, 20) };
    assert_eq!(chosen(&mut *scheduler, &paths, &UNLIMITED), Some(1));
}

#[test]
fn weights_are_one_for_each_link() {
    let spec = PathSchedulerSpec::RoundRobin(round_robin::RoundRobinSpec {
        weights: Some(vec![round_robin::Turn::nearest(2)]),
    });
    let refused = format!("{:?}", spec.model().check(&links(2), Plugins::NONE).unwrap_err());
    assert!(refused.contains("has 1 weight, for 2 links"), "{refused}");
    assert!(spec.model().check(&links(1), Plugins::NONE).is_ok());
}

#[test]
fn min_rtt_takes_the_shortest_round_trip_and_of_equal_ones_the_first() {
    assert_eq!(choices(&of_kind("min_rtt"), &views(&[(0, 20), (1, 10), (4, 10)]), 2), [1, 1]);
    let mut scheduler = build(&of_kind("min_rtt"));
    assert_eq!(chosen(&mut *scheduler, &[view(0, 100), full(1, 10)], &backlog(1_000, 1)), Some(0));
}

/// The worked case of 10 and 100 ms with windows of ten packets: alone, the fast path needs (1 + k/10) 10 ms for k packets.
#[test]
fn ecf_waits_if_the_fast_path_completes_earlier() {
    let paths = [full(0, 10), view(1, 100)];
    let waits = |before: u64, packets: u64| {
        let mut scheduler = build(&of_kind("ecf"));
        chosen(&mut *scheduler, &paths, &backlog(before, 1 << 20));
        chosen(&mut *scheduler, &paths, &backlog(packets, 1 << 20)).is_none()
    };
    let all: Vec<_> = (0..200).filter(|packets| waits(150, *packets)).collect();
    assert_eq!(all, (2..=89).collect::<Vec<_>>());
    let once_waiting: Vec<_> = (0..200).filter(|packets| waits(50, *packets)).collect();
    assert_eq!(once_waiting, (2..=114).collect::<Vec<_>>());
    // A variation of 5 ms moves both conditions: (1 + k/10) 10 < 105, and k/10 100 >= 25.
    let uncertain =
        [full(0, 10), PathView { variation: SimDuration::from_millis(5), ..view(1, 100) }];
    let mut scheduler = build(&of_kind("ecf"));
    let few: Vec<_> = (0..200)
        .filter(|packets| {
            scheduler = build(&of_kind("ecf"));
            chosen(&mut *scheduler, &uncertain, &backlog(*packets, 1 << 20)).is_none()
        })
        .collect();
    assert_eq!(few, (3..=94).collect::<Vec<_>>());
    // A single packet counts as a window of ten: (1 + 1) 10 < 100, and 100 >= 20.
    let spec = PathSchedulerSpec::Ecf(ecf::EcfSpec { beta: 0.25, whole_windows: true });
    let whole: Vec<_> = (0..200)
        .filter(|packets| chosen(&mut *build(&spec), &paths, &backlog(*packets, 1 << 20)).is_none())
        .collect();
    assert_eq!(whole, (0..=89).collect::<Vec<_>>());
}

/// The same paths: within 100 ms the fast one sends (10 + 9/2) 10 = 145 packets.
#[test]
fn blest_uses_the_slow_path_if_what_the_fast_one_sends_meanwhile_still_fits() {
    let waits = |lambda: f64, in_flight: u64, credit: u64| {
        let spec = PathSchedulerSpec::Blest(blest::BlestSpec { lambda });
        let slow = PathView { in_flight: Bytes::new(in_flight * PAYLOAD), ..view(1, 100) };
        chosen(&mut *build(&spec), &[full(0, 10), slow], &backlog(1_000, credit)).is_none()
    };
    // One packet is the slow path's own.
    assert!(waits(1.0, 0, 145) && !waits(1.0, 0, 146));
    assert!(waits(1.0, 4, 149) && !waits(1.0, 4, 150));
    assert!(waits(2.0, 0, 290) && !waits(2.0, 0, 291));
    // The fast path is never held back.
    let spec = of_kind("blest");
    assert_eq!(chosen(&mut *build(&spec), &[view(0, 10), view(1, 100)], &backlog(9, 1)), Some(0));
}

/// Until the slow path delivers, after 50 ms, the fast one delivers 45 packets: one every millisecond from 5 ms on.
#[test]
fn earliest_arrival_waits_if_the_others_deliver_everything_earlier() {
    let spec = of_kind("earliest_arrival");
    let waits = |paths: &[PathView], packets: u64| {
        chosen(&mut *build(&spec), paths, &backlog(packets, 1 << 20)).is_none()
    };
    let [fast, slow] = [full(0, 10), view(1, 100)];
    assert!(waits(&[fast, slow], 1) && waits(&[fast, slow], 45) && !waits(&[fast, slow], 46));
    // At 1 Mbit/s a packet of 1,250 bytes takes 10 ms: four are there after 45 ms.
    let measured = PathView { delivery_rate: Some(BitRate::from_bps(1_000_000)), ..fast };
    assert!(waits(&[measured, slow], 4) && !waits(&[measured, slow], 5));
    // With room for ten that the pacer keeps back for 20 ms: ten at once, and then 25.
    let paced = PathView { ready: NOW + SimDuration::from_millis(20), ..view(0, 10) };
    assert!(waits(&[paced, slow], 35) && !waits(&[paced, slow], 36));
    // With a third path, both count.
    let third = PathView { id: PathId(2), ..fast };
    assert!(waits(&[fast, slow, third], 90) && !waits(&[fast, slow, third], 91));
}

#[test]
fn earliest_arrival_takes_a_forecast_handover_into_account() {
    let spec = of_kind("earliest_arrival");
    let at = |millis: u64| NOW + SimDuration::from_millis(millis);
    let handover = Some(HandoverForecast { from: at(4), until: at(60) });
    let forecast =
        Some(Forecast { path: PathId(0), at: NOW, base_rtt: None, bottleneck: None, handover });
    let leaves = PathView { forecast, ..view(0, 10) };
    assert_eq!(chosen(&mut *build(&spec), &[leaves, view(1, 100)], &UNLIMITED), Some(1));
    assert_eq!(chosen(&mut *build(&spec), &[leaves, view(1, 140)], &UNLIMITED), Some(0));
    // A full path that is about to leave delivers nothing meanwhile.
    let full = PathView { forecast, ..full(0, 10) };
    assert_eq!(chosen(&mut *build(&spec), &[full, view(1, 100)], &backlog(1, 100)), Some(1));
}

#[test]
fn redundant_sends_everything_on_all_paths() {
    let mut scheduler = build(&of_kind("redundant"));
    let choice =
        scheduler.choose(NOW, &[full(0, 10), view(1, 40), view(2, 30)], &UNLIMITED).unwrap();
    let paths = [2, 0, 1].map(PathId);
    assert_eq!(choice, Choice::Several(PathIds::from_slice(&paths)));
}

/// Classes are checked and built by the host of plug-ins, with the names of the links.
#[test]
fn a_class_needs_a_host_that_knows_it() {
    let spec = of_kind("python");
    assert_eq!(spec.name(), "mymodule:MyScheduler");
    let refused = spec.model().check(&links(2), Plugins::NONE).unwrap_err();
    assert_eq!(refused.field, "python");
    assert!(refused.problem.contains("only leobench's Python package can run"), "{refused:?}");
    spec.model().check(&links(2), &crate::testing::in_order()).unwrap();
    let unknown = PathSchedulerSpec::Python(python::PythonSpec {
        python: "mymodule:Other".to_owned(),
        parameters: leobench_base::spec::Table::new(),
    });
    let refused = unknown.model().check(&links(2), &crate::testing::in_order()).unwrap_err();
    assert!(refused.problem.contains("no such class"), "{refused:?}");
}
