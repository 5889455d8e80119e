//! The controller of libwebrtc (`loss_based_bwe_v2.cc`, with the defaults of its `CreateConfig` in June 2025).
//!
//! Losses are observed in intervals of a quarter of a second ([`observations`]). The path is taken for one that loses a share of all
//! packets at random, and whatever is beyond its rate ([`channel`]): after every interval, the rate among some near the last one
//! is chosen that explains the losses of the last intervals best. Bounds follow: no less than what arrives, no more than the
//! delay-based rate, or than a rate that falls with the loss. After a decrease, the rate is held for a while, and then grows by no more
//! than 30 % in 300 ms.
//!
//! While the rate grows, libwebrtc sends padding up to the target. A call here has none then: its encoder fills the target.

mod channel;
mod observations;

use leobench_base::{SimDuration, SimTime};

use super::{LossControl, Report};
use crate::rate_control::Bounds;
use channel::Channel;
use observations::Observations;

/// Observations before which the rate limits nothing (`MinNumObservations`).
const FIRST: u64 = 3;
/// The inherent loss at the start (`InitialInherentLossEstimate`).
const INHERENT_LOSS: f64 = 0.01;
/// Rates that are tried, over the last one (`CandidateFactors`).
const CANDIDATES: [f64; 3] = [1.02, 1.0, 0.95];
/// Losses above this share limit the rate at once: to this one in bit/s, over the excess (`InstantUpperBoundLossOffset`,
/// `InstantUpperBoundBwBalance`).
const HARMLESS: f64 = 0.05;
const BALANCE: f64 = 100_000.0;
/// The shortest and the longest hold; each is so many times as long as the one before (`kInitHoldDuration`,
/// `kMaxHoldDuration`, `HoldDurationFactor`).
const SHORTEST_HOLD: SimDuration = SimDuration::from_millis(300);
const LONGEST_HOLD: SimDuration = SimDuration::from_secs(60);
const LONGER: u64 = 2;
/// A rate grows to at most this times its value within this time (`MaxIncreaseFactor`, `DelayedIncreaseWindow`).
const GROWTH: f64 = 1.3;
const GROWTH_TIME: SimDuration = SimDuration::from_millis(300);
/// The lowest limit of a growing rate in bit/s (`kCongestionControllerMinBitrate`).
const LEAST_LIMIT: f64 = 5_000.0;
/// It grows to at most this times the rate that arrives; to less while that is below so many times the rate of the last hold
/// (`BwRampupUpperBoundFactor`, `BwRampupUpperBoundInHoldFactor`, `BwRampupUpperBoundHoldThreshold`).
const OVER_ARRIVING: f64 = 1.5;
const OVER_ARRIVING_HELD: f64 = 1.2;
const HELD: f64 = 1.3;
/// A rate that has not grown for so long does not count as growing any more (`PaddingDuration`).
const PATIENCE: SimDuration = SimDuration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Losses limit nothing.
    DelayBased,
    Decreasing,
    Increasing,
}

/// A rate in bit/s, and a time.
#[derive(Clone, Copy, Debug)]
struct Dated {
    rate: f64,
    time: SimTime,
}

#[derive(Debug)]
pub(super) struct Libwebrtc {
    bounds: Bounds,
    observations: Observations,
    channel: Option<Channel>,
    state: State,
    rate: f64,
    /// The rate that is held, and until when.
    hold: Option<Dated>,
    next_hold: SimDuration,
    /// The highest rate since it grows, and since when.
    grown: Option<Dated>,
    /// The highest rate that is allowed, and since when.
    limit: Option<Dated>,
}

