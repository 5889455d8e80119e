use super::super::tests::link::{DATAGRAM, Flow, Link, PATH};
use super::*;

fn flow(spec: &BbrSpec, link: Link, seed: u64) -> Flow<PerPath<Bbr>> {
    let rng = RngTree::new(seed);
    Flow::with(Box::new(per_path(spec, &rng)), link, true, &rng)
}

fn assert_within(share: f64, value: f64, expected: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < share, "{what}: {value} instead of {expected}");
}

fn bandwidth(flow: &Flow<PerPath<Bbr>>) -> f64 {
    flow.controller.get(PATH).unwrap().bandwidth() * 8.0
}

#[test]
fn estimates_settle_at_the_rate_and_round_trip_of_a_steady_link() {
    for (rate, millis) in [(10_000_000, 40), (45_000_000, 40), (200_000_000, 20), (2_000_000, 600)]
    {
        let link = Link::new(rate, millis, 10_000);
        let mut flow = flow(&BbrSpec::example(), link, 1);
        flow.run_until(30.0);
        let share = flow.utilisation_until(60.0);
        let min_rtt = flow.controller.get(PATH).unwrap().min_rtt.unwrap();
        println!(
            "BBR, {rate} bit/s, {millis} ms: {:.0}, {min_rtt}, {share:.3} used",
            bandwidth(&flow)
        );
        assert_within(0.05, bandwidth(&flow), rate as f64, "bandwidth");
        let base = link.base_rtt().as_secs_f64();
        assert_within(0.05, min_rtt.as_secs_f64(), base, "round-trip time");
        assert!(share > 0.95, "{share} used");
        assert_eq!(flow.lost, 0);
    }
}

/// The paper: Startup, Drain, and then 98 % of the time in `ProbeBW`, `ProbeRTT` lasting 200 ms and a round trip every ten
/// seconds.
#[test]
fn phases_follow_each_other_as_in_the_paper() {
    let mut flow = flow(&BbrSpec::example(), Link::new(45_000_000, 40, 10_000), 1);
    flow.run_until(60.0);
    let names: Vec<_> = flow.phases.iter().map(|(_, phase)| *phase).collect();
    assert_eq!(names[..3], ["startup", "drain", "probe-bw"]);
    let rest = names[3..].chunks_exact(2);
    assert!(rest.len() >= 5 && rest.into_iter().all(|pair| pair == ["probe-rtt", "probe-bw"]));
    for phases in flow.phases[3..].windows(2) {
        let span = (phases[1].0 - phases[0].0).as_secs_f64();
        let expected = if phases[0].1 == "probe-rtt" { 0.2..0.2 + 3.0 * 0.0402 } else { 9.7..10.1 };
        assert!(expected.contains(&span), "{} for {span} s", phases[0].1);
    }
}

/// The rate doubles in a round trip, so that log2 of the path's volume over the initial window are enough to reach it;
/// then come the round that measures it and three without growth, each as long as a window of 2.89 volumes makes it.
#[test]
fn startup_finds_the_rate_in_logarithmic_time() {
    for rate in [5_000_000, 50_000_000, 500_000_000] {
        let link = Link::new(rate, 100, 100_000);
        let mut flow = flow(&BbrSpec::example(), link, 1);
        while flow.controller.phase(PATH) == "startup" {
            flow.step();
        }
        let rounds = libm::log2(link.bdp() / 10.0).max(0.0);
        let spent = (flow.now - SimTime::ZERO).as_secs_f64() / link.base_rtt().as_secs_f64();
        assert!(spent > rounds + 3.0 && spent < rounds + 4.0 * 2.89 + 2.0, "{spent} for {rounds}");
        assert_within(0.05, bandwidth(&flow), rate as f64, "bandwidth");
    }
}

/// The paper's comparison with CUBIC: losses at random cost what is lost, and not more.
#[test]
fn random_losses_cost_little() {
    for (loss, least) in [(0.001, 0.95), (0.01, 0.93), (0.05, 0.85)] {
        let link = Link { loss, ..Link::new(20_000_000, 50, 200) };
        let mut flow = flow(&BbrSpec::example(), link, 2);
        flow.run_until(20.0);
        let share = flow.utilisation_until(80.0);
        println!("BBR, {loss} lost: {share:.3} used");
        assert!(share > least, "{share} used with {loss} lost");
    }
}

