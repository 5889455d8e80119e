//! Key updates (RFC 9001 section 6).

use leobench_base::SimTime;
use leobench_transport::endpoint::Event;

use super::Connection;

impl Connection {
    /// Updates the keys of 1-RTT packets. Returns whether it did: not before the handshake is confirmed, and not before the last
    /// update is acknowledged and its old keys are discarded (RFC 9001 sections 6.1 and 6.5).
    pub(crate) fn update_keys(&mut self, now: SimTime) -> bool {
        self.is_open() && self.handshake.confirmed && self.keys.protection.update_keys(now)
    }

    /// Updates keys that were used for long, and takes note of updates by either end.
    #[inline]
    pub(super) fn look_after_keys(&mut self, now: SimTime) {
        if self.keys.protection.wants_key_update() {
            self.update_keys(now);
        }
        if self.keys.protection.key_phase() != self.keys.phase {
            self.on_new_phase(now);
        }
    }

    /// Lets the present keys wear out after so many packets.
    #[cfg(test)]
    pub(crate) fn wear_out_keys(&mut self, packets: u64) {
        self.keys.protection.set_limit(packets);
    }

    /// Whether the spin bit of the path spins.
    #[cfg(test)]
    pub(crate) fn spins(&self) -> bool {
        self.paths.first().spins
    }

    #[cold]
    fn on_new_phase(&mut self, now: SimTime) {
        self.keys.phase = self.keys.protection.key_phase();
        self.log_phase(now, self.keys.protection.is_phase_of_peer());
        let by = if self.keys.protection.is_phase_of_peer() { "the peer" } else { "this end" };
        let detail = format!("by {by}: key phase {}", u8::from(self.keys.phase));
        self.reports.events.push(Event { kind: "key-update", detail });
    }
}
