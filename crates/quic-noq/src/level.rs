//! Encryption levels.

/// How a packet is protected (RFC 9001 section 2.1), by its name in qlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Initial,
    Handshake,
    OneRtt,
}
