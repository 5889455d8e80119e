//! Moving to other addresses (RFC 9000 section 9).

use std::net::SocketAddr;

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::congestion::Remote;
use leobench_transport::endpoint::{
    EndpointError, InterfaceChange, MoveStep, PathAddresses, PathId,
};

use crate::connection::Connection;
use crate::paths::{FourTuple, PathSet, RecvMeta};
use crate::recovery::Control;
use crate::spec::AfterMigration;
use crate::wire::{Frame, Packet, Space};

/// The key under which the congestion control parameters of a route are saved.
fn remote(FourTuple { local, remote }: FourTuple) -> Remote {
    Remote { local: local.ip(), remote: remote.ip() }
}

/// Saves what was observed on a route, if the scenario wants to resume it later.
fn save(control: &mut Control, path: PathId, now: SimTime, tuple: FourTuple) {
    if let Some(careful) = control.careful_resume() {
        careful.save(path, now, remote(tuple));
    }
}

impl Connection {
    /// The peer's address.
    pub(crate) fn peer_address(&self) -> SocketAddr {
        self.paths[self.paths.current()].route.tuple.remote
    }

    /// The paths in use.
    pub(crate) fn list_paths(&self, paths: &mut Vec<PathAddresses>) {
        for path in self.paths.iter().filter(|path| path.is_open() && self.reports.lost.is_none()) {
            let FourTuple { local, remote } = path.route.tuple;
            paths.push(PathAddresses { path: path.id, local: local.ip(), remote: remote.ip() });
        }
    }

    /// An interface of our host changed. A client whose address is gone moves to another address of its host, if there is one
    /// (section 9.2), or begins anew there before the handshake is confirmed. As long as it has its address, it stays.
    pub(crate) fn on_interface(&mut self, now: SimTime, change: InterfaceChange) {
        self.mobility.interfaces.change(change);
        if self.multipath.is_some() {
            self.on_interface_of_paths(now);
            return;
        }
        self.leave_lost_address(now, PathSet::FIRST);
    }

    /// Moves a path, if its address is gone.
    pub(super) fn leave_lost_address(&mut self, now: SimTime, id: PathId) {
        let path = &self.paths[id];
        let present = path.route.tuple;
        if self.role == Role::Server
            || !self.is_open()
            || self.mobility.interfaces.has(present.local.ip())
        {
            return;
        }
        let Some(address) = self.mobility.interfaces.choose(present.local.ip()) else { return };
        let local = SocketAddr::new(address, present.local.port());
        let tuple = FourTuple { local, ..present };
        let acked_data = path.recovery.largest_acked(Space::Data).is_some();
        self.give_up_candidate(id);
        if !self.handshake.confirmed && acked_data {
            // The server has read 1-RTT packets (RFC 9001 section 4.1.2).
            self.confirm(now);
        }
        if !self.handshake.confirmed {
            self.lineage.restart = Some(tuple);
        } else if let Some(reason) = self.handshake.may_not_move() {
            self.abandon(now, reason, "aborted");
        } else if !self.take_fresh_id(id) {
            self.abandon(now, "no connection ID is left for another address", "aborted");
        } else {
            // The server's address is known to be its own: only the way to it is new.
            self.paths[id].find_or_add(tuple, 0).validate();
            self.move_to(now, id, tuple);
            self.paths[id].begin_validation(now);
            self.prefer(now, id);
        }
    }

    /// Takes a fresh connection ID for another address and retires the present one. Returns whether there was one.
    fn take_fresh_id(&mut self, id: PathId) -> bool {
        let took = self.paths[id].ids.remote.advance();
        self.tell_peer();
        took
    }

