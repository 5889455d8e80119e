//! Slow start: how the window grows until it first meets the slow-start threshold.

use super::Acked;

leobench_base::words! {
    /// How a window grows below the slow-start threshold.
    pub enum SlowStartSpec {
        /// By the bytes acknowledged, so that it doubles every round trip (RFC 9002 section 7.3.1).
        Standard = "standard",
    }
}

/// Slow start in motion on one path.
#[derive(Clone, Debug)]
pub(super) enum SlowStart {
    Standard,
}

impl SlowStart {
    pub fn new(spec: SlowStartSpec) -> Self {
        match spec {
            SlowStartSpec::Standard => Self::Standard,
        }
    }

    /// Bytes the window grows by on an acknowledgement.
    pub fn growth(&mut self, acked: &Acked) -> f64 {
        match self {
            Self::Standard => acked.size.get() as f64,
        }
    }
}
