//! Pacing: spreading a window over a round trip (RFC 9002 section 7.7).

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

/// How much faster than one window per round trip the sender may go (N in RFC 9002 section 7.7).
const GAIN_NUMERATOR: u64 = 5;
const GAIN_DENOMINATOR: u64 = 4;

/// The rate at which a window spread over a round trip leaves, with the gain of RFC 9002 section 7.7.
pub fn window_rate(window: Bytes, smoothed_rtt: SimDuration) -> BitRate {
    const SCALE: u64 = GAIN_NUMERATOR * 1_000_000_000;
    let nanos = smoothed_rtt.as_nanos().max(1).saturating_mul(GAIN_DENOMINATOR);
    let rate = match window.bits().checked_mul(SCALE) {
        Some(scaled) => scaled / nanos,
        None => u64::try_from(u128::from(window.bits()) * u128::from(SCALE) / u128::from(nanos))
            .unwrap_or(u64::MAX),
    };
    BitRate::from_bps(rate)
}

/// A leaky bucket: packets leave at the pacing rate, but for a burst after an idle time.
#[derive(Clone, Debug)]
pub struct Pacer {
    burst: Bytes,
    /// Time it takes the bucket to drain, counted from `since`.
    level: SimDuration,
    since: SimTime,
    /// The level up to which packets may still be poured in.
    allowance: SimDuration,
}

impl Pacer {
    /// A pacer that lets `burst` bytes leave at once after an idle time (RFC 9002 section 7.7 limits bursts to the
    /// initial congestion window).
    pub fn new(burst: Bytes) -> Self {
        Self { burst, level: SimDuration::ZERO, since: SimTime::ZERO, allowance: SimDuration::ZERO }
    }

    /// When the next packet may leave; in the past if at once.
    pub fn ready(&self) -> SimTime {
        self.since + self.level.saturating_sub(self.allowance)
    }

    /// A packet of `size` bytes left at `now` while the pacing rate is `rate`.
    pub fn on_sent(&mut self, now: SimTime, size: Bytes, rate: BitRate) {
        let spread = |size| rate.serialise(size, 0).map_or(SimDuration::ZERO, |(span, _)| span);
        self.level = self.level.saturating_sub(now.saturating_since(self.since)) + spread(size);
        self.since = now;
        self.allowance = spread(self.burst.saturating_sub(size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1_250);
    const RATE: BitRate = BitRate::from_bps(10_000_000);

    #[test]
    fn after_a_burst_packets_leave_at_the_rate() {
        let mut pacer = Pacer::new(Bytes::new(12_500));
        let mut now = SimTime::ZERO;
        let mut sent_at = Vec::new();
        for _ in 0..20 {
            now = now.max(pacer.ready());
            sent_at.push(now.as_nanos() / 1_000_000);
            pacer.on_sent(now, PACKET, RATE);
        }
        let expected: Vec<u64> = [0; 10].into_iter().chain(1..=10).collect();
        assert_eq!(sent_at, expected, "1,250 bytes at 10 Mbit/s are one millisecond");
    }

    #[test]
    fn idle_time_earns_no_more_than_a_burst() {
        let mut pacer = Pacer::new(Bytes::new(2_500));
        let now = SimTime::ZERO + SimDuration::from_secs(9);
        pacer.on_sent(now, PACKET, RATE);
        assert!(pacer.ready() <= now);
        pacer.on_sent(now, PACKET, RATE);
        assert_eq!(pacer.ready(), now + SimDuration::from_millis(1));
    }

    #[test]
    fn a_window_leaves_in_four_fifths_of_a_round_trip() {
        let rate = window_rate(Bytes::new(100_000), SimDuration::from_millis(100));
        assert_eq!(rate, BitRate::from_bps(10_000_000));
    }
}
