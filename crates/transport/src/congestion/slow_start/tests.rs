//! Slow start against tables of round-trip times, worked by hand.

use super::*;
use crate::congestion::tests::acked;
use crate::congestion::tests::flow::{DATAGRAM, PATH};
use crate::congestion::{
    AckEnd, Acked, Congestion, CongestionContext, CongestionControl, CongestionModel, NewRenoSpec,
    Opening, Sent,
};
use leobench_base::{RngTree, SimTime};

/// A path whose round trips last as a table says, packets and acknowledgements spread evenly over a tenth of them.
struct Rounds {
    controller: Box<dyn CongestionControl>,
    now: SimTime,
    number: u64,
}

impl Rounds {
    fn new(slow_start: SlowStartSpec, paced: bool) -> Self {
        let model = NewRenoSpec {
            opening: Opening { slow_start, ..Opening::default() },
            ..NewRenoSpec::default()
        };
        let rng = RngTree::new(1);
        let mut controller =
            model.build(&CongestionContext { rng: &rng, paced, plugins: crate::Plugins::NONE });
        controller.open(PATH, SimTime::ZERO, DATAGRAM);
        Self { controller, now: SimTime::ZERO, number: 0 }
    }

    fn packets(&self) -> u64 {
        self.controller.window(PATH).get() / DATAGRAM.get()
    }

    /// Sends a window, and has every packet of it acknowledged after `rtt` milliseconds, `gap` nanoseconds apart;
    /// the phase after the last one.
    fn round_with_gap(&mut self, rtt: f64, gap: u64) -> &'static str {
        let (start, window) = (self.now, self.packets());
        let rtt = SimDuration::from_nanos((rtt * 1e6) as u64);
        for index in 0..window {
            let number = self.number + index;
            let in_flight = DATAGRAM.get() * (index + 1);
            let sent = Sent::new(start, DATAGRAM, Bytes::new(in_flight), number);
            self.controller.on_sent(PATH, &sent);
        }
        for index in 0..window {
            self.now = start + rtt + SimDuration::from_nanos(gap * index);
            let acked = Acked {
                sent: start,
                size: DATAGRAM,
                packet_number: self.number + index,
                in_flight: Bytes::new(DATAGRAM.get() * (window - index)),
                ..acked(self.now, rtt)
            };
            self.controller.on_ack(PATH, &acked);
            let rest = Bytes::new(DATAGRAM.get() * (window - index - 1));
            self.controller.on_ack_end(PATH, &AckEnd::new(self.now, rest));
        }
        self.number += window;
        self.controller.phase(PATH)
    }

    fn round(&mut self, rtt: f64) -> &'static str {
        self.round_with_gap(rtt, 1)
    }
}

/// RFC 9406 section 4.2. The threshold is an eighth of the last round's shortest round trip, so that after 50 ms it takes
/// 56.25 ms to arouse suspicion. The window of ten packets doubles up to then; the eighth sample of the fourth round
/// decides, with 80 + 8 packets; the other 72 and five rounds count a quarter.
#[test]
fn hystart_plus_plus_leaves_on_the_round_that_the_table_says() {
    let mut path = Rounds::new(SlowStartSpec::HyStartPlusPlus, false);
    for (rtt, phase, packets) in [
        (50.0, "slow-start", 20),
        (56.2, "slow-start", 40),
        (56.2, "slow-start", 80),
        // 56.2 / 8 = 7.025, so that 63.225 ms are too many.
        (63.3, "conservative-slow-start", 88 + 18),
        // The round in which it began is the first of five; its end is found by the first packet of the next.
        (64.0, "conservative-slow-start", 106 + 26),
        (65.0, "conservative-slow-start", 132 + 33),
        (66.0, "conservative-slow-start", 165 + 41),
        (67.0, "conservative-slow-start", 206 + 52),
    ] {
        assert_eq!(path.round(rtt), phase, "{rtt} ms");
        assert_eq!(path.packets(), packets, "{rtt} ms");
    }
    assert_eq!(path.round(68.0), "avoidance");
    let ssthresh = path.controller.ssthresh(PATH).unwrap().get() as f64 / DATAGRAM.get() as f64;
    assert!((258.0..259.0).contains(&ssthresh), "{ssthresh} packets, left by the first packet");
    assert!((259..=260).contains(&path.packets()), "one packet in avoidance");
}

