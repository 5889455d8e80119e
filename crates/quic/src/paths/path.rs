//! A path of a connection: its routes, and all that is measured on it.

use std::cell::Cell;

use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;
use leobench_transport::on_forecast::Hold;
use leobench_transport::pacing::{Pacer, window_rate};

use super::member::{Member, Status};
use super::route::{FourTuple, Route};
use crate::MINIMUM_DATAGRAM;
use crate::cids::{LocalIds, RemoteIds};
use crate::datagrams::datagram_header;
use crate::earliest::earliest;
use crate::recovery::{Control, Recovery};
use crate::space::AckState;
use crate::wire::{Space, TAG_SIZE};

/// One path in so many has a constant spin bit.
const SPIN_EXCEPTION: u64 = 16;
/// Packets that may leave at once after an idle time (RFC 9002 section 7.7: at most the initial window).
const BURST_PACKETS: u64 = 10;
/// Routes other than the present one that are remembered.
const MOST_OTHERS: usize = 3;

/// How far one of several paths has come (draft-ietf-quic-multipath section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No packet was sent or received on it.
    Unused,
    /// It is in use, or in validation.
    Open,
    /// This end abandoned it, and acknowledges what still arrives: until then, or until the peer abandons it too.
    Abandoned { until: Option<SimTime> },
    /// It is forgotten.
    Gone,
}

/// The connection IDs of both ends.
pub(crate) struct Ids {
    pub(crate) local: LocalIds,
    pub(crate) remote: RemoteIds,
}

/// One path.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Path {
    pub(crate) id: PathId,
    /// The route in use.
    pub(crate) route: Route,
    /// Routes that were in use, or that the peer probes, the latest first.
    pub(crate) others: Vec<Route>,
    pub(crate) recovery: Recovery,
    /// Those of its 1-RTT packets.
    pub(crate) acks: AckState,
    pub(crate) ids: Ids,
    /// The first 1-RTT packet sent since the last probe timeout.
    pub(crate) probed_from: u64,
    pub(crate) stage: Stage,
    /// Whether the peer has answered on it.
    pub(crate) proven: bool,
    pub(crate) status: Status,
    /// Whether the link layer of its interface is there, as far as this end knows.
    pub(crate) has_carrier: bool,
    /// The code with which this end abandons it, and whether it is to say so.
    pub(crate) abandon_code: u64,
    pub(crate) announces_abandon: bool,
    /// When the last packet arrived.
    pub(crate) heard: SimTime,
    /// Bytes of streams sent again on one of several paths, and packets with such.
    pub(crate) retransmitted_bytes: u64,
    pub(crate) retransmitted_packets: u64,
    /// When it is left alone because of a forecast handover.
    pub(crate) hold: Hold,
    pacer: Option<Pacer>,
    /// When pacing or a forecast lets the next packet go, if that alone kept it back when the last one was asked for.
    pub(crate) next_send: Option<SimTime>,
    /// The window and the round-trip time that were last spread over each other, and the rate.
    spread: Cell<(u64, SimDuration, BitRate)>,
    /// Largest UDP payload to send.
    pub(crate) mtu: u64,
    /// The spin bit to send (RFC 9000 section 17.4), and whether it spins.
    pub(crate) spin: bool,
    pub(crate) spins: bool,
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: Bytes,
    pub(crate) received_packets: u64,
    /// Its state as one of several paths, if both ends have agreed on them.
    pub(crate) member: Option<Box<Member>>,
}

impl Path {
    pub(crate) fn new(
        id: PathId,
        tuple: FourTuple,
        recovery: Recovery,
        ids: Ids,
        mtu: u64,
        paces: bool,
    ) -> Self {
        Self {
            id,
            route: Route::new(tuple),
            others: Vec::new(),
            recovery,
            acks: AckState::new(Space::Data),
            ids,
            probed_from: 0,
            stage: Stage::Open,
            proven: true,
            status: Status::default(),
            has_carrier: true,
            abandon_code: 0,
            announces_abandon: false,
            heard: SimTime::ZERO,
            retransmitted_bytes: 0,
            retransmitted_packets: 0,
            hold: Hold::default(),
            pacer: paces.then(|| pacer(mtu)),
            next_send: None,
            spread: Cell::new((0, SimDuration::ZERO, BitRate::from_bps(0))),
            mtu,
            spin: false,
            spins: true,
            sent_packets: 0,
            sent_bytes: Bytes::ZERO,
            received_packets: 0,
            member: None,
        }
    }

