//! Players over a link of a constant rate, against closed forms.

use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime};
use leobench_transport::Plugins;

use super::{Next, Player, Stall};
use crate::adaptation::{Adaptation, AdaptationSpec, PlayerView};
use crate::spec::{LiveSpec, VideoSpec};

fn spec() -> VideoSpec {
    VideoSpec {
        ladder: Some(vec![BitRate::from_bps(1_000_000), BitRate::from_bps(4_000_000)]),
        length: Some(seconds(40.0)),
        segment: None,
        manifest: None,
        adaptation: fixed(1),
        variation: 0.0,
        start_buffer: None,
        resume_buffer: None,
        most_buffer: seconds(1_000.0),
        abandons: false,
        replaces_beyond: None,
        request: Bytes::new(400),
        think: SimDuration::ZERO,
        begins_within: SimDuration::ZERO,
        live: None,
    }
}

fn fixed(rung: u32) -> AdaptationSpec {
    let examples = AdaptationSpec::examples();
    let mut found = examples.into_iter().find(|one| one.kind() == "fixed").unwrap();
    if let AdaptationSpec::Fixed(spec) = &mut found {
        spec.rung = leobench_base::spec::Whole::nearest(rung);
    }
    found
}

fn seconds(value: f64) -> SimDuration {
    SimDuration::from_nanos((value * 1e9).round() as u64)
}

fn at(value: f64) -> SimTime {
    SimTime::ZERO + seconds(value)
}

/// Watches over a link of so many bit/s from `start` on; returns the player and the end.
fn watch(spec: &VideoSpec, bps: f64, start: f64) -> (Player, SimTime) {
    let rng = RngTree::new(1);
    let film = spec.film(|_| panic!("there is no manifest")).unwrap();
    let mut player = Player::new(spec, film, at(start), &rng, Plugins::NONE).unwrap();
    let end = download(&mut player, bps, at(start));
    (player, end)
}

/// Downloads all segments over a link of so many bit/s from `now` on; returns the end.
fn download(player: &mut Player, bps: f64, mut now: SimTime) -> SimTime {
    loop {
        match player.next(now).unwrap() {
            Next::Ask(bytes) => {
                now += seconds(bytes.bits() as f64 / bps);
                player.on_arrival(now);
            }
            Next::Wait(until) => {
                assert!(until > now, "a player never waits for what is now");
                now = until;
            }
            Next::Done => return now,
        }
    }
}

/// A segment of 4 s at 4 Mbit/s takes 2 s at 8 Mbit/s, so the buffer grows by 2 s with each.
#[test]
fn the_buffer_grows_by_what_a_download_is_shorter_than_it_plays() {
    let (mut player, end) = watch(&spec(), 8e6, 3.0);
    assert_eq!(player.startup(), Some(seconds(2.0)));
    for (number, segment) in player.segments().iter().enumerate() {
        assert_eq!(segment.buffer, seconds(4.0 + 2.0 * number as f64));
    }
    assert_eq!((player.stalls(), end), (&[][..], at(23.0)));
    player.play_until(at(44.999));
    assert!(!player.has_ended());
    player.play_until(at(45.0));
    assert!(player.has_ended());
    assert_eq!(player.played(), seconds(40.0));
    assert_eq!(player.mean_bitrate(), Some(4e6));
    // Ten times 4 Mbit/s, less 4 Mbit/s for each of 2 s before the first picture.
    assert_eq!(player.quality(at(45.0)), Some(1e6 * (40.0 - 8.0) / 10.0));
}

/// At 3.2 Mbit/s it takes 5 s, so pictures stand still for 1 s before each segment but the first.
#[test]
fn a_link_that_is_too_slow_stalls_by_the_difference() {
    let (player, end) = watch(&spec(), 3.2e6, 0.0);
    assert_eq!(player.stalls().len(), 9);
    assert_eq!(player.stalls()[0], Stall { begin: at(9.0), end: Some(at(10.0)) });
    assert_eq!(player.stalled(end), (seconds(9.0), seconds(1.0)));
    assert!(player.segments()[1..].iter().all(|segment| segment.stalled == seconds(1.0)));
}

