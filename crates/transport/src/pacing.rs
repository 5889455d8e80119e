//! Pacing: spreading a window over a round trip (RFC 9002 section 7.7).

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

/// How much faster than one window per round trip the sender may go (N in RFC 9002 section 7.7).
const GAIN_NUMERATOR: u64 = 5;
const GAIN_DENOMINATOR: u64 = 4;

/// The rate at which a window spread over a round trip leaves, with the gain of RFC 9002 section 7.7.
pub fn window_rate(window: Bytes, smoothed_rtt: SimDuration) -> BitRate {
    let nanos = u128::from(smoothed_rtt.as_nanos().max(1)) * u128::from(GAIN_DENOMINATOR);
    let bits = u128::from(window.bits()) * u128::from(GAIN_NUMERATOR) * 1_000_000_000;
    BitRate::from_bps(u64::try_from(bits / nanos).unwrap_or(u64::MAX))
}

/// A leaky bucket: packets leave at the pacing rate, after a burst at most.
#[derive(Clone, Debug)]
pub struct Pacer {
    burst: Bytes,
    /// When the bucket would be level; it may lie behind the present by the burst at most.
    level: SimTime,
}

impl Pacer {
    /// A pacer that lets `burst` bytes leave at once after an idle time (RFC 9002 section 7.7 limits bursts to the
    /// initial congestion window).
    pub fn new(burst: Bytes) -> Self {
        Self { burst, level: SimTime::ZERO }
    }

    /// When the next packet may leave; not later than `now` if at once.
    pub fn ready(&self) -> SimTime {
        self.level
    }

    /// A packet of `size` bytes left at `now` while the pacing rate is `rate`.
    pub fn on_sent(&mut self, now: SimTime, size: Bytes, rate: BitRate) {
        let spread = |size| rate.serialise(size, 0).map_or(SimDuration::ZERO, |(span, _)| span);
        let earliest = now - spread(self.burst.saturating_sub(size));
        self.level = self.level.max(earliest) + spread(size);
    }
}
