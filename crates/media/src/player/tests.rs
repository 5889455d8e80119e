//! Players over a link of a constant rate, against closed forms.

use leobench_base::{BitRate, RngTree, SimDuration, SimTime};
use leobench_transport::Plugins;

use super::{Next, Player, Stall};
use crate::adaptation::AdaptationSpec;
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
        request: leobench_base::Bytes::new(400),
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
    let mut now = at(start);
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
            Next::Done => return (player, now),
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
