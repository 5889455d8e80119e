//! Observes the capacity of a path: the bytes acknowledged in a round trip.

use super::Saved;
use crate::congestion::{Acked, Rtt};
use leobench_base::Bytes;

/// Round trips that are remembered: a few in which the application had little to send, or the path was about to fail, do not
/// hide what it carried before.
const ROUNDS: usize = 8;

/// Counts the bytes that are acknowledged in every round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct Observer {
    /// Those of the latest complete round trips.
    rounds: [u64; ROUNDS],
    next: usize,
    /// Those of the present one, which an acknowledgement of the packet `end`, or of a later one, ends.
    bytes: u64,
    end: u64,
    rtt: Option<Rtt>,
}

impl Observer {
    /// A packet was acknowledged, when `sent` was the number of the latest packet sent; none if it is not to be counted.
    pub(super) fn on_ack(&mut self, acked: &Acked, sent: Option<u64>) {
        self.rtt = Some(acked.rtt);
        let Some(sent) = sent else { return };
        if acked.packet_number >= self.end {
            self.rounds[self.next] = self.bytes;
            self.next = (self.next + 1) % ROUNDS;
            self.bytes = 0;
            self.end = sent + 1;
        }
        self.bytes += acked.size.get();
    }

    /// Round-trip times as of the latest acknowledgement.
    pub(super) fn rtt(&self) -> Option<Rtt> {
        self.rtt
    }

    /// The most bytes of a round trip, and the shortest one.
    pub(super) fn observed(&self) -> Option<Saved> {
        let cwnd = Bytes::new(self.rounds.into_iter().max()?);
        let rtt = self.rtt?.min;
        (!cwnd.is_zero() && !rtt.is_zero()).then_some(Saved { cwnd, rtt })
    }
}
