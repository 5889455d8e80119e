//! The congestion window (RFC 8298, section 4.1.2).

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

/// Limits of the target of the queueing delay in seconds (`QDELAY_TARGET_LO`, `QDELAY_TARGET_HI`; this and all that follow
/// are of section 4.1.1.1).
const TARGET_LOW: f64 = 0.1;
const TARGET_HIGH: f64 = 0.4;
/// Weight of a sample in the averaged fraction of the target (`QDELAY_WEIGHT`).
const WEIGHT: f64 = 0.1;
/// The trend that ends fast increase (`QDELAY_TREND_TH`).
const TREND_HIGH: f64 = 0.2;
/// The trend below which fast increase resumes, and after how long (`QDELAY_TREND_LO`, `T_RESUME_FAST_INCREASE`).
const TREND_LOW: f64 = 0.2;
const RESUME: SimDuration = SimDuration::from_secs(5);
/// Smallest window in bytes (`MIN_CWND`).
const LEAST: f64 = 3_000.0;
/// The window over the most bytes in flight (`MAX_BYTES_IN_FLIGHT_HEAD_ROOM`).
const HEAD_ROOM: f64 = 1.1;
/// Time over which the most bytes in flight are kept (section 4.1.2.2).
const FLIGHT_TIME: SimDuration = SimDuration::from_secs(5);
/// Gain of the window (`GAIN`).
const GAIN: f64 = 1.0;
/// Factors of the window for a loss and for an ECN mark (`BETA_LOSS`, `BETA_ECN`).
const BETA_LOSS: f64 = 0.8;
pub(super) const BETA_ECN: f64 = 0.9;
/// Largest packet in bytes (`MSS`).
const MSS: f64 = 1_000.0;
/// Samples of the fraction of the target (`qdelay_fraction_hist[20]`).
const FRACTIONS: usize = 20;
/// Samples for the variance and for the average that move the target (section 4.1.2.3).
const VARIANCE_OF: usize = 200;
const AVERAGE_OF: usize = 50;
/// Share of round trips with losses above which a competing flow is assumed (section 4.1.2.3).
const LOSS_EVENTS: f64 = 0.002;
/// Weight of a round trip in that share: the RFC leaves it open; this is that of its reference implementation.
const LOSS_WEIGHT: f64 = 0.01;

/// Feedback about packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    /// Bytes newly acknowledged, lost ones included.
    pub bytes: u64,
    /// Bytes in flight behind them.
    pub bytes_in_flight: u64,
    /// Queueing delay of the newest.
    pub queue_delay: SimDuration,
    /// Smoothed round trip.
    pub round_trip: SimDuration,
    /// Whether any is missing.
    pub is_lost: bool,
    /// Whether any bears a mark.
    pub is_marked: bool,
}

/// The meaning of feedback for the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Packets were lost.
    Loss,
    /// Packets were marked.
    Mark,
    /// The queueing delay ended fast increase.
    Delay,
    /// Nothing but acknowledgements.
    None,
}

#[derive(Debug)]
pub(super) struct Window {
    bytes: f64,
    /// Target of the queueing delay, and the last queueing delay, in seconds.
    target: f64,
    queue_delay: f64,
    fraction: f64,
    fractions: VecDeque<f64>,
    trend: f64,
    trend_memory: f64,
    /// Queueing delays over the lowest target.
    norms: VecDeque<f64>,
    in_fast_increase: bool,
    /// When the trend was last high.
    high: SimTime,
    /// Most bytes in flight by time: each is larger than all that follow.
    flights: VecDeque<(SimTime, u64)>,
    loss_event_rate: f64,
    /// Since when losses count for the next round trip, and whether there were any.
    round: (Option<SimTime>, bool),
    /// The last loss or mark that lowered the window.
    reduced: Option<SimTime>,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            bytes: LEAST,
            target: TARGET_LOW,
            queue_delay: 0.0,
            fraction: 0.0,
            fractions: VecDeque::new(),
            trend: 0.0,
            trend_memory: 0.0,
            norms: VecDeque::new(),
            in_fast_increase: true,
            high: SimTime::ZERO,
            flights: VecDeque::new(),
            loss_event_rate: 0.0,
            round: (None, false),
            reduced: None,
        }
    }
}

impl Window {
    /// Notes the bytes in flight after a packet was sent.
    pub fn on_flight(&mut self, now: SimTime, bytes_in_flight: u64) {
        while self.flights.pop_back_if(|(_, bytes)| *bytes <= bytes_in_flight).is_some() {}
        self.flights.push_back((now, bytes_in_flight));
        let is_old = |(time, _): &mut (SimTime, u64)| now.saturating_since(*time) > FLIGHT_TIME;
        while self.flights.pop_front_if(is_old).is_some() {}
    }

