//! Packet protection, and key updates (RFC 9001 section 6).

use leobench_base::SimTime;

use super::Connection;
use crate::crypto::{Crypto, Protection};
use crate::wire::{Level, Space};

/// Packet protection.
pub(super) struct KeyState {
    /// The source of keys, from which another connection can be made.
    pub(super) crypto: Crypto,
    pub(super) protection: Protection,
    /// The key phase that was last looked at.
    pub(super) phase: bool,
    pub(super) as_bytes: bool,
}

impl KeyState {
    /// Whether packets can be sent in a space.
    #[inline]
    pub(super) fn can_send(&self, space: Space) -> bool {
        let early = space == Space::Data && self.protection.can_send(Level::ZeroRtt);
        self.protection.can_send(space.level()) || early
    }

    /// Whether the keys are worn out, or have changed.
    #[inline]
    pub(super) fn needs_care(&self) -> bool {
        self.protection.wants_key_update() || self.has_new_phase()
    }

    #[inline]
    fn has_new_phase(&self) -> bool {
        self.protection.key_phase() != self.phase
    }
}

impl Connection {
    /// Whether packets travel as bytes.
    pub(crate) fn sends_bytes(&self) -> bool {
        self.keys.as_bytes
    }

    /// Updates the keys of 1-RTT packets. Returns whether it did: not before the handshake is confirmed, and not before the last
    /// update is acknowledged and its old keys are discarded (RFC 9001 sections 6.1 and 6.5).
    pub(crate) fn update_keys(&mut self, now: SimTime) -> bool {
        self.is_open() && self.handshake.confirmed && self.keys.protection.update_keys(now)
    }

    /// Updates keys that were used for long, and takes note of updates by either end.
    #[cold]
    pub(super) fn look_after_keys(&mut self, now: SimTime) {
        if self.keys.protection.wants_key_update() {
            self.update_keys(now);
        }
        if self.keys.has_new_phase() {
            let is_of_peer = self.keys.protection.is_phase_of_peer();
            self.keys.phase = self.keys.protection.key_phase();
            self.qlog.key_updated(now, is_of_peer);
            let by = if is_of_peer { "the peer" } else { "this end" };
            let detail = format!("by {by}: key phase {}", u8::from(self.keys.phase));
            self.reports.note("key-update", detail);
        }
    }
}
