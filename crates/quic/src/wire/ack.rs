//! Acknowledgements (RFC 9000 section 19.3).

use smallvec::SmallVec;

/// The fields of an ACK frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Acknowledged packet numbers, in descending order; at least one range, no two of which touch.
    pub ranges: SmallVec<[AckRange; 1]>,
    /// The ACK Delay field as encoded: microseconds shifted right by the sender's exponent.
    pub delay: u64,
    /// Counts of ECN codepoints, if it reports them.
    pub ecn: Option<Box<EcnCounts>>,
}

/// Packet numbers from `smallest` to `largest`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRange {
    /// The first.
    pub smallest: u64,
    /// The last.
    pub largest: u64,
}

/// How many packets were received with each codepoint (RFC 9000 section 19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// CE.
    pub ce: u64,
}

impl Ack {
    /// The largest packet number acknowledged.
    #[inline]
    pub fn largest(&self) -> u64 {
        self.ranges.first().map_or(0, |range| range.largest)
    }
}
