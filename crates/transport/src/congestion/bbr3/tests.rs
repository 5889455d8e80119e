use super::super::tests::link::{DATAGRAM, Flow, Link, PATH};
use super::*;

fn flow(spec: &Bbr3Spec, link: Link, seed: u64) -> Flow<PerPath<Bbr3>> {
    let rng = RngTree::new(seed);
    Flow::with(Box::new(per_path(spec, &rng)), link, true, &rng)
}

fn assert_within(share: f64, value: f64, expected: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < share, "{what}: {value} instead of {expected}");
}

fn bandwidth(flow: &Flow<PerPath<Bbr3>>) -> f64 {
    flow.controller.get(PATH).unwrap().max_bw.get() * 8.0
}

#[test]
fn estimates_settle_at_the_rate_and_round_trip_of_a_steady_link() {
    for (rate, millis) in [(10_000_000, 40), (45_000_000, 40), (200_000_000, 20), (2_000_000, 600)]
    {
        let link = Link::new(rate, millis, 10_000);
        let mut flow = flow(&Bbr3Spec::example(), link, 1);
        flow.run_until(30.0);
        let share = flow.utilisation_until(60.0);
        let min_rtt = flow.controller.get(PATH).unwrap().min_rtt.unwrap();
        println!(
            "BBRv3, {rate} bit/s, {millis} ms: {:.0}, {min_rtt}, {share:.3} used",
            bandwidth(&flow)
        );
        assert_within(0.05, bandwidth(&flow), rate as f64, "bandwidth");
        let base = link.base_rtt().as_secs_f64();
        assert_within(0.05, min_rtt.as_secs_f64(), base, "round-trip time");
        // ProbeRTT costs half of 200 ms and a round trip or two every five seconds.
        let least = if millis > 200 { 0.88 } else { 0.95 };
        assert!(share > least, "{share} used");
        assert_eq!(flow.lost, 0);
    }
}

/// Section 5.1.1, and the times of sections 5.3.3.8.2 and 5.3.4: two to three seconds between probes for bandwidth,
/// five between probes for the round-trip time.
#[test]
fn phases_follow_each_other_as_in_the_draft() {
    let mut flow = flow(&Bbr3Spec::example(), Link::new(45_000_000, 40, 10_000), 1);
    flow.run_until(60.0);
    let follows = |before: &str, after: &str| match before {
        "startup" => after == "drain",
        "drain" | "probe-bw-up" => {
            ["probe-bw-down", "probe-bw-cruise", "probe-rtt"].contains(&after)
        }
        "probe-bw-down" => ["probe-bw-cruise", "probe-rtt", "probe-bw-refill"].contains(&after),
        "probe-bw-cruise" => ["probe-bw-refill", "probe-rtt"].contains(&after),
        "probe-bw-refill" => ["probe-bw-up", "probe-rtt"].contains(&after),
        "probe-rtt" => after == "probe-bw-cruise",
        _ => false,
    };
    for phases in flow.phases.windows(2) {
        assert!(follows(phases[0].1, phases[1].1), "{} -> {}", phases[0].1, phases[1].1);
    }
    let entered = |name: &str| -> Vec<f64> {
        let times = flow.phases.iter().filter(|(_, phase)| *phase == name);
        times.map(|(time, _)| (*time - SimTime::ZERO).as_secs_f64()).collect()
    };
    let (probes, refills) = (entered("probe-rtt"), entered("probe-bw-refill"));
    assert!(probes.windows(2).all(|pair| (5.0..5.4).contains(&(pair[1] - pair[0]))));
    // ProbeRTT begins the wait anew.
    assert!(refills.windows(2).all(|pair| (2.0..6.0).contains(&(pair[1] - pair[0]))));
    assert!(refills.len() >= 14, "{} probes in a minute", refills.len());
}

/// The rate doubles in a round trip, so that log2 of the path's volume over the initial window are enough to reach it;
/// then come the round that measures it and three without growth, each as long as a window of 2.89 volumes makes it.
#[test]
fn startup_finds_the_rate_in_logarithmic_time() {
    for rate in [5_000_000, 50_000_000, 500_000_000] {
        let link = Link::new(rate, 100, 100_000);
        let mut flow = flow(&Bbr3Spec::example(), link, 1);
        while flow.controller.phase(PATH) == "startup" {
            flow.step();
        }
        let rounds = libm::log2(link.bdp() / 10.0).max(0.0);
        let spent = (flow.now - SimTime::ZERO).as_secs_f64() / link.base_rtt().as_secs_f64();
        assert!(spent > rounds + 3.0 && spent < rounds + 4.0 * 2.89 + 2.0, "{spent} for {rounds}");
        assert_within(0.05, bandwidth(&flow), rate as f64, "bandwidth");
    }
}

/// Losses at random below the threshold cost more than what is lost, for they lower the short-term bounds.
#[test]
fn random_losses_below_the_threshold_are_borne() {
    for (loss, least) in [(0.001, 0.85), (0.005, 0.8), (0.01, 0.7)] {
        let link = Link { loss, ..Link::new(20_000_000, 50, 200) };
        let mut flow = flow(&Bbr3Spec::example(), link, 2);
        flow.run_until(20.0);
        let share = flow.utilisation_until(80.0);
        println!("BBRv3, {loss} lost: {share:.3} used");
        assert!(share > least, "{share} used with {loss} lost");
    }
}

