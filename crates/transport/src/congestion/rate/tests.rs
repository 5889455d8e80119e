use leobench_base::Bytes;

use super::*;
use crate::congestion::tests::acked;

const SIZE: u64 = 1_000;

fn at(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

struct Bench {
    sampler: RateSampler,
    in_flight: u64,
    sent: Vec<SimTime>,
}

impl Bench {
    fn new() -> Self {
        Self { sampler: RateSampler::default(), in_flight: 0, sent: Vec::new() }
    }

    fn send(&mut self, millis: u64, app_limited: bool) {
        self.in_flight += SIZE;
        let number = self.sent.len() as u64;
        self.sent.push(at(millis));
        let sent = Sent::new(at(millis), Bytes::new(SIZE), Bytes::new(self.in_flight), number);
        self.sampler.on_sent(&sent.app_limited(app_limited));
    }

    fn ack(&mut self, millis: u64, numbers: &[u64]) -> Option<RateSample> {
        self.ack_doubtfully(millis, numbers, &[])
    }

    /// The same where of `ambiguous` numbers an earlier transmission may have been acknowledged.
    fn ack_doubtfully(
        &mut self,
        millis: u64,
        numbers: &[u64],
        ambiguous: &[u64],
    ) -> Option<RateSample> {
        let rtt = SimDuration::from_millis(1);
        for number in numbers {
            self.sampler.on_ack(&Acked {
                sent: self.sent[*number as usize],
                size: Bytes::new(SIZE),
                packet_number: *number,
                in_flight: Bytes::new(self.in_flight),
                ambiguous: ambiguous.contains(number),
                ..acked(at(millis), rtt)
            });
            self.in_flight -= SIZE;
        }
        self.sampler.on_ack_end(&AckEnd::new(at(millis), Bytes::new(self.in_flight)))
    }
}

/// Packets leave every 10 ms and return after 100: from the eleventh on a sample covers the ten delivered in between.
#[test]
fn a_steady_stream_is_sampled_at_its_rate() {
    let mut bench = Bench::new();
    for tick in 0..30 {
        if tick >= 10 {
            let sample = bench.ack(tick * 10, &[tick - 10]).unwrap();
            assert_eq!(sample.rtt, Some(SimDuration::from_millis(100)));
            if tick > 20 {
                assert_eq!(sample.delivered, 10 * SIZE);
                assert!((sample.rate.unwrap().bps() / 8.0 - 100_000.0).abs() < 1e-6);
            }
        }
        bench.send(tick * 10, false);
    }
}

/// Section 4.1.1.2.3: acknowledgements that were held up and come all at once are no faster than the packets were sent.
#[test]
fn compressed_acknowledgements_do_not_exceed_the_rate_of_sending() {
    let mut bench = Bench::new();
    (0..30).for_each(|tick| bench.send(tick * 10, false));
    bench.ack(300, &[0]);
    bench.send(300, false);
    let numbers: Vec<u64> = (1..=30).collect();
    let sample = bench.ack(400, &numbers).unwrap();
    assert_eq!(sample.delivered, 30 * SIZE);
    // Sent over 300 ms, acknowledged within 100.
    assert!((sample.rate.unwrap().bps() / 8.0 - 100_000.0).abs() < 1e-6);
}

/// A new flight is measured from its first packet on, not from the idle time before.
#[test]
fn idle_time_does_not_count() {
    let mut bench = Bench::new();
    bench.send(0, false);
    assert_eq!(bench.ack(0, &[0]).unwrap().rate, None, "no time has passed");
    (0..4).for_each(|_| bench.send(1_000, false));
    let sample = bench.ack(1_100, &[1, 2, 3, 4]).unwrap();
    assert_eq!(sample.rate, Some(DeliveryRate::from_bps(320_000.0)));
    assert_eq!(sample.prior_delivered, SIZE);
}

#[test]
fn losses_and_gaps_are_attributed_to_the_packets_that_met_them() {
    let mut bench = Bench::new();
    bench.send(0, false);
    bench.send(0, false);
    let lost = Lost::new(at(120), Bytes::new(SIZE), 0);
    assert_eq!(bench.sampler.on_lost(&lost).unwrap().in_flight, SIZE);
    bench.in_flight -= SIZE;
    let sample = bench.ack(130, &[1]).unwrap();
    assert_eq!((sample.lost, sample.newly_lost, sample.tx_in_flight), (SIZE, SIZE, 2 * SIZE));
    bench.send(500, true);
    bench.send(500, false);
    assert!(bench.ack(600, &[2]).unwrap().app_limited);
    bench.send(600, false);
    assert!(bench.ack(610, &[3]).unwrap().app_limited, "the second packet followed the gap too");
    let sample = bench.ack(700, &[4]).unwrap();
    assert!(!sample.app_limited, "the gap had left the path");
    assert_eq!(sample.lost, 0);
}

#[test]
fn numbers_that_start_anew_and_gaps_between_them_do_no_harm() {
    let mut bench = Bench::new();
    let mut send = |millis, number| {
        let sent = Sent::new(at(millis), Bytes::new(SIZE), Bytes::new(SIZE), number);
        bench.sampler.on_sent(&sent);
    };
    send(0, 5);
    send(1, 1_000);
    send(2, 0);
    send(3, 7);
    bench.sent = vec![at(2); 8];
    bench.in_flight = SIZE;
    assert!(bench.ack(10, &[0]).is_some());
    assert_eq!(bench.sampler.packets.len(), 1);
    // Number 7 was sent at 3 ms, and this acknowledges one sent at 2 ms.
    bench.in_flight = SIZE;
    assert!(bench.ack(11, &[7]).is_none());
}

#[test]
fn what_may_have_been_sent_before_tells_no_round_trip() {
    let mut bench = Bench::new();
    bench.send(0, false);
    bench.send(1, false);
    bench.send(2, false);
    assert_eq!(bench.ack(100, &[0]).unwrap().rtt, Some(SimDuration::from_millis(100)));
    bench.send(150, false);
    let sample = bench.ack_doubtfully(160, &[1, 3], &[3]).unwrap();
    assert_eq!(sample.rtt, Some(SimDuration::from_millis(159)), "that of the other one");
    bench.send(170, false);
    let sample = bench.ack_doubtfully(180, &[4], &[4]).unwrap();
    assert_eq!((sample.rtt, sample.newly_acked), (None, SIZE));
    assert_eq!(bench.sampler.min_rtt, Some(SimDuration::from_millis(100)));
}
