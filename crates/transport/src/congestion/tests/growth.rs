//! How windows grow, against values worked out by hand.

use leobench_base::spec::Whole;

use super::flow::{DATAGRAM, Flow, PATH};
use super::*;

const RTT: SimDuration = SimDuration::from_millis(100);

/// An initial window of so many packets.
fn opening(packets: u32) -> Opening {
    Opening { initial_window: Some(Whole::nearest(packets)), ..Opening::default() }
}

#[test]
fn the_initial_window_is_that_of_the_rfc() {
    // RFC 9002 section 7.2: 10 packets, at most 14,720 bytes, at least two packets.
    for (datagram, window) in [(1_200, 12_000), (1_472, 14_720), (1_500, 14_720), (9_000, 18_000)] {
        for model in conformance::examples_where(|behaviour| behaviour.standard_initial_window) {
            let mut controller = model.model().build(&context());
            controller.open(PATH, SimTime::ZERO, Bytes::new(datagram));
            assert_eq!(controller.window(PATH), Bytes::new(window), "{}", model.kind());
        }
    }
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    for model in conformance::examples_where(|behaviour| behaviour.standard_slow_start) {
        let mut path = Flow::open(model.model(), RTT);
        let standard = model.model().behaviour().standard_initial_window;
        let initial = if standard { 12_000 } else { 4_800 };
        for doublings in 0..5 {
            assert_eq!(path.window(), initial << doublings, "{}", model.kind());
            assert_eq!(path.controller.phase(PATH), "slow-start");
            path.round();
        }
    }
}

#[test]
fn newreno_gains_a_packet_per_round_trip() {
    let mut path = Flow::open(&NewRenoSpec { opening: opening(200), ..newreno() }, RTT);
    path.lose();
    assert_eq!(path.window(), 100 * DATAGRAM.get());
    for round in 1..=50 {
        let before = path.packets();
        path.round();
        // The window grows while the round lasts: W + 1 - 1/(2W), and a fraction of a packet waits.
        let gained = path.packets() - before;
        assert!((0.97..=1.0).contains(&gained), "{gained} packets in round {round}");
        assert_eq!(path.controller.phase(PATH), "avoidance");
    }
}

#[test]
fn cubic_follows_its_curve_and_reaches_the_old_window_after_k() {
    // 1000 packets reduced to 700: K = cbrt(300 / 0.4) = 9.0856 s; W(t) = 0.4 (t - K)^3 + 1000.
    let mut path = Flow::open(&CubicSpec { opening: opening(1000), ..cubic() }, RTT);
    path.lose();
    assert_eq!(path.window(), 700 * DATAGRAM.get());
    path.round();
    let epoch = path.now;
    for (millis, window) in [
        (1_000, 788.5),
        (3_000, 909.9),
        (6_000, 988.2),
        (9_086, 1_000.0),
        (12_000, 1_009.9),
        (15_000, 1_082.8),
    ] {
        path.return_until(epoch + SimDuration::from_millis(millis));
        let error = (path.packets() - window).abs() / window;
        assert!(error < 0.01, "{} packets after {millis} ms, not {window}", path.packets());
    }
}

#[test]
fn cubic_grows_by_no_more_than_half_in_a_round_trip() {
    let mut path = Flow::open(&CubicSpec { c: 1e6, ..cubic() }, RTT);
    path.lose();
    path.round();
    for _ in 0..10 {
        let before = path.packets();
        path.round();
        // Compounded over the round, an increase limited to half becomes e^(1/2) at most.
        assert!(path.packets() / before <= 1.65, "{} to {}", before, path.packets());
    }
    assert!(path.packets() > 100.0);
}

#[test]
fn cubic_time_stands_still_while_the_window_is_unused() {
    let model = CubicSpec { opening: opening(1000), ..cubic() };
    let idle = |path: &mut Flow| path.idle(SimDuration::from_secs(1_000));
    let limited = |path: &mut Flow| {
        path.app_limited = true;
        path.return_until(path.now + SimDuration::from_secs(500));
        path.app_limited = false;
    };
    let after = |pause: &dyn Fn(&mut Flow)| {
        let mut path = Flow::open(&model, RTT);
        path.lose();
        path.return_until(path.now + SimDuration::from_secs(3));
        pause(&mut path);
        path.return_until(path.now + SimDuration::from_secs(3));
        path.packets()
    };
    let busy = after(&|_| {});
    for paused in [after(&idle), after(&limited)] {
        // A round trip here is worth four packets at most.
        assert!((paused - busy).abs() < 4.0, "{paused} packets instead of {busy}");
    }
}

#[test]
fn small_acknowledgements_add_up() {
    for model in [
        CongestionSpec::NewReno(NewRenoSpec { opening: opening(10_000_000), ..newreno() }),
        CongestionSpec::Cubic(CubicSpec { opening: opening(10_000_000), ..cubic() }),
    ] {
        let grown = |size: u64| {
            let mut path = Flow::open(model.model(), RTT);
            path.lose();
            let before = path.window();
            for number in 0..120_000_000 / size / 100 {
                let acked = Acked {
                    sent: path.now,
                    size: Bytes::new(size),
                    packet_number: number,
                    in_flight: Bytes::new(before),
                    ..acked(path.now + RTT, RTT)
                };
                path.controller.on_ack(PATH, &acked);
            }
            path.window() - before
        };
        let (small, large) = (grown(1), grown(1_200));
        assert!(small.abs_diff(large) <= 1 + large / 1_000, "{}: {small}, {large}", model.kind());
    }
}

/// RFC 9438 section 4.3: 3 (1 - 0.7) / (1 + 0.7) = 0.529 packets per round trip up to the window before the loss,
/// one beyond it. On a short path the curve is far below.
#[test]
fn cubic_on_a_short_path_grows_as_reno_does() {
    let mut path =
        Flow::open(&CubicSpec { opening: opening(100), ..cubic() }, SimDuration::from_millis(1));
    path.lose();
    assert_eq!(path.window(), 70 * DATAGRAM.get());
    path.round();
    for (until, slope) in [(98.0, 0.529), (130.0, 1.0)] {
        let (from, mut rounds) = (path.packets(), 0);
        while path.packets() < until {
            path.round();
            rounds += 1;
        }
        let gained = (path.packets() - from) / f64::from(rounds);
        assert!(
            (gained / slope - 1.0).abs() < 0.03,
            "{gained} packets per round trip, not {slope}"
        );
        while path.packets() < 100.5 {
            path.round();
        }
    }
}
