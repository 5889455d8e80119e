//! Worked out by hand, or by a program in Python that follows the equations of `loss_based_bwe_v2.cc`, written apart from this one.

use leobench_base::{Bytes, SimTime};

use super::channel::Channel;
use super::observations::Observations;
use super::{Libwebrtc, LossControl, Report, State};
use crate::rate_control::{Bounds, Fate};

const BOUNDS: Bounds = Bounds { least: 1e4, start: 1e6, most: 8e6 };

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6 * other.abs().max(1e-3)
}

/// Observations of so many bytes, and bytes lost, at a rate in bit/s.
fn observed(all: &[(f64, f64, f64)]) -> Observations {
    let mut observations = Observations::default();
    for (bytes, lost, rate) in all {
        observations.add(*bytes, *lost, *rate);
    }
    observations
}

/// Packets of so many bytes every 10 ms, reported five at a time, of which some are lost.
struct Call {
    control: Libwebrtc,
    packets: u64,
    delay_based: f64,
    arriving: Option<f64>,
}

impl Call {
    fn new(delay_based: f64, arriving: Option<f64>) -> Self {
        Self { control: Libwebrtc::new(BOUNDS), packets: 0, delay_based, arriving }
    }

    /// The rate after each of the next observations, of 250 ms each but the first of all, which needs 300.
    fn rates(&mut self, count: usize, bytes: u64, is_lost: fn(u64) -> bool) -> Vec<f64> {
        let mut rates = Vec::new();
        while rates.len() < count {
            let before = self.control.observations.count();
            let fates: Vec<_> = (self.packets..self.packets + 5)
                .map(|number| Fate {
                    number,
                    sent: SimTime::from_nanos(number * 10_000_000),
                    bytes: Bytes::new(bytes),
                    arrival: (!is_lost(number)).then_some(SimTime::ZERO),
                    is_marked: false,
                })
                .collect();
            self.packets += 5;
            self.control.on_report(&Report {
                now: SimTime::ZERO,
                fates: &fates,
                delay_based: self.delay_based,
                arriving: self.arriving,
                target: self.delay_based,
                is_application_limited: false,
            });
            if self.control.observations.count() > before {
                rates.push(self.control.rate);
            }
        }
        rates
    }
}

fn assert_rates(rates: &[f64], expected: &[f64]) {
    assert_eq!(rates.len(), expected.len());
    for (place, (rate, expected)) in rates.iter().zip(expected).enumerate() {
        assert!(close(*rate, *expected), "{place}: {rate} instead of {expected}");
    }
}

/// At twice its rate, a path loses half of what its inherent loss of 10 % leaves: 0.1 + 0.9 / 2.
#[test]
fn a_path_loses_what_is_beyond_its_rate() {
    let channel = Channel { rate: 1e6, inherent_loss: 0.1 };
    assert!(close(channel.loss(1e6), 0.1));
    assert!(close(channel.loss(2e6), 0.55));
}

/// A tenth of 100 kB is lost. At an inherent loss of 1 %, the likelihood has the derivatives 10/0.01 - 90/0.99 = 909.0909 and
/// -(10/0.0001 + 90/0.9801) = -100,091.83: three quarters of a step lead to 0.01 + 0.75 x 909.0909 / 100,091.83 = 0.01681193.
#[test]
fn newtons_step_fits_the_inherent_loss() {
    let channel = Channel { rate: 1e6, inherent_loss: 0.01 };
    let fitted = channel.fitted(&observed(&[(100e3, 10e3, 1e6)]));
    assert!(close(fitted.inherent_loss, 0.016_811_927), "{fitted:?}");
    assert!(close(fitted.rate, 1e6));
}

