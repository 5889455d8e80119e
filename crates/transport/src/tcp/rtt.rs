//! Round-trip time and the resulting retransmission timeout (RFC 6298).

use leobench_base::{SimDuration, SimTime};

use crate::congestion::Rtt;

/// Maximum retransmission timeout (RFC 6298 section 2.5 allows a bound of at least 60 s; 120 s in Linux).
const MAX_RTO: SimDuration = SimDuration::from_secs(120);
/// Minimum timeout for data after a timeout in the handshake (RFC 6298 section 5.7).
const FALLBACK_RTO: SimDuration = SimDuration::from_secs(3);
/// Number of doublings from a nanosecond to the maximum timeout.
const MOST_DOUBLINGS: u32 = 40;

/// The estimator of RFC 6298 section 2, and the smallest sample.
#[derive(Clone, Debug)]
pub(super) struct RttEstimator {
    sampled: Option<Rtt>,
    /// `RTTVAR`.
    variation: SimDuration,
    initial_rto: SimDuration,
    min_rto: SimDuration,
    /// How often the timeout has doubled since the last sample (section 5.5).
    backoff: u32,
}

impl RttEstimator {
    pub(super) fn new(initial_rto: SimDuration, min_rto: SimDuration) -> Self {
        Self { sampled: None, variation: SimDuration::ZERO, initial_rto, min_rto, backoff: 0 }
    }

    /// The minimum margin above the smoothed round-trip time.
    pub(super) fn min_rto(&self) -> SimDuration {
        self.min_rto
    }

    /// The estimates, if there is a sample.
    pub(super) fn sampled(&self) -> Option<Rtt> {
        self.sampled
    }

    /// The estimates, or else the initial timeout.
    pub(super) fn assumed(&self) -> Rtt {
        let initial = self.initial_rto;
        self.sampled.unwrap_or(Rtt { latest: initial, smoothed: initial, min: initial })
    }

    /// Adds a sample and resets the backoff of the timeout (section 5.7).
    pub(super) fn sample(&mut self, latest: SimDuration) {
        self.backoff = 0;
        let Some(rtt) = &mut self.sampled else {
            self.sampled = Some(Rtt { latest, smoothed: latest, min: latest });
            self.variation = latest / 2;
            return;
        };
        let deviation =
            SimDuration::from_nanos(rtt.smoothed.as_nanos().abs_diff(latest.as_nanos()));
        // Section 2.3: beta is 1/4, alpha 1/8.
        self.variation = (self.variation * 3 + deviation) / 4;
        rtt.smoothed = (rtt.smoothed * 7 + latest) / 8;
        rtt.latest = latest;
        rtt.min = rtt.min.min(latest);
    }

    /// The timeout. As in Linux, the minimum applies to its part above the smoothed round-trip time, so that a long
    /// path has a margin as well (in section 2.4 it applies to the whole).
    pub(super) fn timeout(&self) -> SimDuration {
        self.doubled(self.backoff)
    }

    /// The timeout after `times` doublings.
    pub(super) fn doubled(&self, times: u32) -> SimDuration {
        let base = match self.sampled {
            Some(rtt) => rtt.smoothed + (self.variation * 4).max(self.min_rto),
            None => self.initial_rto,
        };
        (base * (1 << times.min(MOST_DOUBLINGS))).min(MAX_RTO)
    }

    /// Doubles the next timeout after an expiry.
    pub(super) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MOST_DOUBLINGS);
    }

    /// Sets the timeout to at least three seconds, because the handshake timed out and gave no sample (section 5.7).
    pub(super) fn fall_back(&mut self) {
        self.initial_rto = self.initial_rto.max(FALLBACK_RTO);
    }

    /// Whether the timeout has doubled since the last sample.
    pub(super) fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// When a timer that starts at `now` expires.
    pub(super) fn deadline(&self, now: SimTime) -> SimTime {
        now + self.timeout()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> SimDuration {
        SimDuration::from_millis(millis)
    }

    #[test]
    fn the_timeout_follows_the_rfc() {
        let mut rtt = RttEstimator::new(ms(1_000), ms(1));
        assert_eq!(rtt.timeout(), ms(1_000));
        rtt.sample(ms(100));
        // SRTT 100, RTTVAR 50.
        assert_eq!(rtt.timeout(), ms(300));
        rtt.sample(ms(180));
        // RTTVAR 3/4 * 50 + 80/4 = 57.5, SRTT 7/8 * 100 + 180/8 = 110.
        assert_eq!(rtt.timeout(), ms(340));
        rtt.sample(ms(30));
        let rtt = rtt.sampled().unwrap();
        assert_eq!((rtt.latest, rtt.smoothed, rtt.min), (ms(30), ms(100), ms(30)));
    }

    #[test]
    fn it_doubles_up_to_two_minutes_until_a_sample() {
        let mut rtt = RttEstimator::new(ms(1_000), ms(200));
        rtt.sample(ms(10));
        let backed_off = std::iter::repeat_with(|| {
            let timeout = rtt.timeout();
            rtt.back_off();
            timeout
        });
        let expected = [210, 420, 840, 1_680, 3_360, 6_720, 13_440, 26_880, 53_760, 107_520];
        assert!(backed_off.take(10).eq(expected.map(ms)), "a tenth of 5 ms is below the minimum");
        assert_eq!(rtt.timeout(), ms(120_000));
        (0..100).for_each(|_| rtt.back_off());
        assert_eq!(rtt.timeout(), ms(120_000));
        rtt.sample(ms(10));
        assert_eq!(rtt.timeout(), ms(210));
    }
}
