//! Keys of tokens, which an end computes instead of remembering them.

use hmac::{Hmac, KeyInit as _, Mac as _};
use leobench_base::RngTree;
use sha2::Sha256;

use crate::wire::{ConnectionId, ResetToken};

/// Bytes of the tag that authenticates a token.
pub(super) const TAG: usize = 16;

/// A key of HMAC with SHA-256 (RFC 2104).
#[derive(Clone, Debug)]
pub(super) struct TokenKey(Hmac<Sha256>);

/// The key from which an end computes the tokens of its connection IDs (RFC 9000 section 10.3.2).
#[derive(Clone, Debug)]
pub(super) struct ResetKey(TokenKey);

impl ResetKey {
    pub(super) fn new(rng: &RngTree) -> Self {
        Self(TokenKey::new(rng, "stateless-reset-key"))
    }

    /// The token of an ID.
    pub(super) fn token(&self, id: ConnectionId) -> ResetToken {
        ResetToken(self.0.tag(id.as_slice()))
    }
}

impl TokenKey {
    /// The key of this name.
    pub(super) fn new(rng: &RngTree, name: &str) -> Self {
        let mut rng = rng.child(name).rng();
        let bytes: Vec<u8> = (0..4).flat_map(|_| rng.bits().to_be_bytes()).collect();
        match Hmac::new_from_slice(&bytes) {
            Ok(key) => Self(key),
            Err(_) => unreachable!("HMAC takes keys of any length (RFC 2104 section 2)"),
        }
    }

    /// The tag of data, cut to its length.
    pub(super) fn tag(&self, data: &[u8]) -> [u8; TAG] {
        let whole = self.0.clone().chain_update(data).finalize().into_bytes();
        let mut tag = [0; TAG];
        tag.copy_from_slice(&whole[..TAG]);
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 1 of RFC 4231 section 4.2, cut to 16 bytes.
    #[test]
    fn tags_are_those_of_hmac_sha256() {
        let key = TokenKey(Hmac::new_from_slice(&[0x0b; 20]).unwrap());
        let tag = [
            0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b,
            0xf1, 0x2b,
        ];
        assert_eq!(key.tag(b"Hi There"), tag);
    }
}
