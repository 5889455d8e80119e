//! The events by which a window grows in congestion avoidance.

use leobench_base::Bytes;

use super::Acked;

leobench_base::words! {
    /// The events by which a window grows.
    pub enum GrowthPer {
        /// Every packet acknowledged.
        Packet = "packet",
        /// Every acknowledgement, however many packets it acknowledges.
        Acknowledgement = "acknowledgement",
    }
}

/// Counts these events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    per: GrowthPer,
    datagram: Bytes,
    /// Whether the acknowledgement under way has counted.
    counted: bool,
}

impl Counter {
    /// For packets of `datagram` bytes.
    pub fn new(per: GrowthPer, datagram: Bytes) -> Self {
        Self { per, datagram, counted: false }
    }

    /// Bytes that count for an acknowledged packet.
    pub fn count(&mut self, acked: &Acked) -> Bytes {
        match self.per {
            GrowthPer::Packet => acked.size,
            GrowthPer::Acknowledgement if std::mem::replace(&mut self.counted, true) => Bytes::ZERO,
            GrowthPer::Acknowledgement => self.datagram,
        }
    }

    /// All packets of an acknowledgement have been reported.
    pub fn acknowledgement_ends(&mut self) {
        self.counted = false;
    }
}
