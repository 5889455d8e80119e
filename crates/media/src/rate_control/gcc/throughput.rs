//! The rate that arrives (`R_hat`, section 5.5 of the draft).

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime};

/// Window of the measurement (section 5.5: "0.5 seconds is RECOMMENDED").
const WINDOW: SimDuration = SimDuration::from_millis(500);

#[derive(Debug, Default)]
pub(super) struct Throughput {
    first: Option<SimTime>,
    newest: SimTime,
    arrivals: VecDeque<(SimTime, u64)>,
    bits: u64,
}

impl Throughput {
    pub fn on_arrival(&mut self, arrival: SimTime, bytes: Bytes) {
        self.first.get_or_insert(arrival);
        self.newest = self.newest.max(arrival);
        self.arrivals.push_back((arrival, bytes.bits()));
        self.bits += bytes.bits();
        while let Some((_, bits)) =
            self.arrivals.pop_front_if(|(time, _)| self.newest.saturating_since(*time) >= WINDOW)
        {
            self.bits -= bits;
        }
    }

    /// In bit/s; none until arrivals fill a window.
    pub fn rate(&self) -> Option<f64> {
        let known = self.newest.saturating_since(self.first?);
        (known >= WINDOW).then(|| self.bits as f64 / WINDOW.as_secs_f64())
    }
}
