//! The window beyond which frames are dropped (libwebrtc, `CongestionWindowPushbackController`). The draft has none.
//!
//! After a fall of the capacity, the packets in flight fill the queue. While they are more than the window, an ever smaller share of
//! the target is left for frames, which are dropped accordingly: at most every other one.

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime};

use crate::rate_control::Fate;

/// The time in a queue that the window allows (`QueueSize` of `kCongestionWindowDefaultFieldTrialString`).
const QUEUEING: SimDuration = SimDuration::from_millis(350);
/// The smallest window in bytes (`kMinCwnd`).
const LEAST: f64 = 3_000.0;
/// Reports whose round trips count (`kMaxFeedbackRttWindow`).
const REPORTS: usize = 32;
/// How often the window is looked at beside packets and feedback (`GoogCcNetworkControllerFactory::GetProcessInterval`).
const INTERVAL: SimDuration = SimDuration::from_millis(25);
/// How full the window is, and the factor of the share each time it is looked at then.
const OVERFULL: (f64, f64) = (1.5, 0.9);
const FULL: (f64, f64) = (1.0, 0.95);
const EMPTY: f64 = 0.1;
const RECOVERY: f64 = 1.05;
/// The share leaves this rate in bit/s at least (`MinBitrate`).
const LEAST_RATE: f64 = 30_000.0;
/// Reductions up to this share drop nothing, and of how many frames one is dropped at least (`VideoStreamEncoder::UpdateTargetBitrate`).
const NEGLIGIBLE: f64 = 0.01;
const MOST_OFTEN: u64 = 2;

#[derive(Debug)]
pub(super) struct CongestionWindow {
    /// Number and bytes of each packet in flight, and bytes of all.
    in_flight: VecDeque<(u64, u64)>,
    bytes: u64,
    /// The longest round trip in each of the last reports.
    round_trips: VecDeque<SimDuration>,
    window: Option<f64>,
    /// The share of the target that is left for frames.
    share: f64,
    looked: Option<SimTime>,
}

impl CongestionWindow {
    pub fn new() -> Self {
        Self {
            in_flight: VecDeque::new(),
            bytes: 0,
            round_trips: VecDeque::new(),
            window: None,
            share: 1.0,
            looked: None,
        }
    }

    /// Adds a packet in flight; `target` is in bit/s.
    pub fn on_sent(&mut self, now: SimTime, number: u64, bytes: Bytes, target: f64) {
        self.pass(now, target);
        self.in_flight.push_back((number, bytes.get()));
        self.bytes += bytes.get();
        self.look();
    }

    /// Takes the packets of a report out of flight, and those before them.
    pub fn on_fates(&mut self, now: SimTime, fates: &[Fate], target: f64) {
        self.pass(now, target);
        let Some(newest) = fates.iter().map(|fate| fate.number).max() else { return };
        while let Some((_, bytes)) = self.in_flight.pop_front_if(|(sent, _)| *sent <= newest) {
            self.bytes -= bytes;
        }
        let arrived = fates.iter().filter(|fate| fate.arrival.is_some());
        let Some(first) = arrived.map(|fate| fate.sent).min() else { return };
        if self.round_trips.len() == REPORTS {
            self.round_trips.pop_front();
        }
        self.round_trips.push_back(now.saturating_since(first));
        self.look();
        self.resize(target);
    }

    /// Does what is due every [`INTERVAL`].
    fn pass(&mut self, now: SimTime, target: f64) {
        let mut looked = self.looked.unwrap_or(now);
        while looked + INTERVAL <= now {
            looked += INTERVAL;
            self.resize(target);
            self.look();
        }
        self.looked = Some(looked);
    }

    fn resize(&mut self, target: f64) {
        let Some(shortest) = self.round_trips.iter().min() else { return };
        let bytes = target / 8.0 * (*shortest + QUEUEING).as_secs_f64();
        let window = self.window.map_or(bytes, |known| f64::midpoint(known, bytes));
        self.window = Some(window.max(LEAST));
    }

    fn look(&mut self) {
        let Some(window) = self.window else { return };
        let level = self.bytes as f64 / window;
        self.share = if level > OVERFULL.0 {
            self.share * OVERFULL.1
        } else if level > FULL.0 {
            self.share * FULL.1
        } else if level < EMPTY {
            1.0
        } else {
            (self.share * RECOVERY).min(1.0)
        };
    }

    /// One frame of so many is dropped; none if all are made. `target` is in bit/s.
    pub fn drop_interval(&self, target: f64) -> Option<u64> {
        let left = (self.share * target).max(LEAST_RATE.min(target));
        let reduction = target - left;
        let interval = || (target as u64 / reduction as u64).max(MOST_OFTEN);
        (reduction > NEGLIGIBLE * target).then(interval)
    }
}
