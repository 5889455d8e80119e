//! Aggregated acknowledgements: how far they run ahead of the bandwidth estimate (`bbr_update_ack_aggregation` of Linux since
//! version 5.1; `UpdateACKAggregation` of draft-ietf-ccwg-bbr-06, section 5.5.9).

use leobench_base::SimTime;

use super::delivery_rate::DeliveryRate;
use super::rate::RateSample;

/// An interval in which more bytes are acknowledged than the bandwidth estimate predicts.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckInterval {
    start: SimTime,
    /// Bytes acknowledged.
    acked: u64,
}

impl AckInterval {
    pub fn new(now: SimTime) -> Self {
        Self { start: now, acked: 0 }
    }

    /// Restarts the time, but keeps the bytes counted so far (`HandleRestartFromIdle` of version 3, section 5.4.1).
    pub fn set_start(&mut self, now: SimTime) {
        self.start = now;
    }

    /// Adds a sample. Returns the bytes acknowledged beyond those expected, up to `window`.
    pub fn on_sample(&mut self, sample: &RateSample, bandwidth: DeliveryRate, window: u64) -> f64 {
        let mut expected = bandwidth * sample.now.saturating_since(self.start);
        if self.acked as f64 <= expected {
            *self = Self::new(sample.now);
            expected = 0.0;
        }
        self.acked += sample.newly_acked;
        (self.acked as f64 - expected).min(window as f64)
    }
}
