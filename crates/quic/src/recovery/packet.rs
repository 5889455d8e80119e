//! Sent packets.

use leobench_base::SimTime;

use crate::sent_frame::SentFrames;

/// A packet sent and not settled yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct SentPacket {
    /// Its number in its space.
    pub number: u64,
    /// When it was sent.
    pub at: SimTime,
    /// Bytes that count towards the congestion window.
    pub size: u64,
    /// Whether it asks for an acknowledgement.
    pub ack_eliciting: bool,
    /// Whether it counts towards the congestion window (RFC 9002 section 2).
    pub in_flight: bool,
    /// Whether it was sent with ECT(0).
    pub ect: bool,
    /// Whether it left over another route than the present one, so that it says nothing about this (RFC 9000 section 9.4).
    pub elsewhere: bool,
    /// Whether what it carried was sent again on another path, though nothing shows that it is lost.
    pub repeated: bool,
    /// Its frames of interest.
    pub carried: SentFrames,
    /// Its place among all packets in flight of the path, whatever their space: the number that controllers see.
    pub(super) sequence: u64,
}

impl SentPacket {
    /// An ack-eliciting packet of `size` bytes, not marked.
    pub(crate) fn new(number: u64, at: SimTime, size: u64, carried: SentFrames) -> Self {
        let (ack_eliciting, in_flight) = (true, true);
        let (ect, elsewhere, repeated, sequence) = (false, false, false, 0);
        Self {
            number,
            at,
            size,
            ack_eliciting,
            in_flight,
            ect,
            elsewhere,
            repeated,
            carried,
            sequence,
        }
    }
}