    /// Whether packets are sent on it.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Whether it stays on its only route, which is validated.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.is_open() && self.others.is_empty() && self.route.is_settled()
    }

    /// Whether data may be sent on it: it is established, and has a carrier.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        self.has_carrier && self.is_established()
    }

    /// Whether both ends have shown that they receive at their addresses.
    #[inline]
    pub(crate) fn is_established(&self) -> bool {
        self.is_open() && self.proven && self.route.is_validated() && self.ids.remote.is_in_use()
    }

    /// Makes the spin bit constant on one path in sixteen, as RFC 9000 section 17.4 demands so that those who prefer that are not
    /// conspicuous.
    pub(crate) fn choose_spin(&mut self, allowed: bool, rng: &RngTree) {
        let luck = rng.child("spin").rng().bits();
        self.spins = allowed && !luck.is_multiple_of(SPIN_EXCEPTION);
        self.spin = !self.spins && luck / SPIN_EXCEPTION % 2 == 1;
    }

    /// Follows the spin bit of the newest 1-RTT packet, of this number: the client sends the opposite of what it received, the
    /// server the same (RFC 9000 section 17.4).
    #[inline]
    pub(crate) fn on_spin(&mut self, role: Role, number: u64, spin: bool) {
        if self.spins && self.acks.received.largest() == Some(number) {
            self.spin = (role == Role::Server) == spin;
        }
    }

    /// Whether neither the handshake nor an unvalidated address limits what may be sent.
    #[inline]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.route.is_validated() && self.recovery.is_settled()
    }

    /// The peer's address is validated.
    pub(crate) fn validate(&mut self) {
        self.route.validate();
    }

    /// A datagram of `size` bytes arrived over `tuple`.
    pub(crate) fn on_received(&mut self, tuple: FourTuple, size: u64) {
        self.received_packets += 1;
        // What arrives limits what is sent until the address is validated.
        if !self.route.is_validated() || !self.others.is_empty() {
            self.count_received(tuple, size);
        }
    }

    #[cold]
    fn count_received(&mut self, tuple: FourTuple, size: u64) {
        if let Some(route) = self.find(tuple) {
            route.on_received(size);
        }
    }

    /// A datagram of `size` bytes leaves over the present route, or `elsewhere`.
    #[inline]
    pub(crate) fn on_sent(&mut self, elsewhere: Option<FourTuple>, size: u64) {
        self.sent_packets += 1;
        self.sent_bytes += Bytes::new(size);
        if let Some(route) = self.present_or(elsewhere) {
            route.on_sent(size);
        }
    }

    /// A datagram with a challenge, which leaves over the present route or `elsewhere`, has at least 1,200 bytes.
    #[cold]
    pub(crate) fn on_large_challenge(&mut self, elsewhere: Option<FourTuple>) {
        if let Some(route) = self.present_or(elsewhere) {
            route.on_large_challenge();
        }
    }

    /// The present route, or another one that is known.
    #[inline]
    fn present_or(&mut self, elsewhere: Option<FourTuple>) -> Option<&mut Route> {
        match elsewhere {
            None => Some(&mut self.route),
            Some(tuple) => self.find(tuple),
        }
    }

    /// The route between two addresses, if it is known.
    #[inline]
    pub(crate) fn find(&mut self, tuple: FourTuple) -> Option<&mut Route> {
        if self.route.tuple == tuple {
            return Some(&mut self.route);
        }
        self.others.iter_mut().find(|route| route.tuple == tuple)
    }

    /// The route between two addresses, over which a datagram of `size` bytes has come.
    pub(crate) fn find_or_add(&mut self, tuple: FourTuple, size: u64) -> &mut Route {
        if self.route.tuple == tuple {
            return &mut self.route;
        }
        let known = self.others.iter().position(|route| route.tuple == tuple);
        let at = known.unwrap_or_else(|| {
            let mut route = Route::new(tuple);
            route.on_received(size);
            self.others.insert(0, route);
            if self.others.len() > MOST_OTHERS {
                // One that is validated is a way back (RFC 9000 section 9.3.2).
                let least = self.others.iter().skip(1).rposition(|route| !route.is_validated());
                self.others.remove(least.map_or(MOST_OTHERS, |at| at + 1));
            }
            0
        });
        &mut self.others[at]
    }

    /// Moves to another known route. The present one is remembered.
    pub(crate) fn switch(&mut self, tuple: FourTuple) {
        if let Some(at) = self.others.iter().position(|route| route.tuple == tuple) {
            let to = self.others.remove(at);
            self.others.insert(0, std::mem::replace(&mut self.route, to));
        }
    }

    /// Begins to validate the present route.
    pub(crate) fn begin_validation(&mut self, now: SimTime) {
        let pto = self.validation_timeout();
        self.route.challenge(now, pto);
    }

    /// The probe timeout of its 1-RTT packets.
    pub(crate) fn probe_timeout(&self) -> SimDuration {
        self.recovery.probe_timeout(Space::Data)
    }

    /// The larger one of the present probe timeout and that of a new route (RFC 9000 section 8.2.4).
    pub(crate) fn validation_timeout(&self) -> SimDuration {
        self.probe_timeout().max(self.recovery.initial_probe_timeout())
    }

    /// Forgets routes that are of no use any more. This end still probes the `candidate`, if there is one.
    pub(crate) fn forget_routes(&mut self, candidate: Option<FourTuple>) {
        if self.route.is_validated() && !self.route.is_in_validation() {
            self.others.retain(|route| {
                route.wants_validation()
                    || route.is_in_validation()
                    || candidate == Some(route.tuple)
            });
        }
    }

    /// Nothing that was measured holds on the present route.
    pub(crate) fn restart_pacer(&mut self) {
        self.pacer = self.pacer.is_some().then(|| pacer(self.mtu));
    }

    /// When something is due on it, but for acknowledgements.
    #[inline]
    pub(crate) fn timer(&self) -> Option<SimTime> {
        let first = earliest(self.recovery.timer(), self.next_send);
        if self.others.is_empty() && !self.route.is_in_validation() {
            return first;
        }
        earliest(first, self.route_timer())
    }

    /// Room for frames in a packet that carries nothing but a datagram of the application.
    pub(crate) fn datagram_room(&self) -> u64 {
        let header = datagram_header(self.ids.remote.current().size());
        self.mtu.saturating_sub(header + TAG_SIZE)
    }

    /// When something is due on a route.
    #[cold]
    pub(crate) fn route_timer(&self) -> Option<SimTime> {
        std::iter::once(&self.route).chain(&self.others).filter_map(Route::timer).min()
    }

    /// Bytes that the next datagram may have.
    #[inline]
    pub(crate) fn datagram_limit(&self) -> u64 {
        self.route.datagram_limit(self.mtu)
    }

    /// Whether an unvalidated address keeps back what a probe needs.
    pub(crate) fn is_amplification_limited(&self) -> bool {
        self.datagram_limit() < MINIMUM_DATAGRAM
    }

    /// The pacing rate, if the connection paces: the algorithm's own, or the window spread over a round trip.
    pub(crate) fn pacing_rate(&self, control: &Control) -> Option<BitRate> {
        self.pacer.as_ref().map(|_| self.rate(control.window(self.id), control))
    }

    #[inline]
    fn rate(&self, window: u64, control: &Control) -> BitRate {
        control.pacing_rate(self.id).unwrap_or_else(|| self.window_rate(window))
    }

    /// The window spread over a round trip. It is worked out several times per packet, and changes less often.
    #[inline]
    fn window_rate(&self, window: u64) -> BitRate {
        let smoothed = self.recovery.rtt().smoothed();
        let (last_window, last_smoothed, rate) = self.spread.get();
        if (last_window, last_smoothed) == (window, smoothed) {
            return rate;
        }
        let rate = window_rate(Bytes::new(window), smoothed);
        self.spread.set((window, smoothed, rate));
        rate
    }

    /// When pacing and forecasts let the next packet go; in the past if at once.
    #[inline]
    pub(crate) fn ready(&self, window: u64, control: &Control) -> SimTime {
        let held = self.hold.until();
        let rate = || self.rate(window, control);
        self.pacer.as_ref().map_or(held, |pacer| pacer.ready(rate()).max(held))
    }

    /// Whether the window has room for a full packet.
    #[inline]
    pub(crate) fn has_window(&self, window: u64) -> bool {
        self.recovery.in_flight() + self.mtu <= window
    }

    /// Whether window, pacing and forecasts let a full packet go now.
    #[inline]
    pub(crate) fn may_send(&self, now: SimTime, control: &Control) -> bool {
        let window = control.window(self.id);
        self.has_window(window) && self.ready(window, control) <= now
    }

    /// A datagram of `size` bytes that counts towards the window leaves.
    #[inline]
    pub(crate) fn pace(&mut self, now: SimTime, size: u64, control: &Control) {
        if self.pacer.is_none() {
            return;
        }
        let rate = self.rate(control.window(self.id), control);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, Bytes::new(size), rate);
        }
    }
}