/// The bandwidth is found again within the ten rounds of the filter after a fall, and by probes of a quarter after a rise.
#[test]
fn estimates_follow_the_link() {
    let mut flow = flow(&BbrSpec::example(), Link::new(20_000_000, 50, 10_000), 1);
    flow.run_until(5.0);
    flow.link.rate = BitRate::from_bps(10_000_000);
    flow.run_until(9.0);
    assert_within(0.05, bandwidth(&flow), 10e6, "after the fall");
    flow.link.rate = BitRate::from_bps(40_000_000);
    flow.run_until(14.0);
    assert_within(0.05, bandwidth(&flow), 40e6, "after the rise");
}

/// `bbr_set_cwnd_to_recover_or_restore` of Linux: what was in flight in recovery's first round, what it was after.
#[test]
fn recovery_conserves_packets_and_restores_the_window() {
    let mut flow = flow(&BbrSpec::example(), Link::new(20_000_000, 50, 10_000), 1);
    flow.run_until(5.0);
    let (before, size) = (flow.window(), DATAGRAM.get());
    let in_flight = flow.in_flight() * size;
    let lost = Congestion::new(flow.now, flow.now, Bytes::ZERO, false);
    flow.controller.on_loss(PATH, &lost);
    assert!(flow.window() >= in_flight && flow.window() <= in_flight + 2 * size);
    let end = flow.now + SimDuration::from_millis(200);
    while flow.now < end {
        flow.step();
    }
    assert_within(0.05, flow.window() as f64, before as f64, "window");
}

#[test]
fn flows_with_other_seeds_begin_their_cycles_elsewhere() {
    let place = |seed| {
        let mut flow = flow(&BbrSpec::example(), Link::new(20_000_000, 50, 10_000), seed);
        while !matches!(flow.controller.get(PATH).unwrap().mode, Mode::ProbeBandwidth(_)) {
            flow.step();
        }
        flow.controller.get(PATH).unwrap().mode
    };
    let places: Vec<_> = (0..40).map(place).collect();
    assert_eq!(places[0], place(0));
    for index in 0..CYCLE.len() {
        let found = places.contains(&Mode::ProbeBandwidth(index));
        assert_eq!(found, index != 1, "place {index}: any but the drain");
    }
}

/// Two intervals of four round trips with a fifth lost, at 1 and 1.1 MB/s: policed at their mean for 48 round trips.
#[test]
fn a_policer_is_told_by_two_intervals_alike() {
    let mut policer = Policer::default();
    let (mut delivered, mut lost, mut millis) = (0, 0, 0);
    let mut round = |policer: &mut Policer, rate: u64| {
        millis += 100;
        delivered += rate / 10;
        lost += rate / 40;
        let sample = RateSample {
            now: SimTime::ZERO + SimDuration::from_millis(millis),
            rate: None,
            delivered: 0,
            prior_delivered: 0,
            app_limited: false,
            rtt: Some(SimDuration::from_millis(100)),
            newly_acked: rate / 10,
            newly_lost: rate / 40,
            prior_in_flight: 0,
            in_flight: 0,
            tx_in_flight: 0,
            lost: 0,
        };
        policer.on_sample(&sample, (delivered, lost), true, true)
    };
    for _ in 0..5 {
        assert!(!round(&mut policer, 1_000_000));
    }
    assert_eq!(policer.rate(), None, "one interval");
    for _ in 0..4 {
        round(&mut policer, 1_100_000);
    }
    assert_within(1e-6, policer.rate().unwrap(), 1_050_000.0, "rate");
    for _ in 0..47 {
        assert!(!round(&mut policer, 1_000_000));
    }
    assert!(round(&mut policer, 1_000_000), "48 round trips are over");
    assert_eq!(policer.rate(), None);
}