/// RFC 9406 section 4.2: a round with less than the baseline resumes slow start, and the next suspicion begins anew.
#[test]
fn hystart_plus_plus_resumes_when_round_trips_shorten() {
    let mut path = Rounds::new(SlowStartSpec::HyStartPlusPlus, true);
    for (rtt, phase) in [
        (20.0, "slow-start"),
        // 20 / 8 is less than 4 ms.
        (23.9, "slow-start"),
        (27.9, "conservative-slow-start"),
        (28.5, "conservative-slow-start"),
        (27.8, "slow-start"),
        (30.0, "slow-start"),
        (34.1, "conservative-slow-start"),
    ] {
        assert_eq!(path.round(rtt), phase, "{rtt} ms");
    }
}

/// RFC 9406 section 4.3: 16 ms at most, after 200 ms.
#[test]
fn sixteen_milliseconds_are_always_too_many() {
    let mut path = Rounds::new(SlowStartSpec::HyStartPlusPlus, true);
    assert_eq!(path.round(200.0), "slow-start");
    assert_eq!(path.round(215.9), "slow-start");
    assert_eq!(path.round(232.0), "conservative-slow-start");
}

/// RFC 9406 section 4.2: HyStart++ is for the first slow start; losses end it as they end any.
#[test]
fn after_a_loss_slow_start_is_standard() {
    let mut path = Rounds::new(SlowStartSpec::HyStartPlusPlus, false);
    path.round(50.0);
    assert_eq!(path.round(80.0), "conservative-slow-start");
    let collapse = Congestion::new(path.now, path.now, DATAGRAM, true);
    path.controller.on_loss(PATH, &collapse);
    path.now += SimDuration::from_nanos(1);
    assert_eq!(path.packets(), 2);
    assert_eq!((path.round(50.0), path.packets()), ("slow-start", 4));
    assert_eq!((path.round(90.0), path.packets()), ("slow-start", 8));
}

/// RFC 9406 section 4.3: an acknowledgement opens the window by eight packets unless the sender paces.
#[test]
fn an_acknowledgement_of_many_packets_opens_the_window_by_eight() {
    for (paced, packets) in [(false, 18), (true, 20)] {
        let mut path = Rounds::new(SlowStartSpec::HyStartPlusPlus, paced);
        let rtt = SimDuration::from_millis(50);
        for number in 0..10 {
            let in_flight = Bytes::new(DATAGRAM.get() * (number + 1));
            path.controller.on_sent(PATH, &Sent::new(SimTime::ZERO, DATAGRAM, in_flight, number));
        }
        for packet_number in 0..10 {
            let acked = Acked {
                sent: SimTime::ZERO,
                size: DATAGRAM,
                packet_number,
                in_flight: DATAGRAM,
                ..acked(SimTime::ZERO + rtt, rtt)
            };
            path.controller.on_ack(PATH, &acked);
        }
        path.controller.on_ack_end(PATH, &AckEnd::new(SimTime::ZERO + rtt, Bytes::ZERO));
        assert_eq!(path.packets(), packets);
    }
}

/// Delay: more than 4 ms above the shortest round trip of all, from the ninth sample of a round on. Windows below 16
/// packets are not judged.
#[test]
fn hystart_leaves_on_delay() {
    let mut path = Rounds::new(SlowStartSpec::HyStart, true);
    assert_eq!(path.round(20.0), "slow-start");
    assert_eq!(path.round(24.0), "slow-start");
    assert_eq!(path.round(24.1), "avoidance");
    assert_eq!(path.controller.ssthresh(PATH).unwrap(), Bytes::new(49 * DATAGRAM.get()));
}

/// Train: acknowledgements that follow each other within 2 ms over more than half the round trip, or all of it where
/// packets are paced.
#[test]
fn hystart_leaves_on_a_long_train() {
    // 20 packets, 1 ms apart: 19 ms are less than half of 40 ms; 40 packets: more.
    for (paced, phases) in [
        (false, ["slow-start", "slow-start", "avoidance"]),
        (true, ["slow-start", "slow-start", "slow-start"]),
    ] {
        let mut path = Rounds::new(SlowStartSpec::HyStart, paced);
        assert_eq!(phases.map(|_| path.round_with_gap(40.0, 1_000_000)), phases, "paced: {paced}");
    }
    // Gaps of more than 2 ms end the train.
    let mut path = Rounds::new(SlowStartSpec::HyStart, false);
    for _ in 0..3 {
        assert_eq!(path.round_with_gap(40.0, 2_000_001), "slow-start");
    }
}
