//! A network path of a connection (RFC 9000 section 9): its addresses, its validation, and all that is measured on it.

use std::net::SocketAddr;

use leobench_base::{BitRate, Bytes, RngTree, SimTime};

use super::recovery::Recovery;
use crate::endpoint::PathId;
use crate::pacing::{Pacer, window_rate};

/// What may be sent to an address that is not validated, as a multiple of what was received from it (RFC 9000 section 8.1).
const AMPLIFICATION: u64 = 3;
/// Probes of the handshake take datagrams of this size (RFC 9000 section 14.1).
const SMALLEST_PROBE: u64 = 1_200;
/// One path in so many has a constant spin bit.
const SPIN_EXCEPTION: u64 = 16;
/// Packets that may leave at once after an idle time (RFC 9002 section 7.7: at most the initial window).
const BURST_PACKETS: u64 = 10;

/// One path.
pub(super) struct Path {
    pub(super) id: PathId,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) recovery: Recovery,
    pacer: Option<Pacer>,
    /// Largest UDP payload to send.
    pub(super) mtu: u64,
    /// Whether the peer is known to receive at its address.
    validated: bool,
    /// UDP payload bytes received from and sent to the address until it was validated.
    received: u64,
    sent: u64,
    /// The spin bit to send (RFC 9000 section 17.4), and whether it spins.
    pub(super) spin: bool,
    pub(super) spins: bool,
    pub(super) sent_packets: u64,
    pub(super) sent_bytes: Bytes,
    pub(super) received_packets: u64,
}

impl Path {
    pub(super) fn new(
        id: PathId,
        (local, remote): (SocketAddr, SocketAddr),
        recovery: Recovery,
        mtu: u64,
        paced: bool,
    ) -> Self {
        let burst = Bytes::new(mtu * BURST_PACKETS);
        Self {
            id,
            local,
            remote,
            recovery,
            pacer: paced.then(|| Pacer::new(burst, Bytes::new(mtu))),
            mtu,
            validated: false,
            received: 0,
            sent: 0,
            spin: false,
            spins: true,
            sent_packets: 0,
            sent_bytes: Bytes::ZERO,
            received_packets: 0,
        }
    }

    /// Makes the spin bit constant on one path in sixteen, as RFC 9000 section 17.4 demands so that those who prefer that are not
    /// conspicuous.
    pub(super) fn choose_spin(&mut self, rng: &RngTree) {
        let luck = rng.child("spin").rng().bits();
        self.spins = !luck.is_multiple_of(SPIN_EXCEPTION);
        self.spin = !self.spins && luck / SPIN_EXCEPTION % 2 == 1;
    }

    /// The peer's address is validated.
    pub(super) fn validate(&mut self) {
        self.validated = true;
    }

    /// Whether the peer is known to receive at its address.
    #[inline]
    pub(super) fn is_validated(&self) -> bool {
        self.validated
    }

    /// A datagram of `size` bytes arrived.
    pub(super) fn on_received(&mut self, size: u64) {
        self.received_packets += 1;
        self.received += size;
    }

    /// A datagram of `size` bytes leaves.
    pub(super) fn on_sent(&mut self, size: u64) {
        self.sent_packets += 1;
        self.sent_bytes += Bytes::new(size);
        self.sent += size;
    }

    /// Bytes that the next datagram may have.
    #[inline]
    pub(super) fn datagram_limit(&self) -> u64 {
        if self.validated {
            return self.mtu;
        }
        (AMPLIFICATION * self.received).saturating_sub(self.sent).min(self.mtu)
    }

    /// Whether an unvalidated address keeps back what a probe needs.
    pub(super) fn is_amplification_limited(&self) -> bool {
        self.datagram_limit() < SMALLEST_PROBE
    }

    /// The pacing rate, if the connection paces: the algorithm's own, or the window spread over a round trip.
    pub(super) fn pacing_rate(&self, control: &super::recovery::Control) -> Option<BitRate> {
        self.pacer.as_ref().map(|_| self.rate(control))
    }

    fn rate(&self, control: &super::recovery::Control) -> BitRate {
        control.pacing_rate(self.id).unwrap_or_else(|| {
            window_rate(Bytes::new(control.window(self.id)), self.recovery.rtt().smoothed())
        })
    }

    /// When pacing lets the next packet go; in the past if at once.
    #[inline]
    pub(super) fn ready(&self, control: &super::recovery::Control) -> SimTime {
        self.pacer.as_ref().map_or(SimTime::ZERO, |pacer| pacer.ready(self.rate(control)))
    }

    /// A datagram of `size` bytes that counts towards the window leaves.
    #[inline]
    pub(super) fn pace(&mut self, now: SimTime, size: u64, control: &super::recovery::Control) {
        if self.pacer.is_none() {
            return;
        }
        let rate = self.rate(control);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, Bytes::new(size), rate);
        }
    }
}
