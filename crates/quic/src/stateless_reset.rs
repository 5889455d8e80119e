//! Stateless resets: answers to packets of connections that this end does not know (RFC 9000 section 10.3).

use leobench_base::SimRng;

use super::token_key::ResetKey;
use crate::wire::{ConnectionId, Datagram};

/// Bytes of a stateless reset, unless it answers a shorter packet; and of the shortest one (RFC 9000 section 10.3).
const RESET: u64 = 43;
const SHORTEST_RESET: u64 = 21;

impl ResetKey {
    /// A stateless reset for the sender of a packet of `size` bytes to `id`, which belongs to no connection; none if the packet
    /// is too small to be answered by a smaller one, without which two ends could answer each other for ever.
    pub(super) fn reset(&self, id: ConnectionId, size: u64, rng: &mut SimRng) -> Option<Datagram> {
        let size = RESET.min(size.saturating_sub(1));
        if size < SHORTEST_RESET {
            return None;
        }
        let token = self.token(id);
        let mut bytes = Vec::with_capacity(size as usize);
        while bytes.len() < size as usize - token.0.len() {
            bytes.push(rng.bits() as u8);
        }
        // It looks like a packet with a short header.
        bytes[0] = bytes[0] & 0x3f | 0x40;
        bytes.extend_from_slice(&token.0);
        Some(Datagram::StatelessReset(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::RngTree;

    use super::*;

    #[test]
    fn a_reset_is_smaller_than_what_it_answers() {
        let (key, mut rng) = (ResetKey::new(&RngTree::new(1)), RngTree::new(2).rng());
        let [id, other] = [1, 2].map(|byte| ConnectionId::new(&[byte; 8]).unwrap());
        for (size, expected) in [(1_252, 43), (44, 43), (43, 42), (22, 21)] {
            let Some(Datagram::StatelessReset(bytes)) = key.reset(id, size, &mut rng) else {
                panic!()
            };
            assert_eq!(bytes.len(), expected, "{size}");
            assert_eq!(bytes[0] & 0xc0, 0x40);
            assert_eq!(bytes[expected - 16..], key.token(id).0);
        }
        assert_eq!(key.reset(id, 21, &mut rng), None);
        assert_ne!(key.token(id), key.token(other));
    }
}
