//! Average windows under periodic loss, against the response functions: one packet in 1/p is lost.

use super::flow::Flow;
use super::*;

/// Average window in packets over ten losses, once `settled` have passed.
pub fn average_window(
    model: &dyn CongestionModel,
    rtt: SimDuration,
    packets_per_loss: u64,
    settled: u64,
) -> f64 {
    let mut path = Flow::open(model, rtt);
    let lost = |number: u64| number % packets_per_loss == packets_per_loss - 1;
    let mut run = |packets: u64| {
        let (from, sent) = (path.now, path.sent);
        for _ in 0..packets {
            path.step_return(lost);
        }
        let round_trips = (path.now - from).as_secs_f64() / rtt.as_secs_f64();
        (path.sent - sent) as f64 / round_trips
    };
    run(packets_per_loss * settled);
    run(packets_per_loss * 10)
}

fn assert_within(tolerance: f64, average: f64, theory: f64) {
    let error = (average / theory - 1.0).abs();
    assert!(error < tolerance, "{average:.1} packets on average, {theory:.1} in theory");
}

/// Mathis et al. 1997, equation 3.
#[test]
fn newreno_averages_sqrt_three_halves_over_sqrt_p() {
    for packets_per_loss in [1_000, 10_000, 100_000] {
        let average =
            average_window(&newreno(), SimDuration::from_millis(50), packets_per_loss, 20);
        assert_within(0.05, average, (1.5 * packets_per_loss as f64).sqrt());
    }
}

/// RFC 9438 section 5.1, figure 5, where the cubic curve is above Reno's line; its model knows no fast convergence.
/// The window forgets its slow start over some hundred losses only.
#[test]
fn cubic_averages_what_its_response_function_says() {
    for (rtt, packets_per_loss) in [(100, 100_000), (200, 100_000), (200, 30_000)] {
        let model = CubicSpec { fast_convergence: false, ..cubic() };
        let average = average_window(&model, SimDuration::from_millis(rtt), packets_per_loss, 150);
        let rtt = rtt as f64 / 1e3;
        let (c, beta) = (0.4, 0.7);
        let factor = libm::pow(c * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25);
        let theory = factor * libm::pow(rtt * packets_per_loss as f64, 0.75);
        assert_within(0.1, average, theory);
    }
}

/// RFC 9438 section 4.3: the increase is chosen for the average window to be Reno's.
#[test]
fn cubic_on_a_short_path_averages_what_reno_does() {
    for packets_per_loss in [1_000, 5_000] {
        let average = average_window(&cubic(), SimDuration::from_millis(5), packets_per_loss, 50);
        assert_within(0.1, average, (1.5 * packets_per_loss as f64).sqrt());
    }
}