/// At most 5 % and 100 kbit/s over the rate: 15 % at 1 Mbit/s, 7.5 % at 4 Mbit/s. At least 0.1 %.
#[test]
fn the_inherent_loss_is_bounded() {
    for (rate, lost, bound) in [(1e6, 0.9, 0.15), (4e6, 0.9, 0.075), (1e6, 0.0, 0.001)] {
        let observations = observed(&[(100e3, lost * 100e3, 1e5)]);
        let mut channel = Channel { rate, inherent_loss: 0.01 };
        for _ in 0..100 {
            channel = channel.fitted(&observations);
        }
        assert!(close(channel.inherent_loss, bound), "{channel:?}");
    }
}

/// 1.2 Mbit/s were sent, of which a fifth was lost; at this loss, no rate is preferred for itself. The program has the inherent loss
/// and the objective of each candidate: the best is 0.95 Mbit/s, at which 1 - 0.999 x 0.95 / 1.2 = 20.9 % would be lost.
#[test]
fn the_best_path_explains_the_losses() {
    let observations = observed(&[(37_500.0, 7_500.0, 1.2e6); 4]);
    for (rate, inherent_loss, objective) in [
        (0.9e6, 0.001, -65.462_116_7),
        (0.95e6, 0.001, -64.565_966_1),
        (1.0e6, 0.026_853_112_8, -64.582_906_4),
        (1.02e6, 0.035_669_828_8, -64.697_589_6),
        (1.2e6, 0.017_194_033_7, -106.589_237_1),
    ] {
        let fitted = Channel { rate, inherent_loss: 0.01 }.fitted(&observations);
        assert!(close(fitted.inherent_loss, inherent_loss), "{fitted:?}");
        let found = fitted.objective(&observations) / 1e3;
        assert!(close(found, objective), "{found} instead of {objective}");
    }
}

/// Each weighs 0.9 of the next. With four, the ones with the most and the least loss do not count: 0.9 ^ 3 x 8,000 B and 500 B of
/// 0.9 ^ 3 x 40,000 B and 10,000 B. If the first of them was sent at twice the median rate, all count.
#[test]
fn the_mean_loss_leaves_extremes_out() {
    let three = [(40e3, 8e3, 1e6), (20e3, 0.0, 1e6), (30e3, 15e3, 1e6)];
    let all = (0.81 * 8e3 + 15e3) / (0.81 * 40e3 + 0.9 * 20e3 + 30e3);
    assert!(close(observed(&three).loss(), all));
    let last = (10e3, 0.5e3, 1e6);
    let four = observed(&[&three[..], &[last]].concat());
    assert!(close(four.loss(), (0.729 * 8e3 + 500.0) / (0.729 * 40e3 + 10e3)), "{}", four.loss());
    let burst = observed(&[three[0], three[1], (30e3, 15e3, 2e6), last]);
    let all = (0.729 * 8e3 + 0.9 * 15e3 + 500.0) / (0.729 * 40e3 + 0.81 * 20e3 + 0.9 * 30e3 + 10e3);
    assert!(close(burst.loss(), all), "{}", burst.loss());
}

/// A packet that was reported missing and then arrives within the same observation is not lost.
#[test]
fn packets_that_are_late_are_not_lost() {
    let mut observations = Observations::default();
    let fate = |number: u64, arrives: bool| Fate {
        number,
        sent: SimTime::from_nanos(number * 100_000_000),
        bytes: Bytes::new(1_000),
        arrival: arrives.then_some(SimTime::ZERO),
        is_marked: false,
    };
    assert_eq!(observations.on_fates(&[fate(0, true), fate(1, false), fate(2, false)]), None);
    let last = fate(3, true);
    assert_eq!(observations.on_fates(&[fate(1, true), last]), Some(last.sent));
    let (_, only) = observations.weighted().next().unwrap();
    // Five reports of 1,000 B, sent in 300 ms.
    assert!(close(only.bytes, 5_000.0) && close(only.lost, 1_000.0), "{only:?}");
    assert!(close(only.rate, 40_000.0 / 0.3), "{only:?}");
}

