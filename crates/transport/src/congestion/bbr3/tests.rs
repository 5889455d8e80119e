use super::super::tests::bbr::{
    Estimates, assert_within, bandwidth, estimates_settle, flow, losses_are_borne,
    startup_takes_logarithmic_time,
};
use super::super::tests::flow::{DATAGRAM, Flow, Link, PATH};
use super::*;

impl Estimates for Bbr3 {
    fn bandwidth_bps(&self) -> f64 {
        self.max_bw.get().bps()
    }

    fn propagation(&self) -> Option<SimDuration> {
        self.min_rtt
    }
}

fn version(rng: &RngTree) -> PerPath<Bbr3> {
    per_path(&Bbr3Spec::default(), rng)
}

#[test]
fn estimates_settle_at_the_rate_and_round_trip_of_a_steady_link() {
    // ProbeRTT costs half of 200 ms and a round trip or two every five seconds.
    estimates_settle(version, |millis| if millis > 200 { 0.88 } else { 0.95 });
}

/// Section 5.1.1, and the times of sections 5.3.3.8.2 and 5.3.4: two to three seconds between probes for bandwidth,
/// five between probes for the round-trip time.
#[test]
fn phases_follow_each_other_as_in_the_draft() {
    let mut flow = flow(version, Link::new(45_000_000, 40, 10_000), 1);
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

#[test]
fn startup_finds_the_rate_in_logarithmic_time() {
    startup_takes_logarithmic_time(version);
}

/// Losses at random below the threshold cost more than what is lost, for they lower the short-term bounds.
#[test]
fn random_losses_below_the_threshold_are_borne() {
    losses_are_borne(version, [(0.001, 0.85), (0.005, 0.8), (0.01, 0.7)]);
}

/// Section 3.2: at most 2 % of a round trip's packets are lost in probes, and so far fewer on average.
#[test]
fn a_shallow_queue_is_respected() {
    let link = Link::new(50_000_000, 40, 40);
    let mut flow = flow(version, link, 1);
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
    let mut flow = flow(version, link, 1);
    while flow.controller.phase(PATH) == "startup" {
        flow.step();
    }
    let bbr = flow.controller.get(PATH).unwrap();
    assert!(bbr.congested.inflight_longterm.is_finite() && !bbr.full_pipe.now);
    assert!(flow.now < SimTime::ZERO + SimDuration::from_secs(1));
}

/// Runs until the phase is entered.
fn in_phase(phase: &str) -> Flow<PerPath<Bbr3>> {
    let mut flow = flow(version, Link::new(20_000_000, 50, 10_000), 1);
    while flow.controller.phase(PATH) != phase {
        flow.step();
    }
    flow
}

/// Section 5.6.4.4: a collapse leaves a packet more than is in flight after the acknowledgement that reveals it.
#[test]
fn a_collapse_counts_what_its_acknowledgement_brings_once() {
    let mut flow = flow(version, Link::new(20_000_000, 50, 10_000), 1);
    flow.run_until(1.5);
    flow.return_with_losses(true);
    let room = flow.window() / DATAGRAM.get() - flow.in_flight();
    assert!((1..=2).contains(&room), "{room} packets");
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
    let mut flow = flow(version, Link::new(20_000_000, 50, 10_000), 1);
    flow.run_until(5.0);
    flow.link.rate = BitRate::from_bps(10_000_000);
    flow.run_until(16.0);
    assert_within(0.05, bandwidth(&flow), 10e6, "after the fall");
    flow.link.rate = BitRate::from_bps(40_000_000);
    flow.run_until(22.0);
    assert_within(0.05, bandwidth(&flow), 40e6, "after the rise");
}
