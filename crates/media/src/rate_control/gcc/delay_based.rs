//! The delay-based rate: increase, hold, decrease (section 5.5 of the draft), as libwebrtc has it (`AimdRateControl`).
//!
//! The draft holds the rate for a report after a decrease; libwebrtc lets it grow from that report on.

use leobench_base::{SimDuration, SimTime};

use super::detector::Usage;
use crate::rate_control::Bounds;

/// Factor of a decrease, on the rate that arrives (`beta`), and what libwebrtc takes off beside, in bit/s (`ChangeBitrate`).
const BETA: f64 = 0.85;
const BELOW: f64 = 5_000.0;
/// Factor of the multiplicative increase in a second (`eta`).
const ETA: f64 = 1.08;
/// The rate is at most this times the rate that arrives, and so much more in bit/s (libwebrtc, `ChangeBitrate`).
const MOST_OVER_ARRIVING: f64 = 1.5;
const ABOVE: f64 = 10_000.0;
/// Response time beside the round trip, in milliseconds.
const RESPONSE_MS: f64 = 100.0;
/// Smallest multiplicative increase in bit/s, and smallest additive one in a second (libwebrtc,
/// `MultiplicativeRateIncrease`, `GetNearMaxIncreaseRateBpsPerSecond`).
const LEAST_STEP: f64 = 1_000.0;
const LEAST_SLOPE: f64 = 4_000.0;
/// Frames a second, and bits of a packet at most, by which the draft estimates the size of a packet.
const FRAMES: f64 = 30.0;
const PACKET_BITS: f64 = 1_200.0 * 8.0;
/// Weight of the past in the mean and the deviation of the rate at which decreases happen.
const SMOOTHING: f64 = 0.95;
/// Limits of its variance over its mean, in kbit/s, and where it starts (libwebrtc, `link_capacity_estimator.cc`).
const VARIANCE: (f64, f64, f64) = (0.4, 0.4, 2.5);
/// Standard deviations around that rate within which the increase is additive.
const DEVIATIONS: f64 = 3.0;
/// Shortest and longest time from a change of the rate to a decrease; within them, it is the round trip (libwebrtc,
/// `TimeToReduceFurther`).
const LEAST_BETWEEN: SimDuration = SimDuration::from_millis(10);
const MOST_BETWEEN: SimDuration = SimDuration::from_millis(200);
/// The round trip before the first measurement (libwebrtc, `kDefaultRtt`).
const ROUND_TRIP: SimDuration = SimDuration::from_millis(200);

/// The rate that arrived when decreases happened, in kbit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Capacity {
    mean: f64,
    /// Variance over the mean.
    variance: f64,
}

impl Capacity {
    fn with(before: Option<Self>, kbps: f64) -> Self {
        let Some(Self { mean, variance }) = before else {
            return Self { mean: kbps, variance: VARIANCE.0 };
        };
        let moved = SMOOTHING * mean + (1.0 - SMOOTHING) * kbps;
        let error = moved - kbps;
        let variance = SMOOTHING * variance + (1.0 - SMOOTHING) * error * error / moved.max(1.0);
        Self { mean: moved, variance: variance.clamp(VARIANCE.1, VARIANCE.2) }
    }

    fn spread(&self) -> f64 {
        DEVIATIONS * (self.variance * self.mean).sqrt()
    }
}

#[derive(Debug)]
pub(super) struct DelayBased {
    bounds: Bounds,
    rate: f64,
    /// Whether it grows, or is held.
    grows: bool,
    /// When the rate changed, or began to grow.
    changed: Option<SimTime>,
    round_trip: SimDuration,
    capacity: Option<Capacity>,
}

impl DelayBased {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            rate: bounds.start,
            grows: false,
            changed: None,
            round_trip: ROUND_TRIP,
            capacity: None,
        }
    }

    /// In bit/s.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Moves the rate by a verdict of the detector; `arriving` is the rate that arrives in bit/s.
    pub fn update(
        &mut self,
        now: SimTime,
        usage: Usage,
        arriving: Option<f64>,
        round_trip: Option<SimDuration>,
    ) {
        self.round_trip = round_trip.unwrap_or(self.round_trip);
        match usage {
            Usage::Over if self.is_early(now, arriving) => return,
            Usage::Over => self.decrease(arriving),
            Usage::Under => {}
            Usage::Normal => {
                let since = self.changed.filter(|_| self.grows).unwrap_or(now);
                self.increase(now.saturating_since(since), arriving);
            }
        }
        self.grows = usage == Usage::Normal;
        if usage == Usage::Under {
            return;
        }
        self.rate = self.bounds.clamp(self.rate);
        self.changed = Some(now);
    }

    /// A burst has shown the rate that the path carries.
    pub fn set(&mut self, now: SimTime, rate: f64, round_trip: Option<SimDuration>) {
        self.round_trip = round_trip.unwrap_or(self.round_trip);
        self.rate = self.bounds.clamp(rate);
        self.changed = Some(now);
    }

    /// Whether it is too early to decrease the rate, less than half of which would have to arrive.
    fn is_early(&self, now: SimTime, arriving: Option<f64>) -> bool {
        let wait = self.round_trip.clamp(LEAST_BETWEEN, MOST_BETWEEN);
        let is_recent = self.changed.is_some_and(|changed| now.saturating_since(changed) < wait);
        is_recent && arriving.is_none_or(|arriving| arriving >= 0.5 * self.rate)
    }

    fn increase(&mut self, elapsed: SimDuration, arriving: Option<f64>) {
        if let (Some(arriving), Some(known)) = (arriving, self.capacity)
            && arriving / 1e3 > known.mean + known.spread()
        {
            self.capacity = None;
        }
        let most = arriving.map_or(f64::INFINITY, |arriving| {
            (MOST_OVER_ARRIVING * arriving + ABOVE).max(self.rate)
        });
        let step = if self.capacity.is_some() {
            let response_s = 2.0 * (RESPONSE_MS + self.round_trip.as_millis_f64()) / 1e3;
            (packet_bits(self.rate) / response_s).max(LEAST_SLOPE) * elapsed.as_secs_f64()
        } else {
            let factor = libm::pow(ETA, elapsed.as_secs_f64().min(1.0));
            ((factor - 1.0) * self.rate).max(LEAST_STEP)
        };
        self.rate = (self.rate + step).min(most);
    }

    fn decrease(&mut self, arriving: Option<f64>) {
        let base = arriving.unwrap_or(self.rate);
        let mut lower = BETA * base - if BETA * base > BELOW { BELOW } else { 0.0 };
        if lower > self.rate
            && let Some(known) = self.capacity
        {
            lower = BETA * known.mean * 1e3;
        }
        self.rate = self.rate.min(lower);
        let kbps = base / 1e3;
        let known = self.capacity.filter(|known| kbps >= known.mean - known.spread());
        self.capacity = Some(Capacity::with(known, kbps));
    }
}

/// The size of a packet at a rate in bit/s, if a frame is cut into as few as possible.
fn packet_bits(rate: f64) -> f64 {
    let frame = rate / FRAMES;
    frame / (frame / PACKET_BITS).ceil().max(1.0)
}
