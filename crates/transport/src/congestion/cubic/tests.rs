use leobench_base::SimDuration;

use super::*;
use crate::PathId;
use crate::congestion::Rtt;
use crate::congestion::tests::{acked, context};
use crate::congestion::{Congestion, CongestionModel};

/// Packets of one byte, so that windows read as packets.
fn curve(cwnd_epoch: f64, w_max: Option<f64>) -> Curve {
    Curve::new(0.4, cwnd_epoch, w_max)
}

fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-3, "{value} instead of {expected}");
}

#[test]
fn the_curve_is_that_of_the_rfc() {
    // W_max = 100, cwnd_epoch = 70: K = cbrt(30 / 0.4) = cbrt(75) = 4.21716 s; W(t) = 0.4 (t - K)^3 + 100.
    let curve = curve(70.0, Some(100.0));
    assert_near(curve.k, 4.217_16);
    for (t, window) in [
        (0.0, 70.0),
        (1.0, 86.680),
        (2.0, 95.641),
        (4.217_16, 100.0),
        (6.0, 102.267),
        (8.434_33, 130.0),
    ] {
        assert_near(curve.window(t), window);
    }
}

#[test]
fn a_curve_without_a_higher_aim_rises_at_once() {
    for w_max in [None, Some(70.0), Some(50.0)] {
        let curve = curve(70.0, w_max);
        assert_near(curve.window(0.0), 70.0);
        assert_near(curve.window(5.0), 120.0);
    }
}

#[test]
fn fast_convergence_lowers_the_aim_of_a_shrinking_window() {
    for (fast_convergence, w_max) in [(true, 68.0), (false, 80.0)] {
        let spec = CubicSpec { fast_convergence, ..CubicSpec::default() };
        let mut cubic = Cubic::new(&spec, Bytes::new(1));
        assert_near(cubic.reduced(100.0, &()), 70.0);
        assert_eq!(cubic.w_max, Some(100.0));
        assert_near(cubic.reduced(80.0, &()), 56.0);
        assert_near(cubic.w_max.unwrap(), w_max);
    }
}

/// RFC 9438 section 4.4: (target - cwnd) / cwnd for a packet, the target a round trip ahead on the curve.
#[test]
fn an_acknowledgement_aims_a_round_trip_ahead() {
    let rtt = SimDuration::from_millis(100);
    let ack = |millis| Acked {
        sent: SimTime::ZERO,
        in_flight: Bytes::new(700),
        rtt: Rtt { latest: rtt * 3, smoothed: rtt, min: rtt / 2 },
        ..acked(SimTime::ZERO + SimDuration::from_millis(millis), rtt)
    };
    let mut cubic = Cubic::new(&CubicSpec::default(), Bytes::new(1));
    assert_near(cubic.reduced(1_000.0, &()), 700.0);
    // The curve starts where Reno's line does, which is ahead at that instant: 0.529 / 700.
    assert!((cubic.growth(700.0, &ack(5_000), &()) - 0.000_756).abs() < 1e-6);
    // K = cbrt(300 / 0.4) = 9.0856 s; W(1.1 s) = 796.304.
    assert!((cubic.growth(780.0, &ack(6_000), &()) - 16.304 / 780.0).abs() < 1e-5);
    // At and beyond the target the window waits for the curve.
    assert_near(cubic.growth(800.0, &ack(6_000), &()), 0.0);
}

/// RFC 9438 section 4.3, with a curve so flat that Reno's window leads: packets per round trip before and after the window of the
/// last reduction is reached again.
#[test]
fn the_reno_friendly_window_has_two_slopes_or_one() {
    let slope = 3.0 * (1.0 - 0.7) / (1.0 + 0.7);
    for (full_reno_slope, recovered) in [(true, 1.0), (false, slope)] {
        let spec = CubicSpec { full_reno_slope, c: 1e-9, ..CubicSpec::default() };
        let mut cubic = Cubic::new(&spec, Bytes::new(1));
        let mut window = cubic.reduced(100.0, &());
        let ack = acked(SimTime::ZERO, SimDuration::from_millis(100));
        let mut after_a_round_trip = |window: &mut f64| {
            let before = *window;
            for _ in 0..before.round() as u64 {
                *window += cubic.growth(*window, &ack, &());
            }
            *window - before
        };
        assert!((after_a_round_trip(&mut window) - slope).abs() < 0.01);
        while window < 100.0 {
            after_a_round_trip(&mut window);
        }
        let growth = after_a_round_trip(&mut window);
        assert!((growth - recovered).abs() < 0.01, "{growth}");
    }
}

/// `W_max` = 10 packets, K = cbrt(3 / 0.4) = 1.96 s: at 11 s the curve of before would be at 0.4 (10 - K)^3 + 10 = 218 packets.
#[test]
fn the_silence_before_a_spurious_timeout_is_no_time_of_growth() {
    const PATH: PathId = PathId(0);
    const PACKET: Bytes = Bytes::new(1_000);
    let at = |millis| SimTime::ZERO + SimDuration::from_millis(millis);
    let ack = |millis| Acked { size: PACKET, ..acked(at(millis), SimDuration::from_millis(100)) };
    let mut cubic = CubicSpec::default().build(&context());
    cubic.open(PATH, SimTime::ZERO, PACKET);
    cubic.on_loss(PATH, &Congestion::new(at(100), at(0), PACKET, false));
    cubic.on_ack(PATH, &ack(1_000));
    let before = cubic.window(PATH);
    cubic.on_loss(PATH, &Congestion::new(at(11_000), at(10_900), before, true));
    assert_eq!(cubic.window(PATH), PACKET + PACKET);
    cubic.on_spurious_loss(PATH);
    assert_eq!(cubic.window(PATH), before);
    for packet in 0..7 {
        cubic.on_ack(PATH, &ack(11_000 + 10 * packet));
    }
    let after = cubic.window(PATH);
    assert!(before < after && after < before + PACKET, "{before} -> {after}");
}
