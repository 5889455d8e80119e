//! The arrival filter: a regression line through the accumulated one-way delay of the last groups (libwebrtc,
//! `trendline_estimator.cc`).

use std::collections::VecDeque;

use leobench_base::SimTime;

use super::groups::Variation;

/// Groups on the line (`kDefaultTrendlineWindowSize`).
const WINDOW: usize = 20;
/// Weight of the past in the smoothed delay (`kDefaultTrendlineSmoothingCoeff`).
const SMOOTHING: f64 = 0.9;
/// Scale to the thresholds of the draft (`kDefaultTrendlineThresholdGain`).
const GAIN: f64 = 4.0;
/// Groups up to which the estimate gains weight (`kMinNumDeltas`).
const MOST_WEIGHT: f64 = 60.0;

#[derive(Debug, Default)]
pub(super) struct Trendline {
    first_arrival: Option<SimTime>,
    variations: f64,
    accumulated_ms: f64,
    smoothed_ms: f64,
    /// Time since the first arrival, and smoothed delay then, in milliseconds.
    points: VecDeque<(f64, f64)>,
    slope: f64,
}

impl Trendline {
    /// Adds the variation between two groups. Returns the slope of the delay, scaled to milliseconds that compare with the
    /// draft's thresholds.
    pub fn update(&mut self, variation: &Variation, arrival: SimTime) -> f64 {
        let first = *self.first_arrival.get_or_insert(arrival);
        self.variations += 1.0;
        self.accumulated_ms += variation.arrival_ms - variation.sent_ms;
        self.smoothed_ms = SMOOTHING * self.smoothed_ms + (1.0 - SMOOTHING) * self.accumulated_ms;
        if self.points.len() == WINDOW {
            self.points.pop_front();
        }
        let time = arrival.saturating_since(first).as_millis_f64();
        self.points.push_back((time, self.smoothed_ms));
        if self.points.len() == WINDOW {
            self.slope = slope(&self.points).unwrap_or(self.slope);
        }
        if self.variations < 2.0 {
            0.0
        } else {
            self.variations.min(MOST_WEIGHT) * self.slope * GAIN
        }
    }
}

/// The slope of the line with the least squares; none if all points are at one time.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let above: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let below: f64 = points.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum();
    (below > 0.0).then(|| above / below)
}
