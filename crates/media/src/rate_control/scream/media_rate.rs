//! The rate of the encoder (RFC 8298, section 4.1.3).

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime};

use super::window::{BETA_ECN, Event, Window};
use crate::rate_control::Bounds;

/// Interval of adjustments (`RATE_ADJUST_INTERVAL`; this and all that follow are of section 4.1.1.1).
const INTERVAL: SimDuration = SimDuration::from_millis(200);
/// Largest growth in bit/s a second (`RAMP_UP_SPEED`).
const RAMP_UP: f64 = 200_000.0;
/// Factor for a loss (`BETA_R`).
const BETA: f64 = 0.9;
/// Weight of the trend of the queueing delay (`PRE_CONGESTION_GUARD`).
const GUARD: f64 = 0.1;
/// Weight of the queue at the sender (`TX_QUEUE_SIZE_FACTOR`).
const QUEUE: f64 = 1.0;
/// A longer queue at the sender, in seconds, lowers the rate by this factor (`RTP_QDELAY_TH`,
/// `TARGET_RATE_SCALE_RTP_QDELAY`).
const LONG_QUEUE: f64 = 0.02;
const LONG_QUEUE_SCALE: f64 = 0.95;
/// Intervals over which the median of the media rate is taken ("more than 10 s", section 4.1.1.2).
const MEDIAN_OF: usize = 55;

#[derive(Debug)]
pub(super) struct MediaRate {
    bounds: Bounds,
    target: f64,
    /// The target when congestion was last detected (`target_bitrate_last_max`).
    last_most: f64,
    adjusted: Option<SimTime>,
    produced: u64,
    sent: u64,
    acknowledged: u64,
    /// The rate of the last intervals in bit/s.
    media: VecDeque<f64>,
    /// The last rates in bit/s: sent, and acknowledged.
    transmit: f64,
    ack: f64,
}

impl MediaRate {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            target: bounds.start,
            last_most: 1.0,
            adjusted: None,
            produced: 0,
            sent: 0,
            acknowledged: 0,
            media: VecDeque::new(),
            transmit: 0.0,
            ack: 0.0,
        }
    }

    /// In bit/s.
    pub fn target(&self) -> f64 {
        self.target
    }

    pub fn on_produced(&mut self, bytes: Bytes) {
        self.produced += bytes.bits();
    }

    pub fn on_sent(&mut self, now: SimTime, bytes: Bytes) {
        self.adjusted.get_or_insert(now);
        self.sent += bytes.bits();
    }

    pub fn on_acknowledged(&mut self, bytes: Bytes) {
        self.acknowledged += bytes.bits();
    }

    /// Moves the target: at once after a loss or a mark, and else at most once in an interval.
    pub fn adjust(&mut self, now: SimTime, event: Event, window: &Window, queued: Bytes) {
        if event != Event::None {
            self.last_most = self.target;
        }
        match event {
            Event::Loss => self.target = self.bounds.clamp(self.target * BETA),
            Event::Mark => self.target = self.bounds.clamp(self.target * BETA_ECN),
            Event::Delay | Event::None => {}
        }
        let elapsed = self.adjusted.map_or(SimDuration::ZERO, |last| now.saturating_since(last));
        if elapsed < INTERVAL {
            return;
        }
        self.adjusted = Some(now);
        self.measure(elapsed.as_secs_f64());
        if matches!(event, Event::Delay | Event::None) {
            self.move_target(window, queued.bits() as f64);
        }
    }

    fn measure(&mut self, seconds: f64) {
        let rate = |bits: u64| bits as f64 / seconds;
        self.transmit = rate(std::mem::take(&mut self.sent));
        self.ack = rate(std::mem::take(&mut self.acknowledged));
        if self.media.len() == MEDIAN_OF {
            self.media.pop_front();
        }
        self.media.push_back(rate(std::mem::take(&mut self.produced)));
    }

    fn move_target(&mut self, window: &Window, queued_bits: f64) {
        let interval = INTERVAL.as_secs_f64();
        let ramp_up = RAMP_UP.min(self.target / 2.0);
        let off = 4.0 * (self.target - self.last_most) / self.last_most;
        let scale = (off * off).clamp(0.2, 1.0);
        let current = self.transmit.max(self.ack);
        let (trend, trend_memory) = window.trend();
        if window.in_fast_increase() {
            self.target += ramp_up * interval * scale;
        } else {
            let change = current * (1.0 - GUARD * trend) - QUEUE * queued_bits;
            let limited = |change: f64| (change * scale).min(ramp_up * interval);
            self.target += if change > 0.0 { limited(change) } else { change };
            if queued_bits > LONG_QUEUE * current {
                self.target *= LONG_QUEUE_SCALE;
            }
        }
        let media = self.media.back().copied().unwrap_or(0.0);
        let most = current.max(media).max(median(&self.media)) * (2.0 - trend_memory);
        self.target = self.bounds.clamp(self.target.min(most));
    }
}

fn median(values: &VecDeque<f64>) -> f64 {
    let mut sorted: Vec<_> = values.iter().copied().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
