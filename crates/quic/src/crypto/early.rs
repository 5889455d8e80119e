//! Resumption of an earlier connection, and the keys of 0-RTT packets (RFC 9001 sections 4.5 and 4.6).

use leobench_base::SimTime;

use super::keys::Directional;

/// The memory of an earlier connection between the ends of one that nothing protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Earlier {
    /// Whether the client offers 0-RTT data, or the server accepts it.
    pub(crate) early: bool,
    /// The encoded transport parameters that the server had, of a client.
    pub(crate) params: Vec<u8>,
}

/// Keys of 0-RTT packets, with which a client seals and a server opens.
pub(crate) struct EarlyKeys {
    pub(super) keys: Directional,
    /// When a server discards them.
    until: Option<SimTime>,
}

impl EarlyKeys {
    pub(super) const fn new(keys: Directional) -> Self {
        Self { keys, until: None }
    }

    /// The server discards them at a time.
    pub(super) const fn expire_at(&mut self, until: SimTime) {
        self.until = Some(until);
    }

    /// Whether that time has come.
    pub(super) fn has_expired(&self, now: SimTime) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}
