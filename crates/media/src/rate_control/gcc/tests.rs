//! The parts of the algorithm, worked out by hand.

use leobench_base::{Bytes, SimDuration, SimTime};

use super::application_limits::ApplicationLimits;
use super::congestion_window::CongestionWindow;
use super::delay_based::DelayBased;
use super::detector::{Detector, Usage};
use super::groups::{Groups, Variation};
use super::probes::Probes;
use super::throughput::Throughput;
use super::trendline::Trendline;
use crate::rate_control::{Bounds, Fate};

const BOUNDS: Bounds = Bounds { least: 1e4, start: 1e6, most: 1e8 };

fn ms(value: f64) -> SimTime {
    SimTime::from_nanos((value * 1e6).round() as u64)
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6 * other.abs().max(1.0)
}

/// Packets sent 0 and 5 ms after the first are its group, one after 6 ms is not. Groups end with their last packets: between 5
/// and 25 ms there are 20 ms at the sender, and 22 between 35 and 57 ms at the receiver.
#[test]
fn groups_are_bursts_of_5_ms() {
    let mut groups = Groups::default();
    assert_eq!(groups.on_packet(ms(0.0), ms(30.0)), None);
    assert_eq!(groups.on_packet(ms(5.0), ms(35.0)), None);
    assert_eq!(groups.on_packet(ms(20.0), ms(52.0)), None, "one group is complete, none before");
    assert_eq!(groups.on_packet(ms(25.0), ms(57.0)), None);
    assert_eq!(groups.on_packet(ms(19.0), ms(58.0)), None, "sent before the group");
    let variation = groups.on_packet(ms(40.0), ms(70.0));
    assert_eq!(variation, Some(Variation { sent_ms: 20.0, arrival_ms: 22.0 }));
}

/// Packets sent 10 ms apart that arrive 1 ms apart were held up together: they are one group, of 100 ms at most.
#[test]
fn a_burst_of_arrivals_is_a_group() {
    let mut groups = Groups::default();
    for (sent, arrival) in [(0.0, 100.0), (10.0, 101.0), (20.0, 102.0), (30.0, 103.0)] {
        assert_eq!(groups.on_packet(ms(sent), ms(arrival)), None);
    }
    assert_eq!(groups.on_packet(ms(80.0), ms(150.0)), None);
    let variation = groups.on_packet(ms(130.0), ms(200.0));
    assert_eq!(variation, Some(Variation { sent_ms: 50.0, arrival_ms: 47.0 }));
}

/// Groups sent every 10 ms that arrive every 11 ms: the delay grows by 1/11 of the time, times 60 groups and a gain of 4.
#[test]
fn the_trend_is_the_slope_of_the_delay() {
    let mut trendline = Trendline::default();
    let variation = Variation { sent_ms: 10.0, arrival_ms: 11.0 };
    let trends: Vec<_> =
        (1..=300).map(|group| trendline.update(&variation, ms(11.0 * f64::from(group)))).collect();
    assert!(trends[..19].iter().all(|trend| *trend == 0.0), "no line through fewer than 20 groups");
    assert!(close(trends[299], 60.0 * 4.0 / 11.0), "{}", trends[299]);
}

/// With groups of 10 ms, the first above the threshold counts for 5 ms, and the second makes 15: more than 10.
#[test]
fn overuse_takes_two_groups_and_10_ms_above_the_threshold() {
    let mut detector = Detector::default();
    assert_eq!(detector.update(12.0, 10.0, ms(0.0)), Usage::Normal);
    assert_eq!(detector.update(20.0, 10.0, ms(10.0)), Usage::Normal);
    assert_eq!(detector.update(20.0, 10.0, ms(20.0)), Usage::Over);
    assert_eq!(detector.update(0.0, 10.0, ms(30.0)), Usage::Normal);
    assert_eq!(detector.update(-20.0, 10.0, ms(40.0)), Usage::Under);
    let mut falling = Detector::default();
    for (estimate, time) in [(25.0, 0.0), (22.0, 10.0), (20.0, 20.0)] {
        let usage = falling.update(estimate, 10.0, ms(time));
        assert_eq!(usage, Usage::Normal, "an estimate that falls is no overuse");
    }
}

