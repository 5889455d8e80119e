//! The rules of RFC 8298, worked out by hand.

use leobench_base::{Bytes, SimDuration, SimTime};

use super::media_rate::MediaRate;
use super::queue_delay::QueueDelay;
use super::window::{Acknowledged, Event, Window};
use crate::rate_control::Bounds;

const BOUNDS: Bounds = Bounds { least: 1e5, start: 4e5, most: 2e6 };

fn ms(value: u64) -> SimTime {
    SimTime::from_nanos(value * 1_000_000)
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6 * other.abs().max(1.0)
}

fn news(bytes: u64, bytes_in_flight: u64, queue_ms: u64) -> Acknowledged {
    Acknowledged {
        bytes,
        bytes_in_flight,
        queue_delay: SimDuration::from_millis(queue_ms),
        round_trip: SimDuration::from_millis(50),
        is_lost: false,
        is_marked: false,
    }
}

fn lost() -> Acknowledged {
    Acknowledged { is_lost: true, ..news(1_000, 10_000, 0) }
}

/// A window of 20,000 B, grown by acknowledgements in fast increase.
fn grown() -> Window {
    let mut window = Window::default();
    window.on_flight(ms(0), 20_000);
    assert_eq!(window.on_acknowledged(ms(10), &news(17_000, 3_000, 0)), Event::None);
    assert!(close(window.bytes(), 20_000.0));
    window
}

/// The window grows by what is acknowledged as long as one and a half of what is in flight, with that, exceed it.
#[test]
fn fast_increase_adds_what_is_acknowledged() {
    let mut window = grown();
    window.on_acknowledged(ms(20), &news(2_000, 12_001, 0));
    assert!(close(window.bytes(), 22_000.0));
    window.on_acknowledged(ms(30), &news(1_000, 14_000, 0));
    assert!(close(window.bytes(), 22_000.0), "21,000 + 1,000 do not exceed it");
}

/// A loss takes a fifth, a mark a tenth, at most one of both in a round trip; 3,000 B are the least.
#[test]
fn losses_and_marks_lower_the_window_once_a_round_trip() {
    let mut window = grown();
    assert_eq!(window.on_acknowledged(ms(20), &lost()), Event::Loss);
    assert!(close(window.bytes(), 16_000.0));
    assert!(!window.in_fast_increase());
    assert_ne!(window.on_acknowledged(ms(69), &lost()), Event::Loss);
    let before = window.bytes();
    let marked = Acknowledged { is_marked: true, ..news(1_000, 10_000, 0) };
    assert_eq!(window.on_acknowledged(ms(70), &marked), Event::Mark);
    assert!(close(window.bytes(), 0.9 * before));
    for round in 2..40 {
        window.on_acknowledged(ms(20 + 50 * round), &lost());
    }
    assert!(close(window.bytes(), 3_000.0));
}

/// At 50 ms of 100, half of the target is off: 0.5 x 2,000 x 1,000 / 16,000 = 62.5 B more. At 150 ms the same less. With 9,000 B in
/// flight, a window of 16,000 is not used.
#[test]
fn the_window_moves_by_the_distance_from_the_target() {
    let mut window = grown();
    window.on_acknowledged(ms(20), &lost());
    window.on_acknowledged(ms(30), &news(2_000, 12_000, 50));
    assert!(close(window.bytes(), 16_062.5), "{}", window.bytes());
    window.on_acknowledged(ms(40), &news(2_000, 9_000, 50));
    assert!(close(window.bytes(), 16_062.5), "{}", window.bytes());
    let target = window.target();
    window.on_acknowledged(ms(50), &news(2_000, 9_000, 150));
    let change = (target - 0.15) / target * 2_000.0 * 1_000.0 / 16_062.5;
    assert!(close(window.bytes(), 16_062.5 + change) && change < 0.0, "{}", window.bytes());
}

/// The window is at most 1.1 of what was in flight in the last 5 seconds.
#[test]
fn the_window_is_limited_by_what_was_in_flight() {
    let mut window = grown();
    window.on_acknowledged(ms(20), &lost());
    window.on_flight(ms(5_001), 10_000);
    window.on_acknowledged(ms(5_010), &news(1_000, 9_000, 90));
    assert!(close(window.bytes(), 11_000.0), "{}", window.bytes());
}