/// Nothing is lost: the delay-based rate passes, and limits nothing before the third observation.
#[test]
fn without_losses_the_delay_based_rate_passes() {
    let mut call = Call::new(2e6, Some(2e6));
    for (observations, expected) in [(1, f64::INFINITY), (2, f64::INFINITY), (3, 2e6)] {
        call.rates(1, 2_500, |_| false);
        assert_eq!(call.control.observations.count(), observations);
        assert!((call.control.rate() - expected).abs() < 1.0 || expected.is_infinite());
    }
    for _ in 0..50 {
        call.delay_based *= 1.02;
        call.arriving = Some(call.delay_based);
        let rates = call.rates(1, 2_500, |_| false);
        assert_rates(&rates, &[call.delay_based]);
        assert_eq!(call.control.state, State::DelayBased);
    }
}

/// A tenth is lost at 4 Mbit/s, more than the inherent loss of 7.5 % explains. At once, the rate is at most 100 kbit/s over what is beyond
/// 5 %: 2 Mbit/s. Then the mean without the extremes is 10.07 %: 1.973 Mbit/s by the program, and so on.
#[test]
fn a_loss_limits_the_rate_at_once() {
    let mut call = Call::new(4e6, None);
    let rates = call.rates(5, 5_000, |number| number % 10 == 9);
    assert_rates(&rates, &[2e6, 2e6, 1_972_527.472_5, 1_972_527.472_5, 1_970_667.175_1]);
    assert_eq!(call.control.state, State::Decreasing);
}

/// At 1 Mbit/s, an inherent loss of up to 15 % explains the tenth, once some steps have found it: after one step down, the rate stays,
/// and from the 18th observation on, by the program, losses limit nothing.
#[test]
fn random_losses_are_taken_for_what_they_are() {
    let mut call = Call::new(1e6, None);
    let rates = call.rates(20, 1_250, |number| number % 10 == 9);
    assert_rates(&rates, &[[0.95e6; 17].as_slice(), &[1e6; 3]].concat());
    assert_eq!(call.control.state, State::DelayBased);
}

/// Of 2 Mbit/s, 1.4 arrive: at a loss of 30 %, the rate would be 0.4 Mbit/s, but falls no lower than what arrives. When nothing is lost
/// any more, it is held until the mean loss is down to the inherent loss, 13 observations later by the program. Then it grows to 1.2
/// times what arrives, and no further. After 2 s without growth it counts as decreasing again, by the 27th observation.
#[test]
fn the_rate_is_held_and_then_follows_what_arrives() {
    let mut call = Call::new(2e6, Some(1.4e6));
    let mut rates = call.rates(4, 2_500, |number| number % 10 > 6);
    rates.extend(call.rates(13, 1_750, |_| false));
    assert_rates(&rates, &[1.4e6; 17]);
    assert_eq!(call.control.state, State::Decreasing);
    assert_rates(&call.rates(9, 1_750, |_| false), &[1.68e6; 9]);
    assert_eq!(call.control.state, State::Increasing);
    assert_rates(&call.rates(1, 1_750, |_| false), &[1.68e6]);
    assert_eq!(call.control.state, State::Decreasing);
}

/// A quarter is lost, and what arrives is unknown. When nothing is lost any more, the rate may grow by 30 % in 300 ms, and then
/// again, until it reaches the delay-based rate: the limit moves every second observation of 250 ms.
#[test]
fn a_rate_grows_by_30_percent_at_most() {
    let mut call = Call::new(1e6, None);
    call.rates(6, 1_250, |number| number % 4 == 0);
    call.rates(14, 500, |_| false);
    let held = 461_538.461_5;
    assert_rates(&[call.control.rate], &[held]);
    let rates = call.rates(5, 500, |_| false);
    assert_rates(&rates, &[1.3 * held, 780_000.0, 780_000.0, 1e6, 1e6]);
    assert_eq!(call.control.state, State::DelayBased);
}
