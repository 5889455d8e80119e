//! Loss recovery, derived from acknowledged and lost packets, for algorithms that do not set their window by loss.

use leobench_base::SimTime;

use super::{Acked, Congestion};

/// The recovery period. It lasts until a packet is acknowledged that was sent after the latest loss was detected, or as
/// long as the transport reports. Losses prolong it: a path with continual random loss stays in one long recovery, and
/// packets are conserved in its first round trip only (`end_recovery_at_` in the BBR of Chromium's QUIC;
/// Linux, whose recovery goes on while a hole is left).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    /// When its latest loss was detected.
    start: Option<SimTime>,
    active: bool,
    ended: bool,
}

impl Recovery {
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Packets were lost. Returns whether recovery begins.
    pub fn on_loss(&mut self, congestion: &Congestion) -> bool {
        let new = self.start.is_none_or(|start| congestion.sent > start);
        let begins = !self.active && !congestion.answered && new;
        if begins || self.active || congestion.persistent {
            *self = Self { start: Some(congestion.now), active: true, ended: false };
        }
        begins
    }

    pub fn on_ack(&mut self, acked: &Acked) {
        let after = self.start.is_none_or(|start| acked.sent > start);
        if self.active && after && !acked.recovering {
            self.active = false;
            self.ended = true;
        }
    }

    /// Whether it has ended since the last call.
    pub fn take_end(&mut self) -> bool {
        std::mem::take(&mut self.ended)
    }

    /// The losses were spurious.
    pub fn cancel(&mut self) {
        self.active = false;
        self.ended = false;
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::{Bytes, SimDuration};

    use super::*;
    use crate::congestion::tests::acked;

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(millis)
    }

    fn loss(sent: u64, now: u64) -> Congestion {
        Congestion::new(at(now), at(sent), Bytes::new(1), false)
    }

    fn ack(sent: u64, recovering: bool) -> Acked {
        let rtt = SimDuration::from_millis(10);
        Acked { sent: at(sent), recovering, ..acked(at(sent + 10), rtt) }
    }

    #[test]
    fn it_lasts_until_something_sent_within_it_arrives() {
        let mut recovery = Recovery::default();
        assert!(recovery.on_loss(&loss(0, 10)));
        assert!(!recovery.on_loss(&loss(9, 12)), "sent before it began");
        recovery.on_ack(&ack(12, false));
        assert!(recovery.is_active() && !recovery.take_end());
        recovery.on_ack(&ack(13, false));
        assert!(!recovery.is_active() && recovery.take_end() && !recovery.take_end());
        assert!(recovery.on_loss(&loss(13, 23)));
    }

    #[test]
    fn losses_in_it_prolong_it_and_begin_nothing() {
        let mut recovery = Recovery::default();
        assert!(recovery.on_loss(&loss(0, 10)));
        assert!(!recovery.on_loss(&loss(11, 21)), "it is on");
        recovery.on_ack(&ack(20, false));
        assert!(recovery.is_active(), "sent before the latest loss was found");
        recovery.on_ack(&ack(22, false));
        assert!(recovery.take_end());
    }

    #[test]
    fn a_transport_that_keeps_it_itself_is_believed() {
        let mut recovery = Recovery::default();
        assert!(recovery.on_loss(&loss(0, 10)));
        recovery.on_ack(&ack(11, true));
        assert!(recovery.is_active());
        assert!(!recovery.on_loss(&loss(12, 22).answered()));
        recovery.on_ack(&ack(23, false));
        assert!(recovery.take_end());
    }
}