fn pacer(mtu: u64) -> Pacer {
    Pacer::new(Bytes::new(mtu * BURST_PACKETS), Bytes::new(mtu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::RecoveryConfig;

    fn tuple(host: u8) -> FourTuple {
        FourTuple { local: ([10, 0, 0, 1], 1).into(), remote: ([192, 0, 2, host], 2).into() }
    }

    /// A peer that probes from many addresses does not make us forget the one that is known to be its own.
    #[test]
    fn the_last_validated_route_is_not_forgotten() {
        let (role, initial_rtt) = (Role::Server, SimDuration::from_millis(333));
        let recovery = Recovery::new(PathId(0), &RecoveryConfig { role, initial_rtt, ecn: false });
        let rng = RngTree::new(1);
        let key = crate::token_key::ResetKey::new(&rng);
        let ids = Ids { local: LocalIds::of_path(rng.rng(), key), remote: RemoteIds::of_path() };
        let mut path = Path::new(PathId(0), tuple(0), recovery, ids, 1_200, false);
        path.find_or_add(tuple(1), 0).validate();
        for host in 2..20 {
            path.find_or_add(tuple(host), 0);
            assert!(path.find(tuple(1)).is_some_and(|route| route.is_validated()), "{host}");
            assert!(path.find(tuple(host)).is_some() && path.others.len() <= MOST_OTHERS);
        }
        for host in 20..24 {
            path.find_or_add(tuple(host), 0).validate();
        }
        assert!(path.find(tuple(1)).is_none() && path.find(tuple(23)).is_some());
    }
}
