use super::super::tests::bbr::{
    Estimates, assert_within, bandwidth, estimates_settle, flow, losses_are_borne,
    startup_takes_logarithmic_time,
};
use super::super::tests::flow::{DATAGRAM, Link, PATH};
use super::*;

impl Estimates for Bbr {
    fn bandwidth_bps(&self) -> f64 {
        self.bandwidth().bps()
    }

    fn propagation(&self) -> Option<SimDuration> {
        self.min_rtt
    }
}

fn version(rng: &RngTree) -> PerPath<Bbr> {
    per_path(&BbrSpec::default(), rng)
}

#[test]
fn estimates_settle_at_the_rate_and_round_trip_of_a_steady_link() {
    estimates_settle(version, |_| 0.95);
}

/// The paper: Startup, Drain, and then 98 % of the time in `ProbeBW`, `ProbeRTT` lasting 200 ms and a round trip every ten
/// seconds.
#[test]
fn phases_follow_each_other_as_in_the_paper() {
    let mut flow = flow(version, Link::new(45_000_000, 40, 10_000), 1);
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

#[test]
fn startup_finds_the_rate_in_logarithmic_time() {
    startup_takes_logarithmic_time(version);
}

/// The paper's comparison with CUBIC: losses at random cost what is lost, and not more.
#[test]
fn random_losses_cost_little() {
    losses_are_borne(version, [(0.001, 0.95), (0.01, 0.93), (0.05, 0.85)]);
}

/// The bandwidth is found again within the ten rounds of the filter after a fall, and by probes of a quarter after a rise.
#[test]
fn estimates_follow_the_link() {
    let mut flow = flow(version, Link::new(20_000_000, 50, 10_000), 1);
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
    let mut flow = flow(version, Link::new(20_000_000, 50, 10_000), 1);
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

/// The acknowledgement that reveals the losses comes after them: its packet still counts as in flight when they are told.
#[test]
fn what_an_acknowledgement_brings_counts_once_beside_its_losses() {
    let after = |persistent| {
        let mut flow = flow(version, Link::new(20_000_000, 50, 10_000), 1);
        flow.run_until(5.0);
        flow.return_with_losses(persistent);
        (flow.window() / DATAGRAM.get() - flow.in_flight(), flow)
    };
    let (room, recovering) = after(false);
    assert_eq!(room, 1, "a packet leaves for the one that came");
    assert!(recovering.controller.get(PATH).unwrap().conserving);
    // One more than is in flight, and slow start's.
    assert_eq!(after(true).0, 2);
}

#[test]
fn flows_with_other_seeds_begin_their_cycles_elsewhere() {
    let place = |seed| {
        let mut flow = flow(version, Link::new(20_000_000, 50, 10_000), seed);
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
    assert_within(1e-6, policer.rate().unwrap().bps(), 8_400_000.0, "rate");
    for _ in 0..47 {
        assert!(!round(&mut policer, 1_000_000));
    }
    assert!(round(&mut policer, 1_000_000), "48 round trips are over");
    assert_eq!(policer.rate(), None);
}
