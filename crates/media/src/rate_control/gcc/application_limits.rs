//! Times at which a call sends far less than it might (libwebrtc, `AlrDetector`, `IntervalBudget`).

use leobench_base::{Bytes, SimTime};

/// Share of the target that is enough (`bandwidth_usage_ratio`).
const ENOUGH: f64 = 0.65;
/// Time that unused bits add up over at most, in seconds, and the shares of it beyond and below which the call is limited and is not
/// (`kWindowMs`, `start_budget_level_ratio`, `stop_budget_level_ratio`).
const WINDOW_S: f64 = 0.5;
const BEGIN: f64 = 0.8;
const END: f64 = 0.5;

#[derive(Debug, Default)]
pub(super) struct ApplicationLimits {
    /// Bits that the call might have sent and has not, or has sent too many.
    unused: f64,
    sent: Option<SimTime>,
    is_limited: bool,
}

impl ApplicationLimits {
    /// Whether the call sends far less than the target.
    pub fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Counts a packet; `target` is in bit/s.
    pub fn on_sent(&mut self, now: SimTime, bytes: Bytes, target: f64) {
        let Some(before) = self.sent.replace(now) else { return };
        let rate = ENOUGH * target;
        let most = WINDOW_S * rate;
        self.unused = (self.unused.min(most) - bytes.bits() as f64).max(-most);
        let added = rate * now.saturating_since(before).as_secs_f64();
        self.unused = (self.unused + added).min(most);
        let level = self.unused / most;
        self.is_limited = if self.is_limited { level >= END } else { level > BEGIN };
    }
}
