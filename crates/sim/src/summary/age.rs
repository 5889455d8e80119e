//! How old the freshest data of a stream was.

use super::millis;
use crate::ledger::Age;

summary! {
    /// Ages: time since the creation of the freshest message that arrived; `null` before the second.
    #[derive(Copy, Default)]
    pub struct AgeSummary {
        /// Mean over time, from the arrival of the first message to that of the last fresher one.
        pub mean: Option<f64> ["ms"],
        /// Mean of the peaks, just before a fresher message arrives.
        pub mean_peak: Option<f64> ["ms"],
        /// Highest peak.
        pub max: Option<f64> ["ms"],
    }
}

impl AgeSummary {
    pub(super) fn new(age: &Age) -> Self {
        let max = age.highest().map(|highest| millis(highest.as_nanos() as f64));
        Self { mean: age.mean_ns().map(millis), mean_peak: age.mean_peak_ns().map(millis), max }
    }
}
