//! How the parts of a process forget.

use super::ProcessSpec;

/// Drift, slot, slow, fast.
pub(super) const PARTS: usize = 4;
pub(super) const FAST: usize = 3;

/// The slots, in seconds of the time of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Length of a slot.
    pub every: f64,
    /// Beginning of one of them.
    pub phase: f64,
}

impl Grid {
    /// The number of the slot at a time.
    pub fn slot(&self, time: f64) -> i64 {
        libm::floor((time - self.phase) / self.every) as i64
    }
}

/// The time between two instants of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// How long it was.
    pub seconds: f64,
    /// How many slots have begun.
    pub slots: u32,
}

impl ProcessSpec {
    /// The variances of the parts.
    pub(super) const fn variances(&self) -> [f64; PARTS] {
        let shares = &self.shares;
        [shares.drift, shares.slot, shares.slow, shares.fast]
    }

    /// The correlation of each part with itself after some time. A fast part without a time constant has forgotten.
    pub(super) fn correlations(&self, elapsed: Elapsed) -> [f64; PARTS] {
        let after = |constant: f64| libm::exp(-elapsed.seconds / constant);
        let within_slot = if elapsed.slots == 0 { after(self.slow_s) } else { 0.0 };
        let slot = match elapsed.slots {
            0 => 1.0,
            1 => self.slot_correlation,
            more => libm::pow(self.slot_correlation, f64::from(more)),
        };
        [after(self.drift_s), slot, within_slot, self.fast_s.map_or(0.0, after)]
    }
}
