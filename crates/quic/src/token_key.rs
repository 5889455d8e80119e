//! Keys of tokens, which an end computes instead of remembering them.

use leobench_base::RngTree;
use ring::hmac;

use crate::wire::{ConnectionId, ResetToken};

/// Bytes of the tag that authenticates a token.
pub(super) const TAG: usize = 16;

/// The key from which an end computes the tokens of its connection IDs (RFC 9000 section 10.3.2).
#[derive(Clone, Debug)]
pub(super) struct ResetKey(hmac::Key);

impl ResetKey {
    pub(super) fn new(rng: &RngTree) -> Self {
        Self(key(rng, "stateless-reset-key"))
    }

    /// The token of an ID.
    pub(super) fn token(&self, id: ConnectionId) -> ResetToken {
        ResetToken(shortened(&self.0, id.as_slice()))
    }
}

/// The key of this name.
pub(super) fn key(rng: &RngTree, name: &str) -> hmac::Key {
    let mut rng = rng.child(name).rng();
    let bytes: Vec<u8> = (0..4).flat_map(|_| rng.bits().to_be_bytes()).collect();
    hmac::Key::new(hmac::HMAC_SHA256, &bytes)
}

/// The tag of data, cut to its length.
pub(super) fn shortened(key: &hmac::Key, data: &[u8]) -> [u8; TAG] {
    let mut tag = [0; TAG];
    tag.copy_from_slice(&hmac::sign(key, data).as_ref()[..TAG]);
    tag
}