/// Above: 12.5 + 0.0087 (20 - 12.5) 100 = 19.025. Below: 19.025 - 0.039 19.025 10 = 11.60525. An estimate of more than 15 above
/// leaves the threshold alone, and 6 is its least.
#[test]
fn the_threshold_follows_the_estimate() {
    let mut detector = Detector::default();
    detector.update(20.0, 10.0, ms(0.0));
    assert!(close(detector.threshold_ms(), 12.5));
    detector.update(20.0, 10.0, ms(250.0));
    assert!(close(detector.threshold_ms(), 19.025), "{}", detector.threshold_ms());
    detector.update(34.1, 10.0, ms(260.0));
    assert!(close(detector.threshold_ms(), 19.025));
    detector.update(0.0, 10.0, ms(270.0));
    assert!(close(detector.threshold_ms(), 11.605_25), "{}", detector.threshold_ms());
    for step in 0..50 {
        detector.update(0.0, 10.0, ms(280.0 + 10.0 * f64::from(step)));
    }
    assert!(close(detector.threshold_ms(), 6.0));
}

/// A packet of 1,000 B every 10 ms is 800 kbit/s, from the tenth on.
#[test]
fn the_arriving_rate_leaves_a_silence_out() {
    let mut throughput = Throughput::default();
    let mut arrive = |sent: f64, arrival: f64| {
        throughput.on_arrival(ms(sent), ms(arrival), Bytes::new(1_000));
        throughput.rate()
    };
    for packet in 0..50 {
        let sent = 10.0 * f64::from(packet);
        let rate = arrive(sent, sent + 30.0);
        assert_eq!(rate.is_some(), packet >= 9, "{packet}");
        assert!(rate.is_none_or(|rate| close(rate / 800_000.0, 1.0)), "{packet}: {rate:?}");
    }
    // 150 ms without a link: what was sent then is lost, and the rest arrives as before.
    for packet in 65..200 {
        let sent = 10.0 * f64::from(packet);
        let rate = arrive(sent, sent + 30.0).unwrap();
        // The time of leaving is not mended: at first 150 of 650 ms.
        assert!((615_000.0..=800_001.0).contains(&rate), "{packet}: {rate}");
    }
}

/// Packets that waited and arrive in a burst pass for no more than what was sent.
#[test]
fn the_arriving_rate_is_at_most_that_of_leaving() {
    let mut throughput = Throughput::default();
    for packet in 0..30 {
        let sent = ms(10.0 * f64::from(packet));
        throughput.on_arrival(sent, ms(500.0 + f64::from(packet)), Bytes::new(1_000));
    }
    assert!(close(throughput.rate().unwrap() / 800_000.0, 1.0));
}

fn update(rate: &mut DelayBased, time: f64, usage: Usage, arriving: f64) {
    rate.update(ms(time), usage, Some(arriving), Some(SimDuration::from_millis(50)));
}

/// Hold, and growth from the next report on: by 1 kbit/s at once, and then by a second of 8 %, and two halves of 1.08 ^ 0.5 each. The
/// rate stays below 1.5 times what arrives, and 10 kbit/s more.
#[test]
fn the_increase_is_8_percent_a_second() {
    let mut rate = DelayBased::new(BOUNDS);
    update(&mut rate, 0.0, Usage::Under, 1e6);
    assert!(close(rate.rate(), 1e6));
    update(&mut rate, 1_000.0, Usage::Normal, 1e6);
    assert!(close(rate.rate(), 1.001e6));
    update(&mut rate, 2_000.0, Usage::Normal, 1e6);
    assert!(close(rate.rate(), 1.08 * 1.001e6));
    update(&mut rate, 2_500.0, Usage::Normal, 1e6);
    update(&mut rate, 3_000.0, Usage::Normal, 1e6);
    assert!(close(rate.rate(), 1.08 * 1.08 * 1.001e6));
    update(&mut rate, 4_000.0, Usage::Normal, 0.8e6);
    assert!(close(rate.rate(), 1.21e6), "{}", rate.rate());
    update(&mut rate, 5_000.0, Usage::Normal, 0.5e6);
    assert!(close(rate.rate(), 1.21e6), "the limit does not lower it");
}

