//! Round trips counted by packet numbers, and by what has been delivered.

use leobench_base::SimDuration;

use super::rate::RateSample;
use super::{Acked, Sent};

/// Counts the round trips of a path: one ends when a packet is acknowledged that was sent after it began.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundCounter {
    /// The number that the next packet will have at least.
    next: u64,
    /// The first number that was not sent when the round began.
    end: u64,
}

impl RoundCounter {
    /// A packet was sent. A number that is not larger than the last one opens a new number space, and a new round.
    pub fn on_sent(&mut self, number: u64) {
        if number < self.next {
            self.end = number;
        }
        self.next = number + 1;
    }

    /// A packet was acknowledged: whether it is the first of a new round.
    pub fn begins(&mut self, number: u64) -> bool {
        let begins = number >= self.end;
        if begins {
            self.end = self.next;
        }
        begins
    }

    /// Lets a new round begin with the next packet sent.
    pub fn restart(&mut self) {
        self.end = self.next;
    }
}

/// Samples a round must have for its round-trip times to be trusted (Linux's Vegas: with two or fewer, acknowledgements
/// may all have been delayed).
const FEWEST_SAMPLES: u32 = 3;

/// The round-trip times of each round, by which Vegas and its kin estimate the queue.
#[derive(Clone, Debug)]
pub(super) struct RoundRtts {
    rounds: RoundCounter,
    /// `BaseRTT`: the shortest round trip since the sender was last idle.
    base: SimDuration,
    /// Of the round under way: the shortest round trip, their sum, and how many there were.
    shortest: SimDuration,
    sum: SimDuration,
    samples: u32,
}

/// The round-trip times of a round that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundRtt {
    /// The shortest of all rounds.
    pub base: SimDuration,
    /// The shortest of the round.
    pub shortest: SimDuration,
    /// Their mean.
    pub mean: SimDuration,
    /// Whether they are enough to be trusted.
    pub trusted: bool,
}

impl Default for RoundRtts {
    fn default() -> Self {
        Self {
            rounds: RoundCounter::default(),
            base: SimDuration::MAX,
            shortest: SimDuration::MAX,
            sum: SimDuration::ZERO,
            samples: 0,
        }
    }
}

impl RoundRtts {
    /// A packet was sent. Returns whether the sender had been idle: measurements then begin anew, as in Linux, because the
    /// path may have changed.
    pub fn on_sent(&mut self, sent: &Sent) -> bool {
        let idle = sent.in_flight == sent.size;
        if idle {
            self.restart();
            self.base = SimDuration::MAX;
        }
        self.rounds.on_sent(sent.packet_number);
        idle
    }

    /// A packet was acknowledged. Returns the round that this ends, if it ends one.
    pub fn on_ack(&mut self, acked: &Acked) -> Option<RoundRtt> {
        let rtt = acked.rtt.latest;
        self.base = self.base.min(rtt);
        self.shortest = self.shortest.min(rtt);
        self.sum += rtt;
        self.samples += 1;
        if !self.rounds.begins(acked.packet_number) {
            return None;
        }
        let round = RoundRtt {
            base: self.base,
            shortest: self.shortest,
            mean: self.sum / u64::from(self.samples),
            trusted: self.samples >= FEWEST_SAMPLES,
        };
        self.clear();
        Some(round)
    }

    /// Lets a new round begin with the next packet sent.
    pub fn restart(&mut self) {
        self.rounds.restart();
        self.clear();
    }

    fn clear(&mut self) {
        self.shortest = SimDuration::MAX;
        self.sum = SimDuration::ZERO;
        self.samples = 0;
    }
}

/// The round trips of BBR (`BBRUpdateRound`): a round ends when a packet is acknowledged that was sent after everything
/// delivered at the start of the round had been delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeliveryRounds {
    /// Rounds that have begun.
    pub count: u64,
    /// Whether one begins with the latest sample.
    pub begins: bool,
    /// Bytes that must have been delivered before the newest acknowledged packet was sent, for the round to end.
    end: u64,
}

impl DeliveryRounds {
    /// Takes a sample with which `delivered` bytes have been delivered in all; whether a round begins.
    pub fn update(&mut self, sample: &RateSample, delivered: u64) -> bool {
        self.begins = sample.prior_delivered >= self.end;
        if self.begins {
            self.end = delivered;
            self.count += 1;
        }
        self.begins
    }

    /// `StartRound`: what is sent from now on, after `delivered` bytes, ends the round.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::{Bytes, SimTime};

    use super::*;
    use crate::congestion::tests::acked;

    /// Worked by hand: rounds of 40, 60 and 80 ms, of 50 ms alone, and of 70, 80 and 90 ms after an idle time.
    #[test]
    fn a_round_has_the_shortest_and_the_mean_of_its_round_trips() {
        let (ms, size) = (SimDuration::from_millis, Bytes::new(1));
        let mut rtts = RoundRtts::default();
        let send = |rtts: &mut RoundRtts, number: u64, in_flight: u64| {
            let sent = Sent::new(SimTime::ZERO, size, Bytes::new(in_flight), number);
            rtts.on_sent(&sent)
        };
        let ack = |rtts: &mut RoundRtts, number: u64, rtt: u64| {
            let acked = acked(SimTime::ZERO + ms(1_000), ms(rtt));
            rtts.on_ack(&Acked { packet_number: number, ..acked })
        };
        assert!(send(&mut rtts, 0, 1));
        assert!(!send(&mut rtts, 1, 2));
        assert_eq!(ack(&mut rtts, 0, 60).unwrap().mean, ms(60));
        assert!((2..5).all(|number| !send(&mut rtts, number, number)));
        assert_eq!(ack(&mut rtts, 1, 80), None, "sent before the round began");
        assert_eq!(ack(&mut rtts, 1, 40), None);
        let round = ack(&mut rtts, 2, 60).unwrap();
        let expected = RoundRtt { base: ms(40), shortest: ms(40), mean: ms(60), trusted: true };
        assert_eq!(round, expected);
        send(&mut rtts, 5, 3);
        let round = ack(&mut rtts, 5, 50).unwrap();
        let expected = RoundRtt { base: ms(40), shortest: ms(50), mean: ms(50), trusted: false };
        assert_eq!(round, expected);
        assert!(send(&mut rtts, 6, 1), "nothing else is in flight");
        assert!(!send(&mut rtts, 7, 2));
        assert_eq!(ack(&mut rtts, 6, 90).unwrap().base, ms(90));
    }

    #[test]
    fn a_round_lasts_until_something_sent_within_it_is_acknowledged() {
        let mut rounds = RoundCounter::default();
        (0..10).for_each(|number| rounds.on_sent(number));
        assert!(rounds.begins(0));
        (10..12).for_each(|number| rounds.on_sent(number));
        assert!(!rounds.begins(5));
        assert!(!rounds.begins(9));
        assert!(rounds.begins(11), "10 may be lost");
        assert!(!rounds.begins(10));
    }

    #[test]
    fn numbers_that_start_anew_begin_a_round() {
        let mut rounds = RoundCounter::default();
        (0..10).for_each(|number| rounds.on_sent(number));
        assert!(rounds.begins(9));
        rounds.on_sent(0);
        assert!(rounds.begins(0));
    }
}