/// A packet of slack is allowed up to the target, none above it.
#[test]
fn the_room_has_slack_below_the_target() {
    let mut window = grown();
    assert_eq!(window.room(15_000), 6_000);
    assert_eq!(window.room(30_000), 0);
    window.on_acknowledged(ms(20), &news(0, 15_000, 399));
    let slack = if window.target() >= 0.399 { 1_000 } else { 0 };
    assert_eq!(window.room(15_000), window.bytes() as u64 + slack - 15_000);
    assert_eq!(slack, 0);
}

/// A queue that grows steadily ends fast increase; five seconds without a trend resume it.
#[test]
fn a_rising_queue_ends_fast_increase() {
    let mut window = grown();
    let mut events = Vec::new();
    for step in 0..20 {
        window.on_flight(ms(20 + 10 * step), 20_000);
        events.push(window.on_acknowledged(ms(20 + 10 * step), &news(1_000, 20_000, 10 * step)));
    }
    assert!(events.contains(&Event::Delay), "{events:?}");
    assert!(!window.in_fast_increase());
    for step in 0..800 {
        window.on_flight(ms(300 + 10 * step), 20_000);
        window.on_acknowledged(ms(300 + 10 * step), &news(1_000, 20_000, 0));
    }
    assert!(window.in_fast_increase());
}

/// The queueing delay is what exceeds the smallest delay of ten minutes.
#[test]
fn the_base_is_the_smallest_delay_of_ten_minutes() {
    let mut delay = QueueDelay::default();
    let of = |value| SimDuration::from_millis(value);
    assert_eq!(delay.on_sample(of(40), ms(0)), of(0));
    assert_eq!(delay.on_sample(of(30), ms(10)), of(0));
    assert_eq!(delay.on_sample(of(50), ms(20)), of(20));
    for minute in 1..=9 {
        assert_eq!(delay.on_sample(of(50), ms(60_000 * minute)), of(20));
    }
    assert_eq!(delay.on_sample(of(50), ms(600_000)), of(0), "the first minute is forgotten");
}

/// A fifth of a second at a rate in bit/s: half of it produced, all of it sent.
fn run(rate: &mut MediaRate, bps: u64) {
    rate.on_produced(Bytes::new(bps / 40));
    rate.on_sent(ms(0), Bytes::new(bps / 40));
    rate.on_acknowledged(Bytes::new(bps / 40));
}

/// In fast increase, 0.2 s add 40 kbit/s: 200 kbit/s a second, which is half of 400 kbit/s. A loss takes a tenth at once.
#[test]
fn the_media_rate_ramps_up_and_falls() {
    let (window, mut rate) = (Window::default(), MediaRate::new(BOUNDS));
    rate.on_sent(ms(0), Bytes::ZERO);
    run(&mut rate, 1_000_000);
    rate.adjust(ms(199), Event::None, &window, Bytes::ZERO);
    assert!(close(rate.target(), 400_000.0));
    rate.adjust(ms(200), Event::None, &window, Bytes::ZERO);
    assert!(close(rate.target(), 440_000.0));
    rate.adjust(ms(210), Event::Loss, &window, Bytes::ZERO);
    assert!(close(rate.target(), 396_000.0));
    // 396 of 440 kbit/s: (4 x 0.1)^2 = 0.16, of which 0.2 is the least. 198 kbit/s a second x 0.2 s x 0.2 = 7.92 kbit/s.
    run(&mut rate, 1_000_000);
    rate.adjust(ms(400), Event::None, &window, Bytes::ZERO);
    assert!(close(rate.target(), 403_920.0), "{}", rate.target());
}

/// Outside of fast increase, a queue of 30,000 bits at the sender takes off its excess over the rate, and 5 % as it takes longer
/// than 20 ms: (400,000 + 40,000) x 0.95 with a change limited by the ramp.
#[test]
fn a_queue_at_the_sender_lowers_the_media_rate() {
    let (mut window, mut rate) = (grown(), MediaRate::new(BOUNDS));
    window.on_acknowledged(ms(20), &lost());
    rate.on_sent(ms(0), Bytes::ZERO);
    run(&mut rate, 1_000_000);
    rate.adjust(ms(200), Event::None, &window, Bytes::new(3_750));
    assert!(close(rate.target(), 440_000.0 * 0.95), "{}", rate.target());
    run(&mut rate, 300_000);
    rate.adjust(ms(400), Event::None, &window, Bytes::new(50_000));
    // 300,000 - 400,000 = -100,000.
    assert!(close(rate.target(), (418_000.0 - 100_000.0) * 0.95), "{}", rate.target());
}
