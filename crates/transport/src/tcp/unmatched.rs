//! Segments that belong to no connection, and what the host answers (RFC 9293 section 3.10.7.1).

use leobench_base::segment::{Flags, Segment};

leobench_base::words! {
    /// How a host answers a segment that belongs to no connection.
    pub enum NoConnection {
        /// With a reset (RFC 9293 section 3.10.7.1): the other end loses its connection.
        Reset = "reset",
        /// Not at all, as behind a firewall that drops such segments: the other end keeps trying.
        Silence = "silence",
    }
}

/// The reset that answers a segment; `None` if the segment is a reset itself.
pub(super) fn reset(segment: &Segment) -> Option<Segment> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    if segment.flags.contains(Flags::ACK) {
        // "<SEQ=SEG.ACK><CTL=RST>"
        return Some(Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() });
    }
    // "<SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>"
    let occupied = segment.payload
        + u32::from(segment.flags.contains(Flags::SYN))
        + u32::from(segment.flags.contains(Flags::FIN));
    Some(Segment {
        ack: segment.seq.wrapping_add(occupied),
        flags: Flags::RST.with(Flags::ACK),
        ..Segment::default()
    })
}

/// Whether a segment opens a connection.
pub(super) fn opens(segment: &Segment) -> bool {
    let refuses = [Flags::ACK, Flags::RST].into_iter().any(|flag| segment.flags.contains(flag));
    segment.flags.contains(Flags::SYN) && !refuses
}
