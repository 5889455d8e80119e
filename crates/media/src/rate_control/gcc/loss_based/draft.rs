//! The controller of the draft (section 6).

use leobench_base::{SimDuration, SimTime};

use super::{LossControl, Report};
use crate::rate_control::Bounds;

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
pub(super) struct Draft {
    bounds: Bounds,
    rate: f64,
    since: Option<SimTime>,
    reported: u32,
    lost: u32,
}

impl Draft {
    /// A rate that limits nothing until losses lower it.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, rate: bounds.most, since: None, reported: 0, lost: 0 }
    }
}

impl LossControl for Draft {
    fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts losses, and moves the rate when an interval is over.
    fn on_report(&mut self, report: &Report<'_>) {
        let since = *self.since.get_or_insert(report.now);
        self.reported += report.fates.len() as u32;
        self.lost += report.fates.iter().filter(|fate| fate.arrival.is_none()).count() as u32;
        if self.reported == 0 || report.now.saturating_since(since) < INTERVAL {
            return;
        }
        let share = f64::from(self.lost) / f64::from(self.reported);
        if share > HIGH {
            self.rate = report.target * (1.0 - 0.5 * share);
        } else if share < LOW {
            self.rate *= RAISE;
        }
        self.rate = self.bounds.clamp(self.rate);
        (self.since, self.reported, self.lost) = (Some(report.now), 0, 0);
    }
}
