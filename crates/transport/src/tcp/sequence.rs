//! 64-bit offsets in a byte stream and 32-bit sequence numbers on the wire (RFC 9293 section 3.4); timestamps.

use leobench_base::SimTime;

/// Sequence numbers of one direction: offset 0 is the first byte after the SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    first: u32,
}

impl Sequence {
    /// The mapping for an initial sequence number.
    pub(super) fn new(initial: u32) -> Self {
        Self { first: initial.wrapping_add(1) }
    }

    /// The sequence number of the SYN.
    pub(super) fn initial(self) -> u32 {
        self.first.wrapping_sub(1)
    }

    /// The sequence number of an offset.
    pub(super) fn wire(self, offset: u64) -> u32 {
        self.first.wrapping_add(offset as u32)
    }

    /// The offset closest to `near` with a sequence number; `None` if it precedes the stream.
    pub(super) fn offset(self, number: u32, near: u64) -> Option<u64> {
        let distance = number.wrapping_sub(self.wire(near)) as i32;
        near.checked_add_signed(distance.into())
    }
}

/// The clock of one end's timestamps: milliseconds, as in Linux (RFC 7323 section 5.4 allows 1 ms to 1 s), from a
/// random start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamps {
    start: u32,
}

impl Stamps {
    pub(super) fn new(start: u32) -> Self {
        Self { start }
    }

    /// The timestamp at a time.
    pub(super) fn at(self, now: SimTime) -> u32 {
        self.start.wrapping_add((now.as_nanos() / 1_000_000) as u32)
    }

    /// Whether a timestamp is earlier than another (RFC 7323 section 5.2).
    pub(super) fn is_before(one: u32, other: u32) -> bool {
        (one.wrapping_sub(other) as i32) < 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_offsets_do_not() {
        let sequence = Sequence::new(u32::MAX - 5);
        assert_eq!((sequence.initial(), sequence.wire(0)), (u32::MAX - 5, u32::MAX - 4));
        for offset in [0u64, 4, 5, 1 << 31, (1 << 32) - 1, 1 << 32, (7 << 32) + 12_345] {
            for near in [offset, offset + 2_000_000_000, offset.saturating_sub(2_000_000_000)] {
                assert_eq!(sequence.offset(sequence.wire(offset), near), Some(offset));
            }
        }
        assert_eq!(sequence.offset(sequence.initial(), 0), None);
    }
}
