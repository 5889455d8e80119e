//! Moving to other addresses (RFC 9000 section 9), and validating them (section 8.2).

use std::net::SocketAddr;

use leobench_base::quic::{Frame, Packet, Space};
use leobench_base::{SimDuration, SimTime};

use super::Connection;
use crate::endpoint::{Event, InterfaceChange};
use crate::quic::role::Role;
use crate::quic::route::{Due, FourTuple};
use crate::quic::spec::AfterMigration;

impl Connection {
    /// An interface of our host changed. A client whose address is gone moves to another address of its host, if there is one
    /// (section 9.2). As long as it has its address, it stays.
    pub(in crate::quic) fn on_interface(&mut self, now: SimTime, change: InterfaceChange) {
        self.interfaces.change(change);
        let present = self.path().route.tuple;
        if self.role == Role::Server || !self.is_open() || self.interfaces.has(present.local.ip()) {
            return;
        }
        let Some(address) = self.interfaces.choose(present.local.ip()) else { return };
        if let Some(reason) = self.may_not_move() {
            self.abandon(now, reason, "aborted");
        } else if !self.remote_ids.advance() {
            self.abandon(now, "no connection ID is left for another address", "aborted");
        } else {
            let local = SocketAddr::new(address, present.local.port());
            let tuple = FourTuple { local, ..present };
            // The server's address is known to be its own: only the way to it is new.
            self.path_mut().find_or_add(tuple, 0).validate();
            self.move_to(now, tuple);
            self.validate_route(now);
        }
    }

    /// Why a client may not use another address, if it may not: RFC 9000 section 9, and section 18.2.
    fn may_not_move(&self) -> Option<&'static str> {
        if self.peer.as_ref().is_some_and(|peer| peer.disable_active_migration) {
            return Some("its address went away, and the peer forbids another");
        }
        (!self.confirmed).then_some("its address went away before the handshake was confirmed")
    }

    /// A 1-RTT packet was processed. A server follows its client to another address by the newest packet that does more than
    /// probe (section 9.3).
    #[inline]
    pub(super) fn follow(&mut self, now: SimTime, packet: &Packet) {
        let destination = packet.header.destination();
        let (tuple, size) = self.arrival;
        let route = &mut self.path_mut().route;
        if route.tuple == tuple {
            if route.used_id != Some(destination) {
                route.used_id = Some(destination);
            }
            return;
        }
        let newest =
            self.level(Space::Data).received.largest() == Some(packet.header.number().value);
        if self.role == Role::Client || !newest || packet.frames.iter().all(Frame::is_probing) {
            return;
        }
        let path = self.path_mut();
        let changes_id = path.route.used_id.is_some_and(|used| used != destination);
        path.find_or_add(tuple, size).used_id = Some(destination);
        if changes_id {
            // A client that moves on purpose changes IDs, and so does its peer (section 9.5). Without another one at hand it
            // goes on with the present one.
            self.remote_ids.advance();
        }
        self.move_to(now, tuple);
        if !self.path().route.is_validated() {
            self.validate_route(now);
        }
        // Somebody may have copied the packet and sent it from elsewhere (section 9.3.3).
        let pto = self.validation_timeout();
        if let Some(former) =
            self.path_mut().others.first_mut().filter(|former| former.is_validated())
        {
            former.challenge(now, pto);
        }
    }

    /// A packet of the handshake came. Before the handshake is complete a server answers where the latest packet came from:
    /// a NAT may have mapped its client anew.
    pub(super) fn follow_handshake(&mut self, now: SimTime) {
        let (tuple, size) = self.arrival;
        if self.role == Role::Client || self.complete || self.path().route.tuple == tuple {
            return;
        }
        let path = self.path_mut();
        path.find_or_add(tuple, size);
        path.switch(tuple);
        path.others.clear();
        self.note_route("moved in the handshake");
        self.update_handshake_state(now);
    }

    /// Moves the path to another route.
    fn move_to(&mut self, now: SimTime, tuple: FourTuple) {
        let resets = self.settings.after_migration == AfterMigration::Reset;
        let mtu = self.settings.mtu;
        let path = &mut self.paths[self.active];
        let former = path.route.tuple;
        path.switch(tuple);
        path.spin = false;
        if resets && !tuple.differs_in_ports_only(&former) {
            path.recovery.on_moved(now, &mut self.control, mtu);
            path.restart_pacer();
        }
        path.recovery.restart_backoff(now);
        self.note_route("moved");
        self.log_route(now);
        self.update_handshake_state(now);
    }

    fn note_route(&mut self, what: &str) {
        let FourTuple { local, remote } = self.path().route.tuple;
        self.events.push(Event { kind: "path", detail: format!("{what}: {local} to {remote}") });
    }

    fn validate_route(&mut self, now: SimTime) {
        let pto = self.validation_timeout();
        self.path_mut().route.challenge(now, pto);
    }

    /// RFC 9000 section 8.2.4.
    fn validation_timeout(&self) -> SimDuration {
        let recovery = &self.path().recovery;
        recovery.probe_timeout(Space::Data).max(recovery.initial_probe_timeout())
    }

    /// The peer wants to know whether we receive over the route that its packet came over.
    pub(super) fn on_path_challenge(&mut self, data: u64) {
        let (tuple, size) = self.arrival;
        self.path_mut().find_or_add(tuple, size).on_challenge(data);
    }

    /// The peer answers a challenge; what answers none is ignored.
    pub(super) fn on_path_response(&mut self, now: SimTime, data: u64) {
        let path = self.path_mut();
        let known = path.route.is_validated();
        if path.route.on_response(now, data) {
            if !known || self.role == Role::Client {
                self.note_route("validated");
            }
            self.update_handshake_state(now);
        } else {
            path.others.iter_mut().any(|route| route.on_response(now, data));
        }
        self.forget_routes();
    }

    /// Routes that are of no use any more.
    fn forget_routes(&mut self) {
        let path = self.path_mut();
        if path.route.is_validated() && !path.route.is_in_validation() {
            path.others.retain(|route| route.wants_probe() || route.is_in_validation());
        }
    }

    /// Does what is due on the routes.
    pub(super) fn on_route_timer(&mut self, now: SimTime) {
        if self.path().route_timer().is_none_or(|timer| timer > now) {
            return;
        }
        let path = self.path_mut();
        let failed = path.route.on_timer(now) == Due::Failed;
        // An address that was validated once is one to go back to, even if nobody answers there at present.
        path.others.retain_mut(|route| route.on_timer(now) != Due::Failed || route.is_validated());
        if failed {
            self.on_route_failed(now);
        }
        self.forget_routes();
    }

    /// Nobody answers at the present route. A server goes back to an address that it knows (section 9.3.2). A client knows no
    /// other way, and goes on asking until the connection is idle for too long.
    fn on_route_failed(&mut self, now: SimTime) {
        if self.role == Role::Client {
            self.validate_route(now);
            return;
        }
        if self.path().route.is_validated() {
            // Only whether the route carries large datagrams is not known.
            return;
        }
        match self.path().others.iter().find(|route| route.is_validated()) {
            Some(known) => {
                let known = known.tuple;
                self.move_to(now, known);
                // The route that failed is now the first of the others.
                self.path_mut().others.remove(0);
            }
            None => self.abandon(now, "no address of the client is validated", "aborted"),
        }
    }
}
