//! Access of tests to the parts of a connection.

use super::Connection;
use crate::datagrams::DatagramTotals;

impl Connection {
    /// The key phase bit of the next 1-RTT packet.
    pub(crate) fn key_phase(&self) -> bool {
        self.keys.protection.key_phase()
    }

    /// Lets the present keys wear out after so many packets.
    pub(crate) fn wear_out_keys(&mut self, packets: u64) {
        self.keys.protection.set_limit(packets);
    }

    /// Whether the spin bit of the path spins.
    pub(crate) fn spins(&self) -> bool {
        self.paths.first().spins
    }

    /// How many datagrams of the application there were.
    pub(crate) fn datagram_totals(&self) -> DatagramTotals {
        self.datagrams.totals()
    }

    /// Pretends that the peer accepts DATAGRAM frames of up to `bytes`.
    pub(crate) fn believe_in_datagrams(&mut self, bytes: u64) {
        self.datagrams.on_peer_params(bytes);
    }
}