/// Section 3.2: at most 2 % of a round trip's packets are lost in probes, and so far fewer on average.
#[test]
fn a_shallow_queue_is_respected() {
    let link = Link::new(50_000_000, 40, 40);
    let mut flow = flow(&Bbr3Spec::example(), link, 1);
    flow.run_until(10.0);
    let (sent, lost) = (flow.sent, flow.lost);
    let share = flow.utilisation_until(60.0);
    let lost = (flow.lost - lost) as f64 / (flow.sent - sent) as f64;
    println!("BBRv3, queue of a fifth: {share:.3} used, {lost:.4} lost");
    assert!(flow.controller.get(PATH).unwrap().congested.inflight_longterm.is_finite());
    assert!(lost < 0.01, "{lost} lost");
    assert!(share > 0.85, "{share} used");
}

/// Section 5.3.1.3: with six separate ranges and 2 % lost in a round trip, Startup ends before a plateau shows.
#[test]
fn startup_ends_on_heavy_losses() {
    let link = Link { loss: 0.2, ..Link::new(1_000_000_000, 100, 100_000) };
    let mut flow = flow(&Bbr3Spec::example(), link, 1);
    while flow.controller.phase(PATH) == "startup" {
        flow.step();
    }
    let bbr = flow.controller.get(PATH).unwrap();
    assert!(bbr.congested.inflight_longterm.is_finite() && !bbr.full_pipe.now);
    assert!(flow.now < SimTime::ZERO + SimDuration::from_secs(1));
}

/// Runs until the phase is entered.
fn in_phase(phase: &str) -> Flow<PerPath<Bbr3>> {
    let mut flow = flow(&Bbr3Spec::example(), Link::new(20_000_000, 50, 10_000), 1);
    while flow.controller.phase(PATH) != phase {
        flow.step();
    }
    flow
}

fn mark(flow: &mut Flow<PerPath<Bbr3>>) {
    let congestion = Congestion::new(flow.now, flow.now, Bytes::ZERO, false);
    flow.controller.on_ecn(PATH, &congestion);
}

fn lose(flow: &mut Flow<PerPath<Bbr3>>, number: u64) {
    flow.controller.on_packet_lost(PATH, &Lost::new(flow.now, DATAGRAM, number));
}

/// Section 3.7: marks are congestion. They end Startup and a probe, and lower the bounds while cruising, by no more than
/// beta and no further than what was delivered.
#[test]
fn marks_are_congestion() {
    let mut flow = in_phase("startup");
    mark(&mut flow);
    assert_eq!(flow.controller.phase(PATH), "drain");
    let mut flow = in_phase("probe-bw-up");
    mark(&mut flow);
    assert_eq!(flow.controller.phase(PATH), "probe-bw-down");
    assert!(flow.controller.get(PATH).unwrap().congested.inflight_longterm.is_finite());
    let mut flow = in_phase("probe-bw-cruise");
    flow.run_until(1.5);
    let before = flow.window() as f64;
    mark(&mut flow);
    let end = flow.now + SimDuration::from_millis(120);
    while flow.now < end {
        flow.step();
    }
    let bound = flow.controller.get(PATH).unwrap().congested.inflight_shortterm;
    assert!(bound < before && bound >= 0.7 * before, "{bound} after {before}");
    assert!(flow.window() as f64 <= bound);
}

/// Section 5.5.10.2, by hand: of 100 packets in flight 2 had been lost before this one, so that 2 % were crossed at
/// 99 + (0.02 * 99 - 2) / 0.98 = 98.98 packets.
#[test]
fn a_probe_with_too_many_losses_sets_the_long_term_bound() {
    let mut flow = in_phase("probe-bw-up");
    let (packet, first) = (DATAGRAM.get(), flow.sent);
    let number = |index: u64| 1_000_000 + first + index;
    for index in 0..100 {
        let in_flight = Bytes::new(packet * (index + 1));
        let sent = Sent::new(flow.now, DATAGRAM, in_flight, number(index));
        flow.controller.on_sent(PATH, &sent);
    }
    // Of those in flight before; what is known of them is gone.
    lose(&mut flow, 0);
    lose(&mut flow, 1);
    assert_eq!(flow.controller.phase(PATH), "probe-bw-up");
    lose(&mut flow, number(99));
    assert_eq!(flow.controller.phase(PATH), "probe-bw-down");
    let longterm = flow.controller.get(PATH).unwrap().congested.inflight_longterm / packet as f64;
    assert!((longterm - 98.979_6).abs() < 1e-3, "{longterm} packets");
    // Section 5.5.11.2: none of it was lost.
    flow.controller.on_spurious_loss(PATH);
    assert_eq!(flow.controller.phase(PATH), "probe-bw-refill");
    assert!(flow.controller.get(PATH).unwrap().congested.inflight_longterm.is_infinite());
}

/// A fall is believed after two cycles without the old rate, a rise is found by probes of a quarter.
#[test]
fn estimates_follow_the_link() {
    let mut flow = flow(&Bbr3Spec::example(), Link::new(20_000_000, 50, 10_000), 1);
    flow.run_until(5.0);
    flow.link.rate = BitRate::from_bps(10_000_000);
    flow.run_until(16.0);
    assert_within(0.05, bandwidth(&flow), 10e6, "after the fall");
    flow.link.rate = BitRate::from_bps(40_000_000);
    flow.run_until(22.0);
    assert_within(0.05, bandwidth(&flow), 40e6, "after the rise");
}
