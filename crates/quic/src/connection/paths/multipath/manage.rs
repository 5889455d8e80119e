//! The paths that a client keeps open: its path manager decides, and the connection follows.

use std::net::IpAddr;

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::{
    EndpointError, HandoverForecast, InterfaceChange, InterfaceForecast, PathId,
};
use leobench_transport::interfaces::Interfaces;
use leobench_transport::path_manager::{Candidate, PathManager, PathState, Want};
use smallvec::SmallVec;

use super::{Multipath, Offer};
use crate::connection::Connection;
use crate::paths::{FourTuple, Path, PathSet};
use crate::wire::ErrorCode;

/// A client's path manager, and what it manages.
pub(super) struct Management {
    manager: Box<dyn PathManager>,
    /// The pairs between which a path may lead.
    pairs: Vec<Pair>,
    /// The latest forecast of each link.
    ahead: Vec<Option<InterfaceForecast>>,
    /// When the manager wants to be asked again.
    pub(super) next: Option<SimTime>,
    /// Whether its decisions are being carried out, which changes paths.
    is_busy: bool,
}

/// The two ends of a path: a link of the client, and an address of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    link: usize,
    peer: usize,
    pub(super) local: IpAddr,
    /// Nothing if it is the one of the connection.
    pub(super) remote: Option<IpAddr>,
}

/// A difference between the paths there are and those that are wanted.
enum Step {
    Open(Pair, bool),
    Abandon(PathId),
    SetBackup(PathId, bool),
}

impl Management {
    pub(super) fn new(offer: &Offer) -> Self {
        let peers = offer.peers.len().max(1);
        let all = (0..offer.addresses.len())
            .flat_map(|link| (0..peers).map(move |peer| (link, peer)))
            .filter(|pair| offer.pairs.is_empty() || offer.pairs.contains(pair));
        let pairs = all.map(|(link, peer)| Pair {
            link,
            peer,
            local: offer.addresses[link],
            remote: offer.peers.get(peer).copied(),
        });
        Self {
            manager: (offer.manager)(),
            pairs: pairs.collect(),
            ahead: vec![None; offer.addresses.len()],
            next: None,
            is_busy: false,
        }
    }

    /// The paths that the manager may open, and their states.
    fn candidates(
        &self,
        now: SimTime,
        offer: &Offer,
        paths: &PathSet,
        interfaces: &Interfaces,
    ) -> SmallVec<[Candidate; 8]> {
        let candidate = |pair: &Pair| {
            let path = pair.path(paths);
            let forecast = path.and_then(|path| path.member.as_ref()?.forecast);
            let of_path = forecast.and_then(|forecast| forecast.handover);
            let of_link = self.ahead[pair.link].as_ref();
            let known = of_link.into_iter().flat_map(InterfaceForecast::interruptions);
            // With an overlap, nothing interrupts the path.
            let coming = |next: &HandoverForecast| next.until > next.from.max(now);
            Candidate {
                link: pair.link,
                peer: pair.peer,
                is_backup: offer.backups.get(pair.link) == Some(&true),
                is_up: interfaces.has(pair.local) && interfaces.has_carrier(pair.local),
                path: path.map_or(PathState::Closed, Path::state),
                handover: known.chain(of_path).filter(coming).min_by_key(|next| next.from),
            }
        };
        self.pairs.iter().map(candidate).collect()
    }

    /// The first difference between the paths that are wanted and those there are. A path is opened before another one is
    /// abandoned.
    fn first_difference(
        &self,
        paths: &PathSet,
        candidates: &[Candidate],
        wants: &[Want],
        can_open: bool,
    ) -> Option<Step> {
        let differences =
            self.pairs.iter().zip(candidates).zip(wants).filter_map(|((pair, candidate), want)| {
                match (pair.path(paths), want) {
                    (None, Want::Path | Want::Backup) if candidate.is_up => {
                        Some(Step::Open(*pair, *want == Want::Backup))
                    }
                    (None, _) => None,
                    (Some(path), Want::Closed) => Some(Step::Abandon(path.id)),
                    (Some(path), _) => {
                        // Without a carrier, nothing gets over it: the peer is to use others.
                        let backup = *want == Want::Backup || !candidate.is_up;
                        (path.status.backup != backup).then_some(Step::SetBackup(path.id, backup))
                    }
                }
            });
        let possible = differences.filter(|step| match step {
            Step::Abandon(id) => paths.has_other_usable(*id),
            Step::Open(..) => can_open,
            Step::SetBackup(..) => true,
        });
        possible.min_by_key(|step| match step {
            Step::Open(..) => 0,
            Step::SetBackup(..) => 1,
            Step::Abandon(_) => 2,
        })
    }
}

