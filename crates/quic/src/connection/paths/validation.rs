//! Validating addresses: challenges, their answers, and what follows when none comes (RFC 9000 section 8.2).

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::{MoveStep, PathId};

use crate::connection::Connection;
use crate::paths::{Due, RecvMeta};

impl Connection {
    /// The peer wants to know whether we receive over the route that its packet came over.
    pub(in crate::connection) fn on_path_challenge(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
        data: u64,
    ) {
        let RecvMeta { tuple, size, .. } = *meta;
        self.paths[id].find_or_add(tuple, size).on_challenge(data);
        if self.mobility.preferred.is_some() {
            self.on_preferred_probed(now, id, tuple);
        }
    }

    /// The peer answers a challenge; what answers none is ignored.
    pub(in crate::connection) fn on_path_response(&mut self, now: SimTime, id: PathId, data: u64) {
        let path = &mut self.paths[id];
        let known = path.route.is_validated();
        if path.route.on_response(now, data) {
            path.proven = true;
            if !known || self.role == Role::Client {
                self.reports.note_route("validated", self.paths[id].route.tuple);
                self.reports.moves.push(MoveStep::Ready);
            }
            self.update_handshake_state(now, id);
            self.manage_paths(now);
        } else if let Some(route) = path
            .others
            .iter_mut()
            .find_map(|route| route.on_response(now, data).then_some(route.tuple))
            && self.mobility.candidate == Some(route)
        {
            self.on_candidate_answered(now, id);
        }
        self.paths[id].forget_routes(self.mobility.candidate);
    }

    /// Does what is due on the routes of a path.
    pub(in crate::connection) fn on_route_timer(&mut self, now: SimTime, id: PathId) {
        let path = &mut self.paths[id];
        if path.route_timer().is_none_or(|timer| timer > now) {
            return;
        }
        let (candidate, mut unanswered) = (self.mobility.candidate, false);
        let failed = path.route.on_timer(now) == Due::Failed;
        // An address that was validated once is one to go back to, even if nobody answers there at present.
        path.others.retain_mut(|route| {
            let fails = route.on_timer(now) == Due::Failed;
            let probed = candidate == Some(route.tuple);
            unanswered |= fails && probed;
            !fails || route.is_validated() && !probed
        });
        if unanswered {
            match candidate {
                Some(tuple) if self.mobility.is_preferred(tuple) => {
                    self.mobility.settle_preferred();
                }
                Some(tuple) => self.mobility.interfaces.postpone(tuple.local.ip()),
                None => {}
            }
            self.give_up_candidate(id);
        }
        if failed {
            self.on_route_failed(now, id);
        }
        self.paths[id].forget_routes(self.mobility.candidate);
    }

    /// Nobody answers at the present route of a path. A server goes back to an address that it knows (section 9.3.2). A client
    /// knows no other way, and goes on asking until the connection is idle for too long.
    fn on_route_failed(&mut self, now: SimTime, id: PathId) {
        if self.abandon_if_spare(now, id, "abandoned: nobody answers on it") {
            return;
        }
        let path = &mut self.paths[id];
        if self.role == Role::Client {
            path.begin_validation(now);
            return;
        }
        if path.route.is_validated() {
            // Only whether the route carries large datagrams is not known.
            return;
        }
        match path.others.iter().find(|route| route.is_validated()) {
            Some(known) => {
                let known = known.tuple;
                self.move_to(now, id, known);
                // The route that failed is now the first of the others.
                self.paths[id].others.remove(0);
            }
            None => self.abandon(now, "no address of the client is validated", "aborted"),
        }
    }
}
