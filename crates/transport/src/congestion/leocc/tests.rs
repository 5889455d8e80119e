use leobench_base::RngTree;

use super::super::PerPath;
use super::super::bbr::Bbr;
use super::super::tests::at;
use super::super::tests::bbr::{
    Estimates, assert_within, bandwidth, estimates_settle, flow, losses_are_borne,
    startup_takes_logarithmic_time,
};
use super::super::tests::flow::{Flow, Link, PATH};
use super::*;

impl Estimates for Bbr<Leocc> {
    fn bandwidth_bps(&self) -> f64 {
        self.bandwidth().bps()
    }

    fn propagation(&self) -> Option<SimDuration> {
        self.min_rtt()
    }
}

fn version(rng: &RngTree) -> PerPath<Bbr<Leocc>> {
    let spec = LeoccSpec::default();
    bbr::per_path_with(&spec.bbr(), rng, |now| Leocc::new(LeoccSpec::default(), now))
}

#[test]
fn estimates_settle_at_the_rate_and_round_trip_of_a_steady_link() {
    // ProbeRTT and a new Startup every 15 s; over 600 ms each takes seconds.
    estimates_settle(version, |millis| if millis > 200 { 0.8 } else { 0.95 });
}

#[test]
fn startup_finds_the_rate_in_logarithmic_time() {
    startup_takes_logarithmic_time(version);
}

#[test]
fn random_losses_cost_little() {
    losses_are_borne(version, [(0.002, 0.95), (0.005, 0.94), (0.05, 0.85)]);
}

/// `ProbeRTT` begins 100 ms before each reconfiguration of the grid, lasts 200 ms and a round trip or two, and a new Startup
/// follows. Nothing else interrupts `ProbeBW`.
#[test]
fn every_reconfiguration_brings_probe_rtt_and_a_new_startup() {
    let mut flow = flow(version, Link::new(45_000_000, 40, 10_000), 1);
    flow.run_until(60.0);
    let names: Vec<_> = flow.phases.iter().map(|(_, phase)| *phase).collect();
    assert_eq!(names[..3], ["startup", "drain", "probe-bw"]);
    let cycles: Vec<_> = flow.phases[3..].chunks(4).collect();
    assert_eq!(cycles.len(), 4);
    for (cycle, reconfiguration) in cycles.iter().zip([12.0, 27.0, 42.0, 57.0]) {
        let names: Vec<_> = cycle.iter().map(|(_, phase)| *phase).collect();
        assert_eq!(names, ["probe-rtt", "startup", "drain", "probe-bw"]);
        let times: Vec<_> = cycle.iter().map(|(at, _)| at.as_secs_f64()).collect();
        assert!((0.0..0.001).contains(&(times[0] - (reconfiguration - 0.1))), "{}", times[0]);
        let probe = times[1] - times[0];
        assert!((0.2..0.2 + 3.0 * 0.0402).contains(&probe), "ProbeRTT for {probe} s");
    }
}

/// A path that is 30 ms longer after the reconfiguration: LeoCC knows at once, BBR after the ten seconds of its filter.
#[test]
fn a_longer_path_is_known_at_once() {
    let settled = |mut flow: Flow<PerPath<Bbr<Leocc>>>| {
        flow.run_until(11.95);
        flow.link.rtt = SimDuration::from_millis(80);
        flow.run_until(13.0);
        flow
    };
    let leocc = settled(flow(version, Link::new(20_000_000, 50, 10_000), 1));
    let propagation = leocc.controller.get(PATH).unwrap().propagation().unwrap();
    assert_within(0.02, propagation.as_secs_f64(), 0.0805, "round-trip time");
    assert_within(0.05, bandwidth(&leocc), 20e6, "bandwidth");

    let mut bbr = Flow::new(&BbrSpec::default(), Link::new(20_000_000, 50, 10_000), true, 1);
    bbr.run_until(11.95);
    bbr.link.rtt = SimDuration::from_millis(80);
    bbr.run_until(13.0);
    // 1.6 volumes of the longer path, where BBR's window is two of the shorter one.
    assert!(leocc.window() as f64 > 1.3 * bbr.window() as f64, "{}", bbr.window());
}

/// Without reconfigurations and queues LeoCC is BBR without a policer, whose minimum lasts 20 s.
#[test]
fn without_reconfigurations_it_is_bbr() {
    let leocc = LeoccSpec {
        every: SimDuration::from_secs(1_000),
        offset: SimDuration::from_secs(900),
        min_rtt_fluctuation: SimDuration::from_secs(10),
        probe_rtt_share: 0.0,
        ..LeoccSpec::default()
    };
    let plain = BbrSpec {
        rtt_window: SimDuration::from_secs(20),
        policer_detection: false,
        ..BbrSpec::default()
    };
    let link = Link { loss: 0.002, ..Link::new(20_000_000, 50, 200) };
    let mut ours = Flow::new(&leocc, link, true, 5);
    let mut other = Flow::new(&plain, link, true, 5);
    while ours.now < at(90_000) {
        ours.step();
        other.step();
        assert_eq!((ours.now, ours.window()), (other.now, other.window()), "{}", ours.now);
    }
    let probes = ours.phases.iter().filter(|(_, phase)| *phase == "probe-rtt").count();
    assert!(probes > 0, "no ProbeRTT to compare");
}

