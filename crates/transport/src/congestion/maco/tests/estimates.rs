//! Algorithm 1 and equation 17, over a path with a queue.

use leobench_base::{RngTree, SimDuration, SimTime};

use super::{ms, report, tell};
use crate::congestion::CongestionModel;
use crate::congestion::maco::bdp::{Deviation, MovingMean};
use crate::congestion::maco::{Capacity, DelayEstimate, MacoSpec, RateCounts};
use crate::congestion::tests::flow::{Cause, Flow, Link, PATH};

/// A mean over a window that slides, of a quantity that changes at random, against the sum of all its pieces. Within an
/// eighth of the window the integral is straight, so an error of a sixteenth of the quantity's range may arise at the
/// window's start.
#[test]
fn the_moving_mean_is_the_integral_over_a_round_trip() {
    let mut rng = RngTree::new(2).rng();
    let (mut mean, mut pieces) = (MovingMean::default(), Vec::new());
    let (mut now, span) = (SimTime::ZERO, ms(100));
    let mut largest: f64 = 0.0;
    for _ in 0..20_000 {
        now += SimDuration::from_micros(100 + rng.below(4_000));
        let value = 50.0 + rng.below(51) as f64;
        pieces.push((now, value));
        mean.update(now, value, span);
        if now < SimTime::ZERO + span {
            continue;
        }
        let start = now - span;
        let exact: f64 = pieces
            .windows(2)
            .map(|pair| {
                let from = pair[0].0.max(start);
                pair[1].0.saturating_since(from).as_secs_f64() * pair[0].1
            })
            .sum::<f64>()
            / span.as_secs_f64();
        pieces.retain(|(then, _)| *then + span * 2 > now);
        largest = largest.max((mean.get(span).unwrap() - exact).abs());
    }
    println!("largest error of the mean: {largest:.2} of a range of 50");
    assert!(largest < 50.0 / 16.0, "{largest}");
    let mut steps = MovingMean::default();
    steps.update(SimTime::ZERO, 10.0, span);
    assert_eq!(steps.get(span), Some(10.0));
    steps.update(SimTime::ZERO + ms(50), 20.0, span);
    assert_eq!(steps.get(span), Some(10.0), "20 lasts no time yet");
    steps.update(SimTime::ZERO + ms(100), 30.0, span);
    assert!((steps.get(span).unwrap() - 15.0).abs() < 1e-9);
    assert!((steps.get(ms(50)).unwrap() - 20.0).abs() < 1e-9);
}

/// Half of the values one, half minus one: the deviation is one.
#[test]
fn the_deviation_is_that_of_the_recent_past() {
    let mut deviation = Deviation::default();
    for index in 0..1_000 {
        deviation.add(if index < 500 { 100.0 } else { f64::from(index % 2) * 2.0 - 1.0 }, 0.05);
    }
    assert!((deviation.get() - 1.0).abs() < 0.05, "{}", deviation.get());
}

/// A flow alone on its access link of 20 Mbit/s, with a queue of half a product: how many losses at the full queue reduced the
/// window, of how many. The link layer's rate includes headers of 28 bytes for each packet.
fn alone(spec: &MacoSpec, seconds: f64) -> (Flow, [usize; 2]) {
    let link = Link::new(20_000_000, 50, 52);
    let mut flow = Flow::new(spec, link, true, 3);
    let wire = 20.0 * 1_228.0 / 1_200.0;
    let mut next = 0.0;
    while next < seconds {
        if spec.store {
            tell(&mut flow, wire);
        }
        next += 0.1;
        flow.run_until(next);
    }
    let counted = flow.told.iter().filter(|loss| loss.reduced).count();
    let all = flow.told.len();
    assert!(flow.told.iter().all(|loss| loss.cause == Cause::Queue) && all > 0);
    (flow, [counted, all])
}

