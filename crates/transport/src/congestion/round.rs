//! Round trips counted by packet numbers, and by what has been delivered.

use super::rate::RateSample;

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
    use super::*;

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