#[test]
fn after_a_stall_it_waits_for_the_buffer_to_resume() {
    let spec = VideoSpec { resume_buffer: Some(seconds(8.0)), ..spec() };
    let (player, _) = watch(&spec, 3.2e6, 0.0);
    // Empty at 9 s; two segments are there at 15 s. They play until 23 s, with the next at 20 s, and so on.
    assert_eq!(player.stalls()[0], Stall { begin: at(9.0), end: Some(at(15.0)) });
    assert_eq!(player.stalls()[1].begin, at(15.0 + 20.0));
    let stalled: Vec<_> = player.segments().iter().map(|segment| segment.stalled).collect();
    assert_eq!(stalled[..3], [0.0, 1.0, 5.0].map(seconds));
}

#[test]
fn a_full_buffer_waits_for_room() {
    let spec = VideoSpec { most_buffer: seconds(10.0), ..spec() };
    let (player, _) = watch(&spec, 80e6, 0.0);
    let buffers: Vec<_> = player.segments().iter().map(|segment| segment.buffer).collect();
    // 4 s, 8 s less the download of 0.2 s, and then never more than 10 s.
    assert_eq!(buffers[..2], [seconds(4.0), seconds(7.8)]);
    assert!(buffers[2..].iter().all(|buffer| *buffer == seconds(9.8)), "{buffers:?}");
}

#[test]
fn a_live_segment_is_there_when_it_has_been_taken() {
    let live = LiveSpec { latency: seconds(6.0), catch_up: 0.0 };
    let spec = VideoSpec { live: Some(live), ..spec() };
    let (player, _) = watch(&spec, 80e6, 10.0);
    // The first is 4 s long and 6 s old; the second is taken 2 s after the start.
    let requested: Vec<_> = player.segments().iter().map(|segment| segment.requested).collect();
    assert_eq!(requested[..3], [at(10.0), at(12.0), at(16.0)]);
    let (mean, most) = player.latency().unwrap();
    assert!((mean - 6.2).abs() < 1e-9 && (most - 6.2).abs() < 1e-9, "0.2 s of the first download");
}

#[test]
fn a_viewer_who_is_behind_catches_up() {
    let live = LiveSpec { latency: seconds(6.0), catch_up: 0.05 };
    let spec = VideoSpec { live: Some(live), length: Some(seconds(80.0)), ..spec() };
    let (player, end) = watch(&spec, 80e6, 0.0);
    let (mean, most) = player.latency().unwrap();
    assert!((most - 6.2).abs() < 1e-9, "as far behind as the first download took: {most}");
    assert!(mean < 6.05, "{mean}");
    assert_eq!(player.stalled(end).0, SimDuration::ZERO);
}

#[test]
fn sizes_that_vary_have_the_mean_of_the_bitrate() {
    let spec = VideoSpec { variation: 0.4, length: Some(seconds(40_000.0)), ..spec() };
    let (player, _) = watch(&spec, 1e9, 0.0);
    let bits: f64 = player.segments().iter().map(|segment| segment.bytes.bits() as f64).sum();
    assert!((bits / 40_000.0 / 4e6 - 1.0).abs() < 0.02, "{bits}");
}

/// Chooses the bitrates of a list, the last one from then on.
#[derive(Debug)]
struct Script(Vec<usize>);

impl Adaptation for Script {
    fn choose(&mut self, _: &PlayerView<'_>) -> Result<usize, String> {
        Ok(if self.0.len() > 1 { self.0.remove(0) } else { self.0[0] })
    }
}

/// At 16 Mbit/s, four segments of 1 Mbit/s arrive within a second, at which 0.75 s are played. The one that is 6 s ahead begins at 4 s, and
/// each one that is replaced takes a second.
#[test]
fn a_higher_bitrate_replaces_what_is_far_enough_ahead() {
    for (replaces_beyond, numbers, shown) in [
        (Some(6.0), vec![0, 1, 2, 3, 1, 2, 3, 4], vec![0, 1, 1, 1, 1]),
        (Some(0.0), vec![0, 1, 2, 3, 0, 1, 2, 3, 4], vec![1, 1, 1, 1, 1]),
        (None, vec![0, 1, 2, 3, 4], vec![0, 0, 0, 0, 1]),
    ] {
        let replaces_beyond = replaces_beyond.map(seconds);
        let spec = VideoSpec { replaces_beyond, length: Some(seconds(20.0)), ..spec() };
        let film = spec.film(|_| panic!("there is no manifest")).unwrap();
        let rng = RngTree::new(1);
        let mut player = Player::new(&spec, film, at(0.0), &rng, Plugins::NONE).unwrap();
        player.adaptation = Box::new(Script(vec![0, 0, 0, 0, 1]));
        let now = download(&mut player, 16e6, at(0.0));
        let asked: Vec<_> = player.segments().iter().map(|segment| segment.number).collect();
        assert_eq!((&asked, &player.shown), (&numbers, &shown));
        // What replaces others makes the buffer no longer.
        player.play_until(at(20.2));
        assert!(!player.has_ended() && player.stalls().is_empty());
        player.play_until(at(20.25));
        assert!(player.has_ended(), "the last arrived at {now}");
        let replaced = asked.len() as u64 - 5;
        assert_eq!(player.replaced(), replaces_beyond.map(|_| replaced));
        assert_eq!(player.switches(), u64::from(shown[0] == 0));
    }
}

