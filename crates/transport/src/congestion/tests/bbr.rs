//! Estimates that every version of BBR makes of a link.

use super::flow::{Flow, Link, PATH};
use super::*;

/// The estimates of a path.
pub trait Estimates: SinglePath {
    /// Bottleneck bandwidth in bits per second.
    fn bandwidth_bps(&self) -> f64;

    /// Propagation round-trip time.
    fn propagation(&self) -> Option<SimDuration>;
}

/// A version of BBR, built with its random streams.
pub type Version<C> = fn(&RngTree) -> PerPath<C>;

pub fn flow<C: Estimates>(version: Version<C>, link: Link, seed: u64) -> Flow<PerPath<C>> {
    let rng = RngTree::new(seed);
    Flow::with(Box::new(version(&rng)), link, true, &rng)
}

pub fn bandwidth<C: Estimates>(flow: &Flow<PerPath<C>>) -> f64 {
    flow.controller.get(PATH).unwrap().bandwidth_bps()
}

#[track_caller]
pub fn assert_within(share: f64, value: f64, expected: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < share, "{what}: {value} instead of {expected}");
}

/// Over steady links of several rates and round-trip times in milliseconds, of which a share of `least(millis)` is used.
pub fn estimates_settle<C: Estimates>(version: Version<C>, least: impl Fn(u64) -> f64) {
    for (rate, millis) in [(10_000_000, 40), (45_000_000, 40), (200_000_000, 20), (2_000_000, 600)]
    {
        let link = Link::new(rate, millis, 10_000);
        let mut flow = flow(version, link, 1);
        flow.run_until(30.0);
        let share = flow.utilisation_until(60.0);
        let rtt = flow.controller.get(PATH).unwrap().propagation().unwrap();
        println!("{rate} bit/s, {millis} ms: {:.0}, {rtt}, {share:.3} used", bandwidth(&flow));
        assert_within(0.05, bandwidth(&flow), rate as f64, "bandwidth");
        assert_within(0.05, rtt.as_secs_f64(), link.base_rtt().as_secs_f64(), "round-trip time");
        assert!(share > least(millis), "{share} used");
        assert_eq!(flow.lost, 0);
    }
}

/// The rate doubles in a round trip, so that log2 of the path's volume over the initial window are enough to reach it;
/// then come the round that measures it and three without growth, each as long as a window of 2.89 volumes makes it.
pub fn startup_takes_logarithmic_time<C: Estimates>(version: Version<C>) {
    for rate in [5_000_000, 50_000_000, 500_000_000] {
        let link = Link::new(rate, 100, 100_000);
        let mut flow = flow(version, link, 1);
        while flow.controller.phase(PATH) == "startup" {
            flow.step();
        }
        let rounds = libm::log2(link.bdp() / 10.0).max(0.0);
        let spent = (flow.now - SimTime::ZERO).as_secs_f64() / link.base_rtt().as_secs_f64();
        assert!(spent > rounds + 3.0 && spent < rounds + 4.0 * 2.89 + 2.0, "{spent} for {rounds}");
        assert_within(0.05, bandwidth(&flow), rate as f64, "bandwidth");
    }
}

/// Random losses: the probability of each, and the share of the link that is used at least.
pub fn losses_are_borne<C: Estimates>(version: Version<C>, cases: [(f64, f64); 3]) {
    for (loss, least) in cases {
        let link = Link { loss, ..Link::new(20_000_000, 50, 200) };
        let mut flow = flow(version, link, 2);
        flow.run_until(20.0);
        let share = flow.utilisation_until(80.0);
        println!("{loss} lost: {share:.3} used");
        assert!(share > least, "{share} used with {loss} lost");
    }
}
