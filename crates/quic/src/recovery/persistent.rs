//! The longest time over which nothing arrived (RFC 9002 section 7.6).

use leobench_base::{SimDuration, SimTime};

use super::packet::SentPacket;

/// A run of lost packets of a space without an acknowledged one among them. It may grow over several detections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostRun {
    /// Number of its first packet that counts, and when it was sent.
    start: Option<(u64, SimTime)>,
}

impl LostRun {
    /// A packet sent after the run so far was acknowledged.
    #[inline]
    pub(super) fn on_acked(&mut self) {
        self.start = None;
    }

    /// A packet reported as lost was acknowledged after all.
    pub(super) fn on_late(&mut self, number: u64) {
        self.start = self.start.filter(|(first, _)| number < *first);
    }

    /// The next packet was lost; the time between the first of the run and it. Only ack-eliciting packets count that were
    /// sent after `since`: the first round-trip time sample (section 7.6.2), and what was acknowledged in other spaces.
    pub(super) fn on_lost(&mut self, packet: &SentPacket, since: Option<SimTime>) -> SimDuration {
        let Some(since) = since else { return SimDuration::ZERO };
        if !packet.ack_eliciting || packet.at <= since {
            return SimDuration::ZERO;
        }
        let start = self.start.filter(|(_, at)| *at > since).unwrap_or((packet.number, packet.at));
        self.start = Some(start);
        packet.at.saturating_since(start.1)
    }
}