    /// Moves the window by feedback. Losses and marks lower it at most once in a round trip.
    pub fn on_acknowledged(&mut self, now: SimTime, news: &Acknowledged) -> Event {
        self.queue_delay = news.queue_delay.as_secs_f64();
        self.update_trend(now);
        self.count_losses(now, news);
        let may_reduce =
            self.reduced.is_none_or(|before| now.saturating_since(before) >= news.round_trip);
        let event = match (may_reduce, news.is_lost, news.is_marked) {
            (true, true, _) => Event::Loss,
            (true, false, true) => Event::Mark,
            _ => self.update(news),
        };
        if matches!(event, Event::Loss | Event::Mark) {
            let beta = if event == Event::Loss { BETA_LOSS } else { BETA_ECN };
            self.in_fast_increase = false;
            self.bytes = (self.bytes * beta).max(LEAST);
            self.reduced = Some(now);
        }
        self.adjust_target();
        if !self.in_fast_increase && now.saturating_since(self.high) >= RESUME {
            self.in_fast_increase = true;
        }
        event
    }

    /// The function `update_variables` of section 4.1.2.
    fn update_trend(&mut self, now: SimTime) {
        let fraction = self.queue_delay / self.target;
        self.fraction = (1.0 - WEIGHT) * self.fraction + WEIGHT * fraction;
        push(&mut self.fractions, fraction, FRACTIONS);
        let mean = self.fractions.iter().sum::<f64>() / self.fractions.len() as f64;
        let centred = |value: &f64| value - mean;
        let power: f64 = self.fractions.iter().map(|value| centred(value) * centred(value)).sum();
        let lagged: f64 = (self.fractions.iter().zip(self.fractions.iter().skip(1)))
            .map(|(one, next)| centred(one) * centred(next))
            .sum();
        let correlation = if power > 0.0 { lagged / power } else { 0.0 };
        self.trend = (correlation * self.fraction).clamp(0.0, 1.0);
        self.trend_memory = (0.99 * self.trend_memory).max(self.trend);
        if self.trend >= TREND_LOW || self.high == SimTime::ZERO {
            self.high = now;
        }
    }

    fn count_losses(&mut self, now: SimTime, news: &Acknowledged) {
        let (since, lost) = self.round;
        let lost = lost || news.is_lost;
        match since {
            Some(since) if now.saturating_since(since) < news.round_trip => {
                self.round = (Some(since), lost);
            }
            _ => {
                let event = f64::from(u8::from(lost));
                self.loss_event_rate += LOSS_WEIGHT * (event - self.loss_event_rate);
                self.round = (Some(now), false);
            }
        }
    }

    /// The function `update_cwnd` of section 4.1.2.2.
    fn update(&mut self, news: &Acknowledged) -> Event {
        let (acknowledged, in_flight) = (news.bytes as f64, news.bytes_in_flight as f64);
        let mut event = Event::None;
        if self.in_fast_increase {
            if self.trend < TREND_HIGH {
                if in_flight * 1.5 + acknowledged > self.bytes {
                    self.bytes += acknowledged;
                }
                return event;
            }
            self.in_fast_increase = false;
            event = Event::Delay;
        }
        let off_target = (self.target - self.queue_delay) / self.target;
        let is_unused = in_flight * 1.25 + acknowledged <= self.bytes;
        if off_target <= 0.0 || !is_unused {
            self.bytes += GAIN * off_target * acknowledged * MSS / self.bytes;
        }
        let most = self.flights.front().map_or(0.0, |(_, bytes)| *bytes as f64);
        self.bytes = self.bytes.min(most * HEAD_ROOM).max(LEAST);
        event
    }

    /// The function `adjust_qdelay_target` of section 4.1.2.3.
    fn adjust_target(&mut self) {
        push(&mut self.norms, self.queue_delay / TARGET_LOW, VARIANCE_OF);
        let mean = self.norms.iter().sum::<f64>() / self.norms.len() as f64;
        let squares = self.norms.iter().map(|norm| (norm - mean) * (norm - mean));
        let variance = squares.sum::<f64>() / self.norms.len() as f64;
        let last = self.norms.len().min(AVERAGE_OF);
        let average = self.norms.iter().rev().take(last).sum::<f64>() / last as f64;
        let moved = (average + variance.sqrt()) * TARGET_LOW;
        self.target = if self.loss_event_rate > LOSS_EVENTS {
            1.5 * moved
        } else if variance < 0.2 {
            moved
        } else if moved < TARGET_LOW {
            (self.target * 0.5).max(moved)
        } else {
            self.target * 0.9
        };
        self.target = self.target.clamp(TARGET_LOW, TARGET_HIGH);
    }

    /// In bytes.
    pub fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Bytes that may be sent (section 4.1.2.5).
    pub fn room(&self, bytes_in_flight: u64) -> u64 {
        let slack = if self.queue_delay <= self.target { MSS } else { 0.0 };
        (self.bytes + slack - bytes_in_flight as f64).max(0.0) as u64
    }

    /// Whether it grows by all bytes that are acknowledged.
    pub fn in_fast_increase(&self) -> bool {
        self.in_fast_increase
    }

    /// The trend of the queueing delay, from 0 to 1, and its highest of late.
    pub fn trend(&self) -> (f64, f64) {
        (self.trend, self.trend_memory)
    }

    #[cfg(test)]
    pub fn target(&self) -> f64 {
        self.target
    }
}

fn push(values: &mut VecDeque<f64>, value: f64, most: usize) {
    if values.len() == most {
        values.pop_front();
    }
    values.push_back(value);
}
