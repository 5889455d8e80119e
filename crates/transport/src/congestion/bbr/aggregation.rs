//! Room for aggregated acknowledgements, as in Linux since version 5.1 (`bbr_update_ack_aggregation`).

use leobench_base::{SimDuration, SimTime};

use super::super::ack_interval::AckInterval;
use super::super::delivery_rate::DeliveryRate;
use super::super::rate::RateSample;

/// Round trips after which the older of two maxima is forgotten (`bbr_extra_acked_win_rtts`).
const WINDOW: u32 = 5;
/// The excess is no more than arrives in this time (`bbr_extra_acked_max_us`).
const LONGEST: SimDuration = SimDuration::from_millis(100);

#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    interval: AckInterval,
    /// The largest excess of the present window of rounds and of the one before, in bytes.
    excess: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    pub fn new(now: SimTime) -> Self {
        Self { interval: AckInterval::new(now), excess: [0.0; 2], rounds: 0 }
    }

    /// Begins to count anew.
    pub fn restart(&mut self, now: SimTime) {
        self.interval = AckInterval::new(now);
    }

    pub fn on_sample(
        &mut self,
        sample: &RateSample,
        bandwidth: DeliveryRate,
        window: u64,
        round_start: bool,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW {
                self.rounds = 0;
                self.excess = [0.0, self.excess[0]];
            }
        }
        let excess = self.interval.on_sample(sample, bandwidth, window);
        self.excess[0] = self.excess[0].max(excess);
    }

    /// Bytes that the window should hold on top.
    pub fn allowance(&self, bandwidth: DeliveryRate) -> f64 {
        self.excess[0].max(self.excess[1]).min(bandwidth * LONGEST)
    }
}
