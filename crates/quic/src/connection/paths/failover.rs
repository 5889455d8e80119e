//! A client whose path fails looks for another one: it probes another address of its host, and moves there once the server has
//! answered from there (RFC 9000 sections 8.2 and 9.1).

use std::net::SocketAddr;

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use crate::connection::Connection;
use crate::paths::FourTuple;
use crate::wire::Space;

impl Connection {
    /// A probe timeout of a path expired. After as many in a row as the scenario says, the path has failed.
    #[cold]
    pub(in crate::connection) fn look_elsewhere(&mut self, now: SimTime, id: PathId) {
        if self.multipath.is_some() {
            self.manage_paths(now);
            return;
        }
        let path = &self.paths[id];
        let has_failed = |after| path.recovery.pto_count() >= after;
        let fails = self.settings.probe_after.is_some_and(has_failed);
        if !fails || self.role == Role::Server || self.handshake.may_not_move().is_some() {
            return;
        }
        let present = path.route.tuple;
        let Some(address) = self.mobility.interfaces.other_than(present.local.ip()) else { return };
        let local = SocketAddr::new(address, present.local.port());
        self.probe_candidate(now, id, FourTuple { local, ..present });
    }

    /// A client probes a route on which a path may go on, with a connection ID of its own, unless it probes one already.
    pub(super) fn probe_candidate(&mut self, now: SimTime, id: PathId, tuple: FourTuple) {
        let path = &mut self.paths[id];
        if self.mobility.candidate.is_some() || !path.ids.remote.begin_probing() {
            return;
        }
        let timeout = path.validation_timeout();
        let route = path.find_or_add(tuple, 0);
        // No limit holds: the server's address is known to be its own, or the server has told it.
        route.validate();
        route.challenge(now, timeout);
        self.mobility.candidate = Some(tuple);
        self.reports.note_route("probes", tuple);
    }

    /// The route that was probed carries packets both ways. If the present one has recovered meanwhile, the client stays, unless the
    /// server prefers the other.
    pub(super) fn on_candidate_answered(&mut self, now: SimTime, id: PathId) {
        if let (Role::Server, Some(tuple)) = (self.role, self.mobility.candidate) {
            self.follow_to_preferred(now, id, tuple);
            return;
        }
        let Some(tuple) = self.mobility.candidate.take() else { return };
        let path = &self.paths[id];
        let prefers =
            self.mobility.is_preferred(tuple) && !self.mobility.is_preferred(path.route.tuple);
        if path.recovery.pto_count() == 0 && !prefers {
            self.paths[id].ids.remote.end_probing();
            return;
        }
        if prefers {
            self.mobility.settle_preferred();
        }
        self.paths[id].ids.remote.use_probed();
        self.move_to(now, id, tuple);
        if prefers {
            // Validation of the server's first address is abandoned (section 9.6.3).
            self.paths[id].others.clear();
        }
        // The server follows what does more than probe (section 9.2).
        self.paths[id].acks.probes = 1;
        self.refill_probe(id, Space::Data);
        self.prefer(now, id);
    }

    /// Nobody answered over the route that was probed: the next probe timeout begins anew.
    pub(super) fn give_up_candidate(&mut self, id: PathId) {
        if self.mobility.candidate.take().is_some() {
            self.paths[id].ids.remote.end_probing();
        }
    }
}
