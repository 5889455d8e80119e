//! The handshake as the connection sees it (RFC 9001 section 4.1).

use super::early::EarlyKeys;
use super::keys::Keys;
use crate::wire::{ErrorCode, Level, TransportError};

/// One end of a handshake. It exchanges the content of CRYPTO frames with its peer and yields keys.
///
/// The order of calls: [`Handshake::write`] at the client's start, and at either end after each [`Handshake::read`],
/// repeated until it adds nothing and yields nothing.
pub(crate) trait Handshake: Send {
    /// Takes the next CRYPTO bytes of `level`, in order.
    ///
    /// # Errors
    /// The alert of TLS as `CRYPTO_ERROR`; `PROTOCOL_VIOLATION` for bytes of a level that has none left (RFC 9001
    /// section 4.1.3).
    fn read(&mut self, level: Level, data: &[u8]) -> Result<(), TransportError>;

    /// Appends CRYPTO bytes of the present level, at first Initial, to `out`. If it yields keys, later bytes belong to
    /// their level.
    fn write(&mut self, out: &mut Vec<u8>) -> Option<KeyChange>;

    /// The peer's encoded transport parameters, once they are known. They are authenticated when the handshake is
    /// complete.
    fn peer_params(&self) -> Option<&[u8]>;

    /// Whether this end has sent its Finished message and verified the peer's (RFC 9001 section 4.1.1).
    fn is_complete(&self) -> bool;

    /// The keys of 0-RTT packets, if this end is a client that offers 0-RTT data, after its first call of
    /// [`Handshake::write`], or a server that accepts it, after it has read the client's first message. It yields them once.
    fn early_keys(&mut self) -> Option<EarlyKeys>;

    /// The encoded transport parameters that the server had in the earlier connection, if this end is a client that offers
    /// 0-RTT data.
    fn remembered_params(&self) -> Option<&[u8]>;

    /// Whether the server accepts the client's 0-RTT data. A client knows once the handshake is complete.
    fn accepts_early(&self) -> bool;
}

/// Keys of the next level.
pub(crate) struct KeyChange {
    /// Handshake or 1-RTT.
    pub(crate) level: Level,
    /// The keys.
    pub(crate) keys: Keys,
}

/// The level whose CRYPTO bytes come next, by the progress of a handshake.
pub(super) const fn reading(has_handshake_keys: bool, is_complete: bool) -> Level {
    match (has_handshake_keys, is_complete) {
        (_, true) => Level::OneRtt,
        (true, false) => Level::Handshake,
        (false, false) => Level::Initial,
    }
}

/// Rejects bytes of another level than the one that comes next.
pub(super) fn check_level(level: Level, expected: Level) -> Result<(), TransportError> {
    if level == expected {
        return Ok(());
    }
    let reason = format!("handshake data at level {level:?}, expected at {expected:?}");
    Err(TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason))
}
