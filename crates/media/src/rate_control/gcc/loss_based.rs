//! The loss-based rate (section 6 of the draft).

use leobench_base::{SimDuration, SimTime};

use crate::rate_control::{Bounds, Fate};

/// Losses above this share lower the rate.
const HIGH: f64 = 0.10;
/// Losses below this share raise it.
const LOW: f64 = 0.02;
/// Factor of a raise.
const RAISE: f64 = 1.05;
/// Time over which the share is counted: that between receiver reports of RTCP, on which the draft relies (libwebrtc,
/// `kDefaultVideoReportInterval`).
const INTERVAL: SimDuration = SimDuration::from_secs(1);

#[derive(Debug)]
pub(super) struct LossBased {
    bounds: Bounds,
    rate: f64,
    since: Option<SimTime>,
    reported: u32,
    lost: u32,
}

impl LossBased {
    /// A rate that limits nothing until losses lower it.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, rate: bounds.most, since: None, reported: 0, lost: 0 }
    }

    /// In bit/s.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts losses, and moves the rate when an interval is over; `target` is the rate that is used.
    pub fn on_fates(&mut self, now: SimTime, fates: &[Fate], target: f64) {
        let since = *self.since.get_or_insert(now);
        self.reported += fates.len() as u32;
        self.lost += fates.iter().filter(|fate| fate.arrival.is_none()).count() as u32;
        if self.reported == 0 || now.saturating_since(since) < INTERVAL {
            return;
        }
        let share = f64::from(self.lost) / f64::from(self.reported);
        if share > HIGH {
            self.rate = target * (1.0 - 0.5 * share);
        } else if share < LOW {
            self.rate *= RAISE;
        }
        self.rate = self.bounds.clamp(self.rate);
        (self.since, self.reported, self.lost) = (Some(now), 0, 0);
    }
}