fn sample(millis: u64, rate: f64, rtt: u64) -> RateSample {
    RateSample {
        now: at(millis),
        rate: Some(DeliveryRate::from_bps(rate)),
        delivered: 0,
        prior_delivered: 0,
        app_limited: false,
        rtt: Some(SimDuration::from_millis(rtt)),
        newly_acked: 0,
        newly_lost: 0,
        prior_in_flight: 0,
        in_flight: 0,
        tx_in_flight: 0,
        lost: 0,
    }
}

const CRUISE: Mode = Mode::ProbeBandwidth(2);

/// The largest sample of each round in `ProbeBW`, filtered by a recursion in Joseph's form, (1 - K)^2 P + K^2 R, from P = 25 with
/// Q = R = 4.
#[test]
fn the_bandwidth_is_filtered_once_per_round() {
    let mut leocc = Leocc::new(LeoccSpec::default(), SimTime::ZERO);
    let (mut x, mut p) = (0.0, 25.0);
    for round in 0..40_u32 {
        let largest = 20e6 + f64::from(round * 7_919 % 13) * 1e6;
        let mode = if round == 0 { Mode::Drain } else { CRUISE };
        leocc.on_sample(&sample(0, largest / 2.0, 50), true, mode);
        leocc.on_sample(&sample(0, largest, 50), false, CRUISE);
        leocc.on_sample(&sample(0, largest / 3.0, 50), false, CRUISE);
        // The round counts when the next begins.
        let filtered = leocc.bandwidth.estimate * 8.0;
        assert!((filtered - x).abs() < 1e-3, "{filtered} instead of {x}");
        let gain: f64 = (p + 4.0) / (p + 4.0 + 4.0);
        x = (1.0 - gain) * x + gain * largest;
        p = (1.0 - gain) * (1.0 - gain) * (p + 4.0) + gain * gain * 4.0;
    }
    let before = leocc.bandwidth.estimate;
    leocc.on_sample(&sample(0, 90e6, 50), true, Mode::Startup);
    assert!((leocc.bandwidth.estimate - before).abs() < 1e-9, "not in Startup");
}

/// Ten milliseconds above the minimum of 50 ms, in `ProbeBW`, and with no reconfiguration under way.
#[test]
fn the_filtered_bandwidth_is_used_while_a_queue_builds() {
    let minimum = Some(SimDuration::from_millis(50));
    let after = |rtt: u64, mode: Mode, millis: u64| {
        let mut leocc = Leocc::new(LeoccSpec::default(), SimTime::ZERO);
        for _ in 0..30 {
            leocc.on_sample(&sample(millis, 10e6, rtt), true, mode);
            leocc.after_sample(&sample(millis, 10e6, rtt), minimum, mode);
        }
        (Variant::bandwidth(&leocc).map(DeliveryRate::bps), leocc.probe_gain())
    };
    let (used, gain) = after(61, CRUISE, 1_000);
    assert!((used.unwrap() - 10e6).abs() < 1.0 && (gain - 1.05).abs() < 1e-9);
    for unused in
        [after(59, CRUISE, 1_000), after(61, Mode::Drain, 1_000), after(61, CRUISE, 12_000)]
    {
        assert_eq!(unused, (None, 1.25));
    }
}

/// A queue during Startup has `ProbeBW` begin with a round-trip time above the minimum, when no round was filtered yet.
#[test]
fn the_filter_is_not_used_before_its_first_measurement() {
    let spec = LeoccSpec { min_rtt_fluctuation: SimDuration::ZERO, ..LeoccSpec::default() };
    let mut leocc = Leocc::new(spec.clone(), SimTime::ZERO);
    leocc.after_sample(&sample(0, 10e6, 90), Some(SimDuration::from_millis(50)), CRUISE);
    assert_eq!(Variant::bandwidth(&leocc), None);
    let mut flow = Flow::new(&spec, Link::new(20_000_000, 50, 10_000), true, 1);
    flow.run_until(2.0);
    let share = flow.utilisation_until(60.0);
    assert!(share > 0.7, "{share} used");
}

/// The fall of the round-trip time by more than 45 ms in `ProbeRTT` keeps the bandwidth of the sample before.
#[test]
fn a_fall_of_the_round_trip_time_seeds_the_new_startup() {
    let seed = |rtt: u64| {
        let mut leocc = Leocc::new(LeoccSpec::default(), SimTime::ZERO);
        for _ in 0..50 {
            leocc.after_sample(&sample(11_000, 10e6, 100), None, CRUISE);
        }
        assert_eq!(leocc.new_startup(), None, "no reconfiguration");
        leocc.on_sample(&sample(12_000, 30e6, 100), false, Mode::ProbeRtt);
        leocc.on_sample(&sample(12_100, 20e6, rtt), false, Mode::ProbeRtt);
        let seed = leocc.new_startup().unwrap();
        leocc.on_full_pipe();
        assert_eq!(leocc.new_startup(), None, "Startup is over");
        seed
    };
    assert_eq!(seed(54), DeliveryRate::from_bps(30e6));
    assert_eq!(seed(56), DeliveryRate::ZERO);
}