impl Libwebrtc {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            observations: Observations::default(),
            channel: None,
            state: State::DelayBased,
            rate: f64::INFINITY,
            hold: None,
            next_hold: SHORTEST_HOLD,
            grown: None,
            limit: None,
        }
    }

    /// The path that explains the observations best, among some near the known one.
    fn best(&self, known: Channel, now: SimTime, report: &Report<'_>) -> Channel {
        let is_growing = self.grown.is_some_and(|grown| grown.time + PATIENCE >= now);
        let arriving = report.arriving.filter(|_| !report.is_application_limited || is_growing);
        let delay_based = Some(report.delay_based).filter(|rate| *rate > known.rate);
        let limit = self.limit.filter(|_| self.state != State::DelayBased);
        let most = limit.map_or(self.bounds.most, |limit| limit.rate).max(known.rate);
        let rates = CANDIDATES.map(|factor| factor * known.rate);
        let mut best = (f64::NEG_INFINITY, known);
        for rate in rates.into_iter().chain(arriving).chain(delay_based) {
            let candidate = Channel { rate: rate.min(most), ..known }.fitted(&self.observations);
            let objective = candidate.objective(&self.observations);
            if objective > best.0 {
                best = (objective, candidate);
            }
        }
        best.1
    }

    /// Whether a rate counts as growing, from one to another.
    fn is_growing(&self, from: f64, to: f64) -> bool {
        match self.state {
            State::DelayBased => false,
            State::Decreasing => from < to,
            State::Increasing => from <= to,
        }
    }

    /// The rate up to which the path may be taken for a faster one, while losses limit it.
    fn slowed(&self, known: f64, rate: f64, now: SimTime, arriving: Option<f64>) -> f64 {
        let limit = self.limit.filter(|limit| limit.time + GROWTH_TIME > now);
        let rate = limit.map_or(rate, |limit| rate.min(limit.rate));
        let Some(arriving) = arriving.filter(|_| self.is_growing(known, rate)) else { return rate };
        let is_held = self.hold.is_some_and(|hold| arriving < HELD * hold.rate);
        let factor = if is_held { OVER_ARRIVING_HELD } else { OVER_ARRIVING };
        let slowed = known.max(rate.min(factor * arriving));
        // A bit more makes a decrease an increase.
        if self.state == State::Decreasing && slowed <= known { known + 1.0 } else { slowed }
    }

    /// The highest rate at the present loss.
    fn most(&self) -> f64 {
        let excess = self.observations.loss() - HARMLESS;
        if excess > 0.0 { BALANCE / excess } else { self.bounds.most }
    }

    /// Whether a rate below the delay-based one is held.
    fn is_held(&self, now: SimTime) -> bool {
        self.state == State::Decreasing && self.hold.is_some_and(|hold| hold.time > now)
    }

    /// The state after a new rate.
    fn enter(&mut self, rate: f64, now: SimTime, delay_based: f64) {
        if rate >= delay_based || rate >= self.bounds.most {
            (self.hold, self.next_hold, self.grown) = (None, SHORTEST_HOLD, None);
            self.state = State::DelayBased;
        } else if self.is_growing(self.rate, rate) && self.keeps_growing(rate, now) {
            if self.grown.is_none_or(|grown| rate > grown.rate) {
                self.grown = Some(Dated { rate, time: now });
            }
            self.state = State::Increasing;
        } else {
            if self.state != State::Decreasing {
                self.hold = Some(Dated { rate, time: now + self.next_hold });
                self.next_hold = (self.next_hold * LONGER).min(LONGEST_HOLD);
            }
            self.grown = None;
            self.state = State::Decreasing;
        }
    }

    fn keeps_growing(&self, rate: f64, now: SimTime) -> bool {
        self.state != State::Increasing
            || self.grown.is_none_or(|grown| grown.time + PATIENCE >= now || grown.rate < rate)
    }
}

impl LossControl for Libwebrtc {
    fn rate(&self) -> f64 {
        if self.observations.count() < FIRST { f64::INFINITY } else { self.rate }
    }

    fn on_report(&mut self, report: &Report<'_>) {
        let Some(now) = self.observations.on_fates(report.fates) else { return };
        let delay_based = report.delay_based;
        let first = Channel { rate: delay_based, inherent_loss: INHERENT_LOSS };
        let known = self.channel.unwrap_or(first);
        let mut best = self.best(known, now, report);
        if self.observations.loss() > best.inherent_loss {
            best.rate = best.rate.min(known.rate);
        }
        if self.state != State::DelayBased {
            best.rate = self.slowed(known.rate, best.rate, now, report.arriving);
        }
        let least = report.arriving.unwrap_or(0.0).max(self.bounds.least);
        let rate = best.rate.min(self.most()).min(delay_based).max(least);
        let channel = if rate < best.rate {
            Channel { rate, inherent_loss: 0.0 }
        } else {
            Channel { rate: best.rate.max(least), ..best }
        };
        self.channel = Some(channel);
        if rate < delay_based
            && self.is_held(now)
            && let Some(hold) = &mut self.hold
        {
            hold.rate = hold.rate.max(least);
            self.rate = hold.rate.min(rate);
            return;
        }
        self.enter(rate, now, delay_based);
        self.rate = rate;
        if self.state != State::DelayBased
            && self.limit.is_none_or(|limit| limit.time + GROWTH_TIME < now)
        {
            let rate = (GROWTH * channel.rate).max(LEAST_LIMIT);
            self.limit = Some(Dated { rate, time: now });
        }
    }
}

#[cfg(test)]
mod tests;
