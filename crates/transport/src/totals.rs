//! Running totals of senders.

use std::ops::AddAssign;

use leobench_base::Bytes;

/// Running totals of a sender, for a path or a whole connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets sent.
    pub sent_packets: u64,
    /// Transport payload bytes sent (UDP payloads, TCP segments).
    pub sent_bytes: Bytes,
    /// Packets received.
    pub received_packets: u64,
    /// Bytes of the packets acknowledged.
    pub acked_bytes: Bytes,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Bytes of the packets declared lost.
    pub lost_bytes: Bytes,
    /// Application bytes sent more than once.
    pub retransmitted_bytes: Bytes,
    /// Packets that carried something sent before: application data, or TCP's SYN or FIN.
    pub retransmitted_packets: u64,
    /// Application bytes sent on one path while they were unacknowledged on another, not counted as retransmitted.
    pub reinjected_bytes: Bytes,
    /// Times that losses or ECN marks began a recovery, whatever the controller made of them: once a round trip at most, and
    /// anew where a retransmission timeout or persistent congestion follows.
    pub congestion_events: u64,
    /// Probe or retransmission timeouts: TCP's tail loss probes and retransmission timeouts, QUIC's probe timeouts.
    pub timeouts: u64,
    /// Packets declared lost whose first transmission had arrived, as far as the sender can tell: by their packet numbers
    /// (QUIC), by DSACK, or by timestamps where there is no SACK (TCP).
    pub spurious_losses: u64,
    /// Reductions of the window undone because the losses behind them proved spurious.
    pub undos: u64,
    /// Times that the peer reported new congestion marks: in an acknowledgement (QUIC), or once a window (TCP).
    pub ecn_marks: u64,
}

impl Totals {
    /// The increase since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            sent_packets: self.sent_packets - earlier.sent_packets,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            received_packets: self.received_packets - earlier.received_packets,
            acked_bytes: self.acked_bytes - earlier.acked_bytes,
            lost_packets: self.lost_packets - earlier.lost_packets,
            lost_bytes: self.lost_bytes - earlier.lost_bytes,
            retransmitted_bytes: self.retransmitted_bytes - earlier.retransmitted_bytes,
            retransmitted_packets: self.retransmitted_packets - earlier.retransmitted_packets,
            reinjected_bytes: self.reinjected_bytes - earlier.reinjected_bytes,
            congestion_events: self.congestion_events - earlier.congestion_events,
            timeouts: self.timeouts - earlier.timeouts,
            spurious_losses: self.spurious_losses - earlier.spurious_losses,
            undos: self.undos - earlier.undos,
            ecn_marks: self.ecn_marks - earlier.ecn_marks,
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.sent_packets += other.sent_packets;
        self.sent_bytes += other.sent_bytes;
        self.received_packets += other.received_packets;
        self.acked_bytes += other.acked_bytes;
        self.lost_packets += other.lost_packets;
        self.lost_bytes += other.lost_bytes;
        self.retransmitted_bytes += other.retransmitted_bytes;
        self.retransmitted_packets += other.retransmitted_packets;
        self.reinjected_bytes += other.reinjected_bytes;
        self.congestion_events += other.congestion_events;
        self.timeouts += other.timeouts;
        self.spurious_losses += other.spurious_losses;
        self.undos += other.undos;
        self.ecn_marks += other.ecn_marks;
    }
}
