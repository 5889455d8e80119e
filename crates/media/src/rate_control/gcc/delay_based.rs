//! The delay-based rate: increase, hold, decrease (section 5.5 of the draft).

use leobench_base::{SimDuration, SimTime};

use super::detector::Usage;
use crate::rate_control::Bounds;

/// Factor of a decrease, on the rate that arrives (`beta`).
const BETA: f64 = 0.85;
/// Factor of the multiplicative increase in a second (`eta`).
const ETA: f64 = 1.08;
/// The rate is at most this times the rate that arrives.
const MOST_OVER_ARRIVING: f64 = 1.5;
/// Response time beside the round trip, in milliseconds.
const RESPONSE_MS: f64 = 100.0;
/// Smallest additive increase in bit/s.
const LEAST_STEP: f64 = 1_000.0;
/// Frames a second, and bits of a packet at most, by which the draft estimates the size of a packet.
const FRAMES: f64 = 30.0;
const PACKET_BITS: f64 = 1_200.0 * 8.0;
/// Weight of the past in the mean and the deviation of the rate at which decreases happen.
const SMOOTHING: f64 = 0.95;
/// Limits of its variance over its mean, in kbit/s, and where it starts (libwebrtc, `link_capacity_estimator.cc`).
const VARIANCE: (f64, f64, f64) = (0.4, 0.4, 2.5);
/// Standard deviations around that rate within which the increase is additive.
const DEVIATIONS: f64 = 3.0;
/// Shortest and longest time between two decreases; within them, it is the round trip (libwebrtc, `TimeToReduceFurther`).
const LEAST_BETWEEN: SimDuration = SimDuration::from_millis(10);
const MOST_BETWEEN: SimDuration = SimDuration::from_millis(200);
/// The round trip before the first measurement (libwebrtc, `kDefaultRtt`).
const ROUND_TRIP: SimDuration = SimDuration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

impl State {
    /// The state after a verdict of the detector (the table of section 5.5).
    fn after(self, usage: Usage) -> Self {
        match (self, usage) {
            (_, Usage::Over) => Self::Decrease,
            (_, Usage::Under) | (Self::Decrease, Usage::Normal) => Self::Hold,
            (Self::Hold | Self::Increase, Usage::Normal) => Self::Increase,
        }
    }
}

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
    state: State,
    updated: Option<SimTime>,
    decreased: Option<SimTime>,
    round_trip: SimDuration,
    capacity: Option<Capacity>,
}

impl DelayBased {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            rate: bounds.start,
            state: State::Hold,
            updated: None,
            decreased: None,
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
        self.state = self.state.after(usage);
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(now, arriving),
            State::Decrease => self.decrease(now, arriving),
        }
        self.rate = self.bounds.clamp(self.rate);
        self.updated = Some(now);
    }

    /// A burst has shown the rate that the path carries.
    pub fn set(&mut self, now: SimTime, rate: f64, round_trip: Option<SimDuration>) {
        self.round_trip = round_trip.unwrap_or(self.round_trip);
        self.rate = self.bounds.clamp(rate);
        self.updated = Some(now);
    }

    fn increase(&mut self, now: SimTime, arriving: Option<f64>) {
        if let (Some(arriving), Some(known)) = (arriving, self.capacity)
            && arriving / 1e3 > known.mean + known.spread()
        {
            self.capacity = None;
        }
        let elapsed = self.updated.map_or(SimDuration::ZERO, |before| now.saturating_since(before));
        let raised = if self.capacity.is_some() {
            let response = RESPONSE_MS + self.round_trip.as_millis_f64();
            let share = (elapsed.as_millis_f64() / response).min(1.0);
            self.rate + (0.5 * share * packet_bits(self.rate)).max(LEAST_STEP)
        } else {
            self.rate * libm::pow(ETA, elapsed.as_secs_f64().min(1.0))
        };
        let most = arriving.map_or(f64::INFINITY, |arriving| MOST_OVER_ARRIVING * arriving);
        self.rate = raised.min(most.max(self.rate));
    }

    fn decrease(&mut self, now: SimTime, arriving: Option<f64>) {
        let between = self.round_trip.clamp(LEAST_BETWEEN, MOST_BETWEEN);
        let is_early = self.decreased.is_some_and(|before| now.saturating_since(before) < between);
        let is_far_off = arriving.is_some_and(|arriving| arriving < 0.5 * self.rate);
        if is_early && !is_far_off {
            return;
        }
        self.decreased = Some(now);
        let base = arriving.unwrap_or(self.rate);
        self.rate = self.rate.min(BETA * base);
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