/// 0.85 of what arrives less 5 kbit/s; a round trip after the last change at the earliest, unless less than half of the rate arrives.
#[test]
fn overuse_lowers_the_rate_to_85_percent_of_what_arrives() {
    let mut rate = DelayBased::new(BOUNDS);
    update(&mut rate, 0.0, Usage::Over, 0.8e6);
    assert!(close(rate.rate(), 0.675e6));
    update(&mut rate, 49.0, Usage::Over, 0.7e6);
    assert!(close(rate.rate(), 0.675e6));
    update(&mut rate, 50.0, Usage::Over, 0.7e6);
    assert!(close(rate.rate(), 0.59e6));
    update(&mut rate, 60.0, Usage::Over, 0.2e6);
    assert!(close(rate.rate(), 0.165e6));
    update(&mut rate, 200.0, Usage::Over, 1e6);
    assert!(close(rate.rate(), 0.165e6), "a decrease never raises the rate");
    let mut grown = DelayBased::new(BOUNDS);
    update(&mut grown, 0.0, Usage::Normal, 1e6);
    update(&mut grown, 40.0, Usage::Over, 0.8e6);
    assert!(close(grown.rate(), 1.001e6), "it has just grown");
    update(&mut grown, 50.0, Usage::Over, 0.8e6);
    assert!(close(grown.rate(), 0.675e6));
}

/// More arrives than the rate, as if it had waited: 0.85 of the capacity of 1 Mbit/s that the first decrease has shown is still below
/// a rate that has grown to 0.9 Mbit/s.
#[test]
fn overuse_at_a_low_rate_returns_to_the_capacity() {
    let mut rate = DelayBased::new(BOUNDS);
    update(&mut rate, 0.0, Usage::Over, 1e6);
    rate.set(ms(100.0), 0.9e6, None);
    update(&mut rate, 200.0, Usage::Over, 1.1e6);
    assert!(close(rate.rate(), 0.85e6), "{}", rate.rate());
}

/// Near a known capacity, a packet is added in 300 ms, twice the response time of 150 ms: a quarter of it in 75 ms. At 845 kbit/s and 30
/// frames a second, a frame of 28,167 bits is three packets of 9,389 bits. The first report after a decrease adds nothing yet.
#[test]
fn the_increase_is_additive_near_the_capacity() {
    let mut rate = DelayBased::new(BOUNDS);
    update(&mut rate, 0.0, Usage::Over, 1e6);
    update(&mut rate, 100.0, Usage::Normal, 0.9e6);
    assert!(close(rate.rate(), 0.845e6), "{}", rate.rate());
    update(&mut rate, 175.0, Usage::Normal, 0.9e6);
    assert!(close(rate.rate(), 0.845e6 + 0.25 * 28_166.666_667 / 3.0), "{}", rate.rate());
    // Three deviations of sqrt(0.4 x 1000) = 20 kbit/s: above 1060 kbit/s, the capacity is forgotten.
    let before = rate.rate();
    update(&mut rate, 1_175.0, Usage::Normal, 1.061e6);
    assert!(close(rate.rate(), 1.08 * before), "{}", rate.rate());
}

/// Sends packets of 1,250 B at the rates that the probes want, over a path with this capacity in kbit/s, and returns the rates of the
/// bursts and the last result.
fn probed(capacity_kbps: f64, start: f64, most: f64) -> (Vec<f64>, Option<f64>) {
    let mut probes = Probes::new(Bounds { least: 3e4, start, most });
    let (mut now, mut free, mut number) = (0.0, 0.0_f64, 0);
    let (mut rates, mut result) = (Vec::new(), None);
    let mut fates = Vec::new();
    probes.on_sent(ms(0.0), 0, Bytes::new(1_250));
    while let Some(rate) = probes.padding() {
        if rates.last() != Some(&rate) {
            rates.push(rate);
        }
        number += 1;
        now += 10_000.0 / rate * 1e3;
        probes.on_sent(ms(now), number, Bytes::new(1_250));
        free = free.max(now) + 10_000.0 / capacity_kbps;
        let arrival = Some(ms(free + 20.0));
        let (sent, bytes) = (ms(now), Bytes::new(1_250));
        fates.push(Fate { number, sent, bytes, arrival, is_marked: false });
        if probes.padding().is_none() {
            result = probes.on_fates(&fates).or(result);
            number += 1;
            now += 50.0;
            free = free.max(now);
            probes.on_sent(ms(now), number, Bytes::new(1_250));
        }
    }
    (rates, result)
}

#[test]
fn bursts_double_until_the_path_carries_less() {
    // Twice 1.8 Mbit/s is more than 3: the result is 95 % of what arrives.
    let (rates, result) = probed(3_000.0, 300e3, 20e6);
    assert_eq!(rates[..2], [900e3, 1.8e6]);
    assert!(close(rates[2] / 3.6e6, 1.0), "{rates:?}");
    assert!(close(result.unwrap() / (0.95 * 3e6), 1.0), "{result:?}");
}

