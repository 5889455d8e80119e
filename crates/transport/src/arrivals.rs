//! Measurements of the arrival of stream data, for connections with several paths.

use leobench_base::{Bytes, LogHistogram, SimDuration};

/// Measurements of the receiver of streams since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    duplicates: Bytes,
    reordering: LogHistogram,
}

impl Arrivals {
    /// Bytes of stream data that arrived although they had been received before.
    pub fn duplicate_bytes(&self) -> Bytes {
        self.duplicates
    }

    /// How long bytes waited, in nanoseconds, from their first arrival until all earlier ones of their stream were there, too; zero
    /// for those that arrived in order. Each byte counts once: how data is cut into frames makes no difference.
    pub fn reordering_delay(&self) -> &LogHistogram {
        &self.reordering
    }

    /// Bytes arrived once more.
    #[inline]
    pub fn on_duplicate(&mut self, bytes: u64) {
        self.duplicates += Bytes::new(bytes);
    }

    /// Bytes were delivered in order, so long after they arrived.
    #[inline]
    pub fn on_delivered(&mut self, bytes: u64, waited: SimDuration) {
        self.reordering.record_times(waited.as_nanos(), bytes);
    }

    /// The increase since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            duplicates: self.duplicates - earlier.duplicates,
            reordering: self.reordering.since(&earlier.reordering),
        }
    }
}
