//! Self-clocked rate adaptation for multimedia (RFC 8298), for one stream.
//!
//! The window ([`window`]) limits the bytes in flight by the queueing delay, losses and ECN marks. The media rate
//! ([`media_rate`]) follows what the window lets through.

mod media_rate;
mod queue_delay;
mod window;

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime};

use super::{Bounds, Feedback, FeedbackKind, RateControl, RateControlModel};
use media_rate::MediaRate;
use queue_delay::QueueDelay;
use window::{Acknowledged, Window};

/// Lowest pacing rate in bit/s (`RATE_PACE_MIN`, section 4.1.1.1).
const LEAST_PACING: f64 = 50_000.0;

leobench_base::spec! {
    /// SCReAM (RFC 8298): a window by queueing delay, losses and ECN marks, and a media rate that follows it.
    ///
    /// The window aims at a queueing delay of 100 ms, and of up to 400 ms beside flows that fill the queue. The rate grows by
    /// at most 200 kbit/s a second.
    pub struct ScreamSpec: Default {}
}

impl RateControlModel for ScreamSpec {
    fn build(&self, bounds: Bounds) -> Box<dyn RateControl> {
        Box::new(Scream::new(bounds))
    }

    fn feedback(&self) -> Option<FeedbackKind> {
        Some(FeedbackKind::CongestionControl)
    }
}

#[derive(Debug)]
struct Scream {
    window: Window,
    rate: MediaRate,
    delay: QueueDelay,
    /// Packets behind the highest that was acknowledged.
    in_flight: VecDeque<(u64, u64)>,
    bytes_in_flight: u64,
    highest: Option<u64>,
    round_trip: Option<SimDuration>,
}

impl Scream {
    fn new(bounds: Bounds) -> Self {
        Self {
            window: Window::default(),
            rate: MediaRate::new(bounds),
            delay: QueueDelay::default(),
            in_flight: VecDeque::new(),
            bytes_in_flight: 0,
            highest: None,
            round_trip: None,
        }
    }

    /// Takes the packets up to `number` out of flight, lost ones included (section 4.1.2). Returns their bytes.
    fn acknowledge(&mut self, number: u64) -> u64 {
        let mut bytes = 0;
        while let Some((_, size)) = self.in_flight.pop_front_if(|(sent, _)| *sent <= number) {
            bytes += size;
        }
        self.bytes_in_flight -= bytes;
        self.highest = self.highest.max(Some(number));
        bytes
    }

    /// Smooths the round trip as RFC 6298 does, section 2.
    fn smooth(&mut self, sample: Option<SimDuration>) {
        let Some(sample) = sample else { return };
        self.round_trip =
            Some(self.round_trip.map_or(sample, |known| known * 0.875 + sample * 0.125));
    }
}

impl RateControl for Scream {
    fn on_produced(&mut self, _now: SimTime, bytes: Bytes) {
        self.rate.on_produced(bytes);
    }

    fn on_sent(&mut self, now: SimTime, number: u64, bytes: Bytes) {
        self.in_flight.push_back((number, bytes.get()));
        self.bytes_in_flight += bytes.get();
        self.window.on_flight(now, self.bytes_in_flight);
        self.rate.on_sent(now, bytes);
    }

    fn on_feedback(&mut self, now: SimTime, feedback: &Feedback<'_>) {
        let mut arrived = feedback.fates.iter().filter_map(|fate| Some((fate, fate.arrival?)));
        let Some((newest, arrival)) = arrived.next_back() else { return };
        self.smooth(feedback.round_trip(now));
        let Some(round_trip) = self.round_trip else { return };
        let is_new = self.highest.is_none_or(|highest| newest.number > highest);
        let queue_delay = if is_new {
            self.delay.on_sample(arrival.saturating_since(newest.sent), now)
        } else {
            self.delay.last()
        };
        let acknowledged = self.acknowledge(newest.number);
        self.rate.on_acknowledged(Bytes::new(acknowledged));
        let event = self.window.on_acknowledged(
            now,
            &Acknowledged {
                bytes: acknowledged,
                bytes_in_flight: self.bytes_in_flight,
                queue_delay,
                round_trip,
                is_lost: feedback.fates.iter().any(|fate| fate.arrival.is_none()),
                is_marked: feedback.fates.iter().any(|fate| fate.is_marked),
            },
        );
        self.rate.adjust(now, event, &self.window, feedback.queued);
    }

    fn target(&self) -> f64 {
        self.rate.target()
    }

    /// Section 4.1.2.6.
    fn pacing(&self) -> f64 {
        let Some(round_trip) = self.round_trip.filter(|known| !known.is_zero()) else {
            return LEAST_PACING.max(super::PACE * self.target());
        };
        LEAST_PACING.max(self.window.bytes() * 8.0 / round_trip.as_secs_f64())
    }

    fn window(&self) -> Option<Bytes> {
        Some(Bytes::new(self.window.room(self.bytes_in_flight)))
    }
}

#[cfg(test)]
mod tests;