/// With headers the rate of arrival is the link's, and never below: no loss counts, and only the ceiling holds the window.
/// Payload is 2.3 % less, so the first condition always holds, and losses at the full queue are congestion.
#[test]
fn what_the_rate_counts_decides_whether_any_loss_is_congestion() {
    let spec = |rate_counts| MacoSpec { rate_counts, ..MacoSpec::default() };
    let (flow, [counted, all]) = alone(&spec(RateCounts::Payload), 60.0);
    println!(
        "payload: {counted} of {all} losses reduced the window; {:.0} packets",
        flow.packets()
    );
    assert!(counted > 20, "{counted} of {all}");
    assert!(flow.packets() < 200.0, "{} packets", flow.packets());
    let (flow, [counted, all]) = alone(&spec(RateCounts::Headers), 60.0);
    println!(
        "headers: {counted} of {all} losses reduced the window; {:.0} packets",
        flow.packets()
    );
    assert_eq!(counted, 0, "of {all}");
    // Eight products of 105 packets, and what a round trip adds.
    assert!((800.0..900.0).contains(&flow.packets()), "{} packets", flow.packets());
}

/// Without reports, and by the measured rate: losses at the full queue count, the link is used, and the window stays near
/// what fits.
#[test]
fn it_works_without_reports_and_by_the_measured_rate() {
    for (name, spec) in [
        ("no store", MacoSpec { store: false, ..MacoSpec::default() }),
        ("no filter either", MacoSpec { store: false, filter: false, ..MacoSpec::default() }),
        ("minimum", MacoSpec { capacity: Capacity::Minimum, ..MacoSpec::default() }),
    ] {
        let (mut flow, [counted, all]) = alone(&spec, 20.0);
        let used = flow.utilisation_until(60.0);
        println!(
            "{name}: {counted} of {all} losses counted, {:.0} packets, {:.1} % used",
            flow.packets(),
            100.0 * used
        );
        assert!(counted > 5 && used > 0.9, "{name}: {counted} of {all}, {used}");
        assert!(flow.packets() < 250.0, "{name}: {} packets", flow.packets());
    }
}

/// With a mean the queue becomes propagation, and fewer losses count.
#[test]
fn a_mean_of_round_trips_takes_the_queue_for_propagation() {
    let share = |delay_estimate| {
        let spec = MacoSpec { delay_estimate, ..MacoSpec::default() };
        let (_, [counted, all]) = alone(&spec, 60.0);
        println!("{}: {counted} of {all} losses reduced the window", delay_estimate.word());
        counted as f64 / all as f64
    };
    assert!(share(DelayEstimate::Ewma) < share(DelayEstimate::Minimum));
}

/// Reports at random, of which most are nonsense, over a path that loses some packets: the flow never stops, and the window
/// stays below the ceiling.
#[test]
fn wrong_reports_neither_stall_a_flow_nor_blow_up_its_window() {
    for seed in 0..40 {
        let mut rng = RngTree::new(seed).child("reports").rng();
        let spec = MacoSpec {
            quick_start: rng.below(3) > 0,
            filter: rng.below(3) > 0,
            ..MacoSpec::default()
        };
        let link = Link { loss: 1e-3, ..Link::new(20_000_000, 50, 52) };
        let mut flow = Flow::new(&spec as &dyn CongestionModel, link, true, seed);
        for tenth in 1..=300 {
            let before = flow.delivered;
            let mut told = report(PATH, rng.below(2) as usize, flow.now, 20.0);
            let service = told.service.as_mut().unwrap();
            service.range_m =
                [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e15, 550e3][rng.below(6) as usize];
            let rates = [0, 1, 1_000, 20_000_000, u64::MAX];
            service.rate = leobench_base::BitRate::from_bps(rates[rng.below(5) as usize]);
            service.satellite = (rng.below(3) as usize).into();
            if rng.below(4) == 0 {
                told.service = None;
            }
            if rng.below(3) > 0 {
                flow.controller.on_access(PATH, &told);
            }
            flow.run_until(f64::from(tenth) / 10.0);
            assert!(flow.delivered > before, "seed {seed}: a stall at {}", flow.now);
            assert!(flow.packets() < 900.0, "seed {seed}: {} packets", flow.packets());
        }
    }
}
