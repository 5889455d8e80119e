//! Round-trip time of a path (RFC 9002 section 5) and the times derived from it.

use leobench_base::{SimDuration, SimTime};
use leobench_transport::congestion::Rtt;

/// `kGranularity` (RFC 9002 section 6.1.2).
pub(super) const GRANULARITY: SimDuration = SimDuration::from_millis(1);
/// `kTimeThreshold` (RFC 9002 section 6.1.2): 9/8.
const TIME_THRESHOLD: (u64, u64) = (9, 8);
/// `kPersistentCongestionThreshold` (RFC 9002 section 7.6.1).
const PERSISTENT_THRESHOLD: u64 = 3;

/// The estimator of RFC 9002 section 5.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    rtt: Rtt,
    /// `rttvar`.
    variation: SimDuration,
    /// `first_rtt_sample`.
    first_sample: Option<SimTime>,
}

impl RttEstimator {
    /// RFC 9002 section 5.3: half of the initial value is its variation.
    pub(super) fn new(initial: SimDuration) -> Self {
        let rtt = Rtt { latest: SimDuration::ZERO, smoothed: initial, min: SimDuration::ZERO };
        Self { rtt, variation: initial / 2, first_sample: None }
    }

    /// `UpdateRtt` (RFC 9002 appendix A.7). `ack_delay` is what the peer may have held the acknowledgement back.
    pub(super) fn sample(&mut self, now: SimTime, latest: SimDuration, ack_delay: SimDuration) {
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            self.rtt = Rtt { latest, smoothed: latest, min: latest };
            self.variation = latest / 2;
            return;
        }
        self.rtt.latest = latest;
        self.rtt.min = self.rtt.min.min(latest);
        let adjusted = if latest >= self.rtt.min + ack_delay { latest - ack_delay } else { latest };
        let smoothed = self.rtt.smoothed;
        let deviation = SimDuration::from_nanos(smoothed.as_nanos().abs_diff(adjusted.as_nanos()));
        self.variation = (self.variation * 3 + deviation) / 4;
        self.rtt.smoothed = (smoothed * 7 + adjusted) / 8;
    }

    /// RFC 9002 section 5.2: after persistent congestion the minimum is the newest sample.
    pub(super) fn reset_min(&mut self) {
        self.rtt.min = self.rtt.latest;
    }

    /// Latest, smoothed and smallest round-trip time; before the first sample only the smoothed one means something.
    #[inline]
    pub(crate) fn rtt(&self) -> Rtt {
        self.rtt
    }

    /// The smoothed round-trip time, or the initial one.
    #[inline]
    pub(crate) fn smoothed(&self) -> SimDuration {
        self.rtt.smoothed
    }

    /// The variation of the round-trip time.
    #[inline]
    pub(crate) fn variation(&self) -> SimDuration {
        self.variation
    }

    /// Latest sample, if there is one.
    pub(crate) fn latest(&self) -> Option<SimDuration> {
        self.first_sample.map(|_| self.rtt.latest)
    }

    /// When the first sample was taken.
    #[inline]
    pub(super) fn first_sample(&self) -> Option<SimTime> {
        self.first_sample
    }

    /// The probe timeout without the peer's delay and without backoff (RFC 9002 section 6.2.1).
    #[inline]
    pub(super) fn probe_timeout(&self) -> SimDuration {
        self.rtt.smoothed + (self.variation * 4).max(GRANULARITY)
    }

    /// How long after a packet was sent it is lost if a later one was acknowledged (RFC 9002 section 6.1.2).
    #[inline]
    pub(super) fn loss_delay(&self) -> SimDuration {
        let (numerator, denominator) = TIME_THRESHOLD;
        (self.rtt.latest.max(self.rtt.smoothed) * numerator / denominator).max(GRANULARITY)
    }

    /// The duration that losses must exceed for persistent congestion (RFC 9002 section 7.6.1).
    pub(super) fn persistent_duration(&self, max_ack_delay: SimDuration) -> SimDuration {
        (self.probe_timeout() + max_ack_delay) * PERSISTENT_THRESHOLD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> SimDuration {
        SimDuration::from_millis(millis)
    }

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + ms(millis)
    }

    /// RFC 9002 section 6.2.2: with 333 ms to begin with, the first timeout is 1 second (999 ms).
    #[test]
    fn before_a_sample_the_initial_value_counts() {
        let rtt = RttEstimator::new(ms(333));
        assert_eq!(rtt.probe_timeout(), ms(333) + SimDuration::from_micros(166_500) * 4);
        assert_eq!((rtt.latest(), rtt.smoothed()), (None, ms(333)));
        assert_eq!(rtt.loss_delay(), SimDuration::from_micros(374_625));
    }

    /// RFC 9002 section 5.3 by hand.
    #[test]
    fn samples_are_smoothed_and_adjusted_by_the_delay_of_the_acknowledgement() {
        let mut rtt = RttEstimator::new(ms(333));
        rtt.sample(at(100), ms(100), ms(30));
        assert_eq!(rtt.rtt().smoothed, ms(100), "the first sample is taken as it is");
        assert_eq!((rtt.rtt().min, rtt.variation), (ms(100), ms(50)));
        assert_eq!(rtt.first_sample(), Some(at(100)));
        // 180 - 20 = 160: rttvar 3/4 * 50 + 60/4 = 52.5, smoothed 7/8 * 100 + 160/8 = 107.5.
        rtt.sample(at(300), ms(180), ms(20));
        assert_eq!(rtt.variation, SimDuration::from_micros(52_500));
        assert_eq!(rtt.smoothed(), SimDuration::from_micros(107_500));
        assert_eq!(rtt.latest(), Some(ms(180)));
        // 110 - 20 is less than the minimum of 100, so the delay is not believed:
        // rttvar 3/4 * 52.5 + 2.5/4 = 40, smoothed 7/8 * 107.5 + 110/8 = 107.8125.
        rtt.sample(at(400), ms(110), ms(20));
        assert_eq!(rtt.variation, ms(40));
        assert_eq!(rtt.smoothed(), SimDuration::from_nanos(107_812_500));
        // A new minimum is not adjusted.
        rtt.sample(at(500), ms(60), ms(0));
        assert_eq!((rtt.rtt().min, rtt.first_sample()), (ms(60), Some(at(100))));
    }

    #[test]
    fn timeouts_and_thresholds_follow_from_it() {
        let mut rtt = RttEstimator::new(ms(333));
        rtt.sample(at(80), ms(80), ms(0));
        assert_eq!(rtt.probe_timeout(), ms(80 + 4 * 40));
        assert_eq!(rtt.loss_delay(), ms(90));
        assert_eq!(rtt.persistent_duration(ms(25)), ms(3 * 265));
        // rttvar 3/4 * 40 + 80/4 = 50, smoothed 7/8 * 80 + 160/8 = 90; the latest is longer.
        rtt.sample(at(300), ms(160), ms(0));
        assert_eq!((rtt.loss_delay(), rtt.probe_timeout()), (ms(180), ms(90 + 200)));
        rtt.reset_min();
        assert_eq!(rtt.rtt().min, ms(160));
    }

    #[test]
    fn nothing_is_shorter_than_the_granularity() {
        let mut rtt = RttEstimator::new(ms(333));
        let short = SimDuration::from_micros(100);
        for _ in 0..100 {
            rtt.sample(at(1), short, SimDuration::ZERO);
        }
        assert_eq!(rtt.probe_timeout(), short + GRANULARITY);
        assert_eq!(rtt.loss_delay(), GRANULARITY);
    }
}