/// Asks for what it has chosen after a pause.
#[derive(Debug)]
struct Pausing(f64);

impl Adaptation for Pausing {
    fn choose(&mut self, _: &PlayerView<'_>) -> Result<usize, String> {
        self.0 += 1.0;
        Ok(0)
    }

    fn pause_s(&self) -> f64 {
        self.0
    }
}

#[test]
fn a_choice_is_put_off_by_the_pause_of_its_adaptation() {
    let film = spec().film(|_| panic!("there is no manifest")).unwrap();
    let mut player = Player::new(&spec(), film, at(0.0), &RngTree::new(1), Plugins::NONE).unwrap();
    player.adaptation = Box::new(Pausing(0.0));
    download(&mut player, 4e6, at(0.0));
    let asked: Vec<_> = player.segments().iter().map(|segment| segment.requested).collect();
    // A second each for downloads, and one more for every pause.
    assert_eq!(asked[..4], [1.0, 4.0, 8.0, 13.0].map(at));
}

/// After a change down, segments of a higher bitrate stay. One that is not far enough ahead stays as well.
#[test]
fn what_is_no_better_is_not_replaced() {
    for script in [vec![1, 1, 1, 0], vec![0, 1]] {
        let spec = VideoSpec {
            replaces_beyond: Some(seconds(6.0)),
            length: Some(seconds(20.0)),
            ..spec()
        };
        let film = spec.film(|_| panic!("there is no manifest")).unwrap();
        let mut player =
            Player::new(&spec, film, at(0.0), &RngTree::new(1), Plugins::NONE).unwrap();
        player.adaptation = Box::new(Script(script));
        download(&mut player, 16e6, at(0.0));
        assert_eq!(player.replaced(), Some(0));
    }
}

/// At 1.5 Mbit/s, a segment of 4 Mbit/s takes 10.7 s. After half a second it is given up for one of 1 Mbit/s, and so are higher bitrates
/// for ten seconds.
#[test]
fn a_download_that_takes_too_long_is_abandoned() {
    let spec = VideoSpec { abandons: true, ..spec() };
    let film = spec.film(|_| panic!("there is no manifest")).unwrap();
    let mut player = Player::new(&spec, film, at(0.0), &RngTree::new(1), Plugins::NONE).unwrap();
    assert_eq!(player.next(at(0.0)), Ok(Next::Ask(Bytes::new(2_000_000))));
    let arrived = |millis: u64| Bytes::new(1_500 * millis / 8);
    let mut looks = (100..).step_by(50);
    let millis = looks
        .find(|millis| player.on_progress(at(*millis as f64 / 1e3), arrived(*millis)).is_some());
    assert_eq!(millis, Some(650));
    let now = at(0.65);
    assert_eq!(player.abandon(now, arrived(650), 0), Ok(Bytes::new(500_000)));
    assert_eq!(player.abandoned(), Some(1));
    for millis in (700..2_000).step_by(50) {
        let lowest = player.on_progress(at(f64::from(millis) / 1e3), Bytes::new(1_000));
        assert_eq!(lowest, None, "it is asked for in the lowest bitrate");
    }
    player.on_arrival(at(3.0));
    for (now, bytes) in [(3.0, 500_000), (10.0, 500_000), (10.7, 2_000_000)] {
        assert_eq!(player.next(at(now)), Ok(Next::Ask(Bytes::new(bytes))), "at {now} s");
        player.on_arrival(at(now + 0.1));
    }
    let asked: Vec<_> = player.segments().iter().map(|segment| segment.number).collect();
    assert_eq!(asked, [0, 0, 1, 2, 3]);
}