    /// A 1-RTT packet of a path was processed. A server follows its client to another address by the newest packet that does
    /// more than probe (section 9.3).
    #[inline]
    pub(in crate::connection) fn follow(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
        packet: &Packet,
    ) {
        let destination = packet.header.destination();
        let path = &mut self.paths[id];
        if path.route.tuple != meta.tuple {
            return self.follow_elsewhere(now, id, meta, packet);
        }
        path.route.used_id = Some(destination);
        if !path.ids.local.is_latest(destination) {
            path.ids.local.on_used(destination);
        }
    }

    /// A 1-RTT packet was processed that came over another route than the present one.
    #[cold]
    fn follow_elsewhere(&mut self, now: SimTime, id: PathId, meta: &RecvMeta, packet: &Packet) {
        let destination = packet.header.destination();
        let RecvMeta { tuple, size, .. } = *meta;
        let newest = self.paths[id].acks.received.largest() == Some(packet.header.number().value);
        if self.role == Role::Client || !newest || packet.frames.iter().all(Frame::is_probing) {
            return;
        }
        if self.mobility.preferred.is_some() && !self.follows_beside_preferred(now, id, meta) {
            return;
        }
        let path = &mut self.paths[id];
        let changes_id = path.route.used_id.is_some_and(|used| used != destination);
        path.find_or_add(tuple, size).used_id = Some(destination);
        if changes_id {
            // A client that moves on purpose changes IDs, and so does its peer (section 9.5). Without another one at hand it
            // goes on with the present one.
            self.take_fresh_id(id);
        }
        self.move_to(now, id, tuple);
        let path = &mut self.paths[id];
        if !path.route.is_validated() {
            path.begin_validation(now);
        }
        // Somebody may have copied the packet and sent it from elsewhere (section 9.3.3).
        let pto = path.validation_timeout();
        if let Some(former) = path.others.first_mut().filter(|former| former.is_validated()) {
            former.challenge(now, pto);
        }
    }

    /// A packet of the handshake came. Before the handshake is complete a server answers where the latest packet came from:
    /// a NAT may have mapped its client anew.
    pub(in crate::connection) fn follow_handshake(&mut self, now: SimTime, meta: &RecvMeta) {
        let RecvMeta { tuple, size, .. } = *meta;
        let path = self.paths.first_mut();
        if self.role == Role::Client || self.handshake.complete || path.route.tuple == tuple {
            return;
        }
        path.find_or_add(tuple, size);
        path.switch(tuple);
        path.others.clear();
        self.reports.note_route("moved in the handshake", tuple);
        self.update_handshake_state(now, PathSet::FIRST);
    }

    /// Moves a path to another route.
    pub(super) fn move_to(&mut self, now: SimTime, id: PathId, tuple: FourTuple) {
        let resets = self.settings.after_migration != AfterMigration::Keep;
        let mtu = self.settings.mtu;
        let path = &mut self.paths[id];
        let former = path.route.tuple;
        path.switch(tuple);
        path.spin = false;
        if self.multipath.is_some() {
            self.find_carrier(id);
        }
        let path = &mut self.paths[id];
        if resets && !tuple.differs_in_ports_only(&former) {
            save(&mut self.control, path.id, now, former);
            path.recovery.on_moved(now, &mut self.control, mtu);
            path.restart_pacer();
            self.resume(now, id);
        }
        let path = &mut self.paths[id];
        path.recovery.restart_backoff(now);
        let validated = path.route.is_validated();
        self.reports.moves.push(if validated { MoveStep::Noticed } else { MoveStep::Validating });
        self.reports.note_route("moved", tuple);
        self.qlog.moved(now, &self.paths[id]);
        self.update_handshake_state(now, id);
    }

    /// Resumes what is saved of the present route of a path, if the scenario wants that (RFC 9959).
    fn resume(&mut self, now: SimTime, id: PathId) {
        let remote = remote(self.paths[id].route.tuple);
        let Some(careful) = self.control.careful_resume() else { return };
        if !careful.resume(id, now, remote) && self.settings.requires_saved {
            self.reports.failure =
                Some(EndpointError::NothingSaved { at: now, path: remote.to_string() });
        }
    }
}
