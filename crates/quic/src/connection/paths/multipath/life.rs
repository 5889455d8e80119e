//! The life of a path: opened, validated, abandoned, forgotten (draft-ietf-quic-multipath sections 3.1 and 3.4).

use leobench_base::{Bytes, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{MoveStep, PathId};
use smallvec::SmallVec;

use super::Blocked;
use super::manage::Pair;
use crate::connection::Connection;
use crate::paths::{FourTuple, Path, PathSet, RecvMeta, Route, Stage};
use crate::wire::ErrorCode;

/// Probe timeouts for which an abandoned path is remembered.
pub(super) const LINGER: u64 = 3;

impl Connection {
    /// Opens a path between an address of the client and one of the server (section 3.1). Returns whether there is a path ID for
    /// it, with connection IDs of both ends. It `complains` if connection IDs of the peer ought to be there by now.
    pub(super) fn open_path(
        &mut self,
        now: SimTime,
        pair: &Pair,
        backup: bool,
        complains: bool,
    ) -> bool {
        let Some(multipath) = &mut self.multipath else { return false };
        let most = multipath.peer_max.min(multipath.local_max);
        let unused = self.paths.position(|path| path.stage == Stage::Unused);
        let unused = unused.filter(|id| id.0 <= most);
        let blocked = match unused {
            None => Blocked::Limit(multipath.peer_max),
            Some(id) if !self.paths[id].ids.remote.has_spare() => Blocked::Ids(id),
            Some(id) => {
                self.open_unused(now, id, pair, backup);
                return true;
            }
        };
        // The peer can do nothing about a limit of ours. Connection IDs may be on their way. It is told once: repeating it changes
        // nothing (section 4.7).
        let can_help = match blocked {
            Blocked::Limit(limit) => limit <= multipath.local_max,
            Blocked::Ids(_) => complains,
        };
        if can_help && multipath.blocked != Some(blocked) {
            multipath.blocked = Some(blocked);
            multipath.tells_blocked = true;
            multipath.pending = true;
        }
        false
    }

    /// Opens a path that was not used.
    fn open_unused(&mut self, now: SimTime, id: PathId, pair: &Pair, backup: bool) {
        let mut tuple = self.paths[self.paths.current()].route.tuple;
        tuple.local.set_ip(pair.local);
        if let Some(remote) = pair.remote {
            tuple.remote.set_ip(remote);
        }
        let path = &mut self.paths[id];
        path.route = Route::new(tuple);
        // The server's address is known to be its own: no limit holds, but only an answer shows that the way leads there.
        path.validate();
        path.proven = false;
        path.status.begin(backup);
        self.begin_path(now, id, "opened");
    }

    /// Finds the link of a path by the client's address.
    pub(super) fn find_link(&mut self, id: PathId) {
        let Some(multipath) = &self.multipath else { return };
        let path = &mut self.paths[id];
        let FourTuple { local, remote } = path.route.tuple;
        let client = if self.role == Role::Client { local } else { remote };
        let link = multipath.offer.addresses.iter().position(|known| *known == client.ip());
        if let Some(member) = &mut path.member {
            member.link = link;
        }
    }

    /// A client makes its first path a backup, if that is to be one.
    pub(super) fn choose_status(&mut self) {
        let Some(multipath) = self.multipath.as_ref().filter(|_| self.role == Role::Client) else {
            return;
        };
        let path = self.paths.first_mut();
        let link = path.member.as_ref().and_then(|member| member.link);
        let backup = link.is_some_and(|link| multipath.offer.backups.get(link) == Some(&true));
        path.status.begin(backup);
    }

    /// A packet of the client came on a path that was not in use.
    #[cold]
    fn accept_path(&mut self, now: SimTime, id: PathId, meta: &RecvMeta) {
        let RecvMeta { tuple, size, .. } = *meta;
        let is_known =
            |path: &Path| path.is_open() && path.route.tuple == tuple && path.route.is_validated();
        let known = self.paths.iter().any(is_known);
        let path = &mut self.paths[id];
        path.route = Route::new(tuple);
        path.route.on_received(size);
        if known {
            path.validate();
        }
        path.proven = true;
        self.begin_path(now, id, "accepted");
    }

    /// A path comes into use.
    fn begin_path(&mut self, now: SimTime, id: PathId, how: &str) {
        let mtu = Bytes::new(self.settings.mtu);
        let path = &mut self.paths[id];
        path.stage = Stage::Open;
        path.heard = now;
        path.ids.remote.begin();
        path.begin_validation(now);
        self.control.open(id, now, mtu);
        self.find_link(id);
        self.update_handshake_state(now, id);
        self.reports.note_path(&self.paths[id], how);
        self.qlog.moved(now, &self.paths[id]);
        self.paths.refresh_open();
        self.tell_peer();
    }

    /// Abandons a path: what is on it is sent again on others, and nothing more is sent on it.
    pub(in crate::connection) fn abandon_path(
        &mut self,
        now: SimTime,
        id: PathId,
        code: u64,
        why: &str,
    ) {
        let path = &mut self.paths[id];
        let used = path.is_open();
        path.stage = Stage::Abandoned { until: None };
        (path.abandon_code, path.announces_abandon) = (code, true);
        self.reports.note_path(path, why);
        self.reports.moves.push(MoveStep::Noticed);
        self.repeat_elsewhere(id);
        let path = &mut self.paths[id];
        path.ids.remote.end();
        path.acks.probes = 0;
        path.others.clear();
        if let Some(member) = &mut path.member {
            member.copies.clear();
        }
        if used {
            self.control.close(id);
        }
        self.paths.refresh_open();
        self.replace_path();
        self.manage_paths(now);
    }

    /// Abandons a path if another one can be used. Returns whether it did.
    pub(in crate::connection) fn abandon_if_spare(
        &mut self,
        now: SimTime,
        id: PathId,
        why: &str,
    ) -> bool {
        let spare = self.paths.has_other_usable(id);
        if spare {
            self.abandon_path(now, id, ErrorCode::PATH_UNSTABLE_OR_POOR.0, why);
        }
        spare
    }

    /// Sends what is on a path on others too, once.
    pub(in crate::connection) fn repeat_elsewhere(&mut self, id: PathId) {
        let contents = self.paths[id].recovery.repeat();
        for carried in &contents {
            self.requeue(crate::wire::Space::Data, carried);
        }
    }

    /// Abandons paths on which nothing was heard for too long, and forgets abandoned ones.
    #[cold]
    pub(in crate::connection) fn on_multipath_timer(&mut self, now: SimTime) {
        let Some(multipath) = &self.multipath else { return };
        let idle = multipath.offer.idle;
        let next = multipath.management.as_ref().and_then(|management| management.next);
        if next.is_some_and(|next| next <= now) {
            self.manage_paths(now);
        }
        let ids: SmallVec<[PathId; 8]> = self.paths.iter().map(|path| path.id).collect();
        for id in ids {
            match self.paths[id].stage {
                Stage::Open if idle.is_some_and(|idle| self.paths[id].heard + idle <= now) => {
                    let is_abandoned =
                        self.abandon_if_spare(now, id, "abandoned: idle for too long");
                    if !is_abandoned {
                        self.paths[id].heard = now;
                    }
                }
                Stage::Abandoned { until: Some(until) } if until <= now => {
                    self.forget_path(id);
                }
                _ => {}
            }
        }
    }

    /// Forgets an abandoned path: packets to it are unknown from now on. Its numbers are kept, and nothing else.
    fn forget_path(&mut self, id: PathId) {
        let path = &mut self.paths[id];
        path.stage = Stage::Gone;
        path.ids.local.clear();
        if id == PathSet::FIRST {
            return;
        }
        let path = &self.paths[id];
        let last = (path.sent_packets > 0).then(|| self.sample_path(path));
        self.paths.remove(id, last);
        self.control.forget(id);
    }

    /// An interface of our host changed: paths from addresses that are gone are abandoned or, if there is no other one, move; and
    /// addresses that have come get one.
    #[cold]
    pub(in crate::connection) fn on_interface_of_paths(&mut self, now: SimTime) {
        for id in self.paths.open().clone() {
            let is_there = self.mobility.interfaces.has(self.paths[id].route.tuple.local.ip());
            if self.role == Role::Server || is_there || !self.is_open() {
                continue;
            }
            // Another one will do even if the server has not answered on it yet: its address is there.
            let spare = self.paths.except(id).any(|path| {
                path.is_open() && self.mobility.interfaces.has(path.route.tuple.local.ip())
            });
            if spare {
                let code = ErrorCode::PATH_UNSTABLE_OR_POOR.0;
                self.abandon_path(now, id, code, "abandoned: its address went away");
            } else {
                self.leave_lost_address(now, id);
            }
        }
        self.follow_manager(now, true);
    }

    /// Takes note of a packet on a path, which may be its first one. Returns whether it is to be processed.
    pub(in crate::connection) fn takes_on_path(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
    ) -> bool {
        if self.paths[id].stage == Stage::Unused {
            if self.role == Role::Client {
                // Servers open no paths (section 3).
                return false;
            }
            self.accept_path(now, id, meta);
        }
        self.paths[id].heard = now;
        true
    }
}
