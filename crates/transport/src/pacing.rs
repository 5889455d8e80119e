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
///
/// The bucket holds bytes, so that what is in it drains at whatever the rate has become, and not at the rate it came in.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Bits in the bucket as of `since`, times 10^9: what a rate of 1 bit/s drains in a nanosecond counts one.
    level: u64,
    since: SimTime,
    /// The level up to which a packet may be poured in.
    allowance: u64,
}

impl Pacer {
    /// A pacer for packets of at most `packet` bytes that lets `burst` bytes leave at once after an idle time (RFC 9002
    /// section 7.7 limits bursts to the initial congestion window).
    pub fn new(burst: Bytes, packet: Bytes) -> Self {
        Self { level: 0, since: SimTime::ZERO, allowance: scaled(burst.saturating_sub(packet)) }
    }

    /// When the next packet may leave at the pacing rate `rate`; in the past if at once.
    pub fn ready(&self, rate: BitRate) -> SimTime {
        let excess = self.level.saturating_sub(self.allowance);
        if excess == 0 {
            return self.since;
        }
        self.since + SimDuration::from_nanos(excess.div_ceil(rate.bps().max(1)))
    }

    /// A packet of `size` bytes left at `now`, the pacing rate since the last one having been `rate`.
    pub fn on_sent(&mut self, now: SimTime, size: Bytes, rate: BitRate) {
        let drained = rate.bps().saturating_mul(now.saturating_since(self.since).as_nanos());
        self.level = self.level.saturating_sub(drained).saturating_add(scaled(size));
        self.since = now;
    }
}

fn scaled(size: Bytes) -> u64 {
    size.bits().saturating_mul(1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1_250);
    const RATE: BitRate = BitRate::from_bps(10_000_000);

    #[test]
    fn after_a_burst_packets_leave_at_the_rate() {
        let mut pacer = Pacer::new(Bytes::new(12_500), PACKET);
        let mut now = SimTime::ZERO;
        let mut sent_at = Vec::new();
        for _ in 0..20 {
            now = now.max(pacer.ready(RATE));
            sent_at.push(now.as_nanos() / 1_000_000);
            pacer.on_sent(now, PACKET, RATE);
        }
        let expected: Vec<u64> = [0; 10].into_iter().chain(1..=10).collect();
        assert_eq!(sent_at, expected, "1,250 bytes at 10 Mbit/s are one millisecond");
    }

    #[test]
    fn idle_time_earns_no_more_than_a_burst() {
        let mut pacer = Pacer::new(Bytes::new(2_500), PACKET);
        let now = SimTime::ZERO + SimDuration::from_secs(9);
        pacer.on_sent(now, PACKET, RATE);
        assert!(pacer.ready(RATE) <= now);
        pacer.on_sent(now, PACKET, RATE);
        assert_eq!(pacer.ready(RATE), now + SimDuration::from_millis(1));
    }

    #[test]
    fn what_is_in_the_bucket_drains_at_the_rate_of_the_day() {
        let mut pacer = Pacer::new(PACKET, PACKET);
        let slow = BitRate::from_bps(10_000);
        pacer.on_sent(SimTime::ZERO, PACKET, slow);
        assert_eq!(pacer.ready(slow), SimTime::ZERO + SimDuration::from_secs(1));
        assert_eq!(pacer.ready(RATE), SimTime::ZERO + SimDuration::from_millis(1));
    }

    #[test]
    fn a_window_leaves_in_four_fifths_of_a_round_trip() {
        let rate = window_rate(Bytes::new(100_000), SimDuration::from_millis(100));
        assert_eq!(rate, BitRate::from_bps(10_000_000));
    }
}