#[test]
fn bursts_go_no_further_than_the_highest_rate() {
    let (rates, result) = probed(100_000.0, 1e6, 4e6);
    assert_eq!(rates, [3e6, 4e6]);
    assert!(close(result.unwrap() / 4e6, 1.0), "{result:?}");
    assert_eq!(probed(100_000.0, 4e6, 4e6).0, [0.0; 0]);
}

/// A packet of 1,000 bytes that was sent at the start and arrived after 25 ms.
fn fate(number: u64) -> Fate {
    Fate {
        number,
        sent: ms(0.0),
        bytes: Bytes::new(1_000),
        arrival: Some(ms(25.0)),
        is_marked: false,
    }
}

/// Over a round trip of 50 ms, a target of 1.6 Mbit/s has a window of 200,000 B/s in 400 ms, 80,000 B. Each packet beyond it takes 5 %
/// of the share for frames: after one, one of 20 frames is dropped, after two one of 10 (9.75 %), and later every other one.
#[test]
fn a_full_window_drops_frames() {
    let mut window = CongestionWindow::new();
    let target = 1.6e6;
    window.on_sent(ms(0.0), 0, Bytes::new(1_000), target);
    window.on_fates(ms(50.0), &[fate(0)], target);
    for number in 1..=80 {
        window.on_sent(ms(50.0), number, Bytes::new(1_000), target);
        assert_eq!(window.drop_interval(target), None, "{number}");
    }
    for (number, interval) in [(81, 20), (82, 10), (83, 7)] {
        window.on_sent(ms(50.0), number, Bytes::new(1_000), target);
        assert_eq!(window.drop_interval(target), Some(interval), "{number}");
    }
    for number in 84..=100 {
        window.on_sent(ms(50.0), number, Bytes::new(1_000), target);
    }
    assert_eq!(window.drop_interval(target), Some(2), "0.95 ^ 20 is 36 %");
    // Of what the last report leaves, 8 packets are a tenth of the window.
    window.on_fates(ms(60.0), &[fate(90)], target);
    assert_eq!(window.drop_interval(target), Some(2), "an eighth of the window is left");
    window.on_fates(ms(60.0), &[fate(93)], target);
    assert_eq!(window.drop_interval(target), None);
}

/// The share that is left grows by 5 % with every packet, and every 25 ms.
#[test]
fn a_window_with_room_lets_frames_pass_again() {
    let mut window = CongestionWindow::new();
    window.on_sent(ms(0.0), 0, Bytes::new(1_000), 1.6e6);
    window.on_fates(ms(50.0), &[fate(0)], 1.6e6);
    for number in 1..=85 {
        window.on_sent(ms(50.0), number, Bytes::new(1_000), 1.6e6);
    }
    // 0.95 ^ 5 is 77 %, and one of four frames is dropped. 40 packets are in flight then.
    assert_eq!(window.drop_interval(1.6e6), Some(4));
    window.on_fates(ms(50.0), &[fate(45)], 1.6e6);
    assert_eq!(window.drop_interval(1.6e6), Some(5), "0.81 of the target");
    // In 100 ms, four times 5 % more: 0.81 x 1.05 ^ 4 is 99 %, and the packet makes it all.
    window.on_sent(ms(150.0), 86, Bytes::new(1_000), 1.6e6);
    assert_eq!(window.drop_interval(1.6e6), None);
}

/// 65 % of 1 Mbit/s are 650 bits/ms. A packet of 1,000 B every 20 ms uses 400 of them: the rest is more than 80 % of half a second's,
/// 260,000 bits, after the 53rd interval. After the 59th, 295,000 bits are left. Packets every 10 ms take 150 bits/ms of them: half of
/// the most, 162,500 bits, is left until the 88th.
#[test]
fn a_call_that_sends_little_is_limited_by_itself() {
    let mut limits = ApplicationLimits::default();
    let mut now = 0.0;
    let mut send = |after: f64, limits: &mut ApplicationLimits| {
        now += after;
        limits.on_sent(ms(now), Bytes::new(1_000), 1e6);
        limits.is_limited()
    };
    let limited: Vec<_> = (0..60).map(|_| send(20.0, &mut limits)).collect();
    assert_eq!(limited.iter().position(|is_limited| *is_limited), Some(53));
    let mut left = 0;
    while send(10.0, &mut limits) {
        left += 1;
    }
    assert_eq!(left, 88);
}