impl Pair {
    /// The path between its ends, if there is one.
    fn path<'a>(&self, paths: &'a PathSet) -> Option<&'a Path> {
        paths.iter().find(|path| self.is_of(path))
    }

    /// Whether a path leads between its ends.
    fn is_of(&self, path: &Path) -> bool {
        let FourTuple { local, remote } = path.route.tuple;
        path.is_open() && local.ip() == self.local && self.remote.is_none_or(|it| it == remote.ip())
    }
}

impl Connection {
    /// Lets a client's path manager decide anew, and follows it.
    #[cold]
    pub(in crate::connection) fn manage_paths(&mut self, now: SimTime) {
        self.follow_manager(now, false);
    }

    /// The same, and `complains` if connection IDs are missing that ought to be there by now.
    pub(super) fn follow_manager(&mut self, now: SimTime, complains: bool) {
        let Some(multipath) = &mut self.multipath else { return };
        let Some(management) = &mut multipath.management else { return };
        if management.is_busy || !self.handshake.confirmed || !self.state.is_open() {
            return;
        }
        management.is_busy = true;
        // Each step brings one candidate closer to what is wanted; the bound holds even if a manager never settles.
        let mut can_open = true;
        for _ in 0..4 * management.pairs.len() {
            let Some(step) = self.next_step(now, can_open) else { break };
            can_open &= self.take_step(now, &step, complains);
        }
        let management = self.multipath.as_mut().and_then(|known| known.management.as_mut());
        if let Some(management) = management {
            management.is_busy = false;
        }
    }

    /// Asks the manager, and returns the first difference between its answer and the paths there are.
    fn next_step(&mut self, now: SimTime, can_open: bool) -> Option<Step> {
        let Self { multipath, paths, mobility, .. } = self;
        let Multipath { management, offer, .. } = &mut **multipath.as_mut()?;
        let management = management.as_mut()?;
        let candidates = management.candidates(now, offer, paths, &mobility.interfaces);
        let mut wants: SmallVec<[Want; 8]> = smallvec::smallvec![Want::Closed; candidates.len()];
        management.next = management.manager.decide(now, &candidates, &mut wants);
        management.first_difference(paths, &candidates, &wants, can_open)
    }

    /// Takes a step. Returns false if no path can be opened now.
    fn take_step(&mut self, now: SimTime, step: &Step, complains: bool) -> bool {
        match *step {
            Step::Open(pair, backup) => self.open_path(now, &pair, backup, complains),
            Step::Abandon(id) => {
                let why = "abandoned: the path manager wants another one";
                self.abandon_path(now, id, ErrorCode::NO_ERROR.0, why);
                true
            }
            Step::SetBackup(id, backup) => {
                let path = &mut self.paths[id];
                (path.status.backup, path.status.pending) = (backup, true);
                let what = if backup { "is a backup now" } else { "is available now" };
                self.reports.note_path(path, what);
                self.tell_peer();
                true
            }
        }
    }

    /// The link layer of an interface of our host is there again, or gone. A path without it keeps its numbers and its state, and
    /// carries nothing.
    #[cold]
    pub(crate) fn on_carrier(&mut self, now: SimTime, change: InterfaceChange) {
        self.mobility.interfaces.set_carrier(change);
        if self.role == Role::Server || self.multipath.is_none() {
            return;
        }
        for id in self.paths.open().clone() {
            let path = &mut self.paths[id];
            if path.route.tuple.local.ip() != change.address || path.has_carrier == change.up {
                continue;
            }
            path.has_carrier = change.up;
            let what = if change.up { "has a carrier again" } else { "lost its carrier" };
            self.reports.note_path(path, what);
            if change.up {
                path.resume(now);
            } else if self.paths.has_other_usable(id) {
                self.repeat_elsewhere(id);
            }
        }
        self.manage_paths(now);
    }

    /// Finds out whether the interface that a client's path uses now has a carrier. Servers are not told of theirs.
    pub(in crate::connection) fn find_carrier(&mut self, id: PathId) {
        let Self { role, paths, mobility, .. } = self;
        let path = &mut paths[id];
        let local = path.route.tuple.local.ip();
        path.has_carrier = *role == Role::Server || mobility.interfaces.has_carrier(local);
    }

    /// The client is told what will become of one of its interfaces.
    ///
    /// # Errors
    /// If the path scheduler fails.
    pub(crate) fn on_interface_forecast(
        &mut self,
        now: SimTime,
        forecast: &InterfaceForecast,
    ) -> Result<(), EndpointError> {
        let Some(multipath) = &mut self.multipath else { return Ok(()) };
        let Some(management) = &mut multipath.management else { return Ok(()) };
        let mut pairs = management.pairs.iter();
        let Some(pair) = pairs.find(|pair| pair.local == forecast.address) else { return Ok(()) };
        let link = pair.link;
        management.ahead[link] = Some(*forecast);
        let told = multipath.scheduler.on_interface_forecast(now, link, forecast);
        told.map_err(|problem| multipath.scheduler_error(now, problem))?;
        self.manage_paths(now);
        Ok(())
    }
}
