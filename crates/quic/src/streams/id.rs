//! Stream IDs (RFC 9000 section 2.1).

use leobench_transport::Role;

use crate::wire::{Directionality, StreamId};

/// The type of a stream: who opened it, and who may send on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamKind {
    pub(super) initiator: Role,
    pub(super) direction: Directionality,
}

/// The types of streams: their two least significant bits.
pub(super) const KINDS: usize = 4;

impl StreamKind {
    pub(super) fn of(id: StreamId) -> Self {
        let initiator = if id.0 & 1 == 0 { Role::Client } else { Role::Server };
        let direction = match id.0 & 2 {
            0 => Directionality::Bidirectional,
            _ => Directionality::Unidirectional,
        };
        Self { initiator, direction }
    }

    /// Its two bits.
    pub(super) fn bits(self) -> u64 {
        u64::from(self.initiator == Role::Server)
            | u64::from(self.direction == Directionality::Unidirectional) << 1
    }

    /// The stream of this type with an index.
    pub(super) fn id(self, index: u64) -> StreamId {
        StreamId(index << 2 | self.bits())
    }
}

/// The number of a stream among those of its type.
pub(super) fn index(id: StreamId) -> u64 {
    id.0 >> 2
}

/// The place of a directionality in a pair.
pub(super) fn side(direction: Directionality) -> usize {
    usize::from(direction == Directionality::Unidirectional)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000 table 1.
    #[test]
    fn the_two_last_bits_are_the_type() {
        use Directionality::{Bidirectional, Unidirectional};
        for (bits, initiator, direction) in [
            (0, Role::Client, Bidirectional),
            (1, Role::Server, Bidirectional),
            (2, Role::Client, Unidirectional),
            (3, Role::Server, Unidirectional),
        ] {
            let kind = StreamKind { initiator, direction };
            assert_eq!((kind.bits(), kind.id(5)), (bits, StreamId(20 + bits)));
            assert_eq!((StreamKind::of(StreamId(20 + bits)), index(kind.id(5))), (kind, 5));
        }
    }
}
