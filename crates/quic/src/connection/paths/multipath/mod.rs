//! Several paths at a time (draft-ietf-quic-multipath). `life` opens and abandons them, `frames` takes in what the peer says about
//! them, and `send` decides which of them carries what.

mod acks;
mod announce;
mod choose;
mod copies;
mod frames;
mod life;
mod manage;
mod send;

use std::net::IpAddr;
use std::sync::Arc;

use leobench_base::{RngTree, SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, PathId};
use leobench_transport::path_manager::PathManager;
use leobench_transport::path_scheduler::{PathScheduler, PathView};

use self::manage::Management;
pub(in crate::connection) use self::send::Cargo;
use crate::cids::{LocalIds, RemoteIds};
use crate::connection::Connection;
use crate::paths::{FourTuple, Ids, Member, Path, PathSet, Stage};
use crate::spec::{AckPath, Reinject};
use crate::token_key::ResetKey;
use crate::wire::ConnectionId;

/// Connection IDs that each end has for a path but the first: one in use, and one for another address.
const IDS_PER_PATH: u64 = 2;

/// Builds a path manager.
pub(crate) type BuildManager = Arc<dyn Fn() -> Box<dyn PathManager> + Send + Sync>;

/// Builds a path scheduler.
pub(crate) type BuildScheduler =
    Arc<dyn Fn() -> Result<Box<dyn PathScheduler>, String> + Send + Sync>;

/// An end's offer to use several paths.
#[derive(Clone)]
pub(crate) struct Offer {
    pub(crate) scheduler: BuildScheduler,
    /// Its name in messages.
    pub(crate) scheduler_name: String,
    pub(crate) manager: BuildManager,
    pub(crate) reinject: Reinject,
    pub(crate) acks: AckPath,
    /// How long a path survives without a packet.
    pub(crate) idle: Option<SimDuration>,
    /// The addresses of the client, by link, as far as this end knows them; and which of them are backups.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) backups: Vec<bool>,
    /// The addresses of the server that a client knows, that of the handshake first; empty if it knows only that one.
    pub(crate) peers: Vec<IpAddr>,
    /// The links and peers between which a path may lead; empty if all can.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// The largest path ID that it allows at first.
    pub(crate) max_path_id: u32,
    pub(crate) rng: RngTree,
}

/// Several paths, which both ends have offered.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Multipath {
    offer: Offer,
    scheduler: Box<dyn PathScheduler>,
    /// Whether paths may have copies to send.
    has_copies: bool,
    /// Memory for what the scheduler is shown.
    views: Vec<PathView>,
    /// The largest path ID that this end allows, and whether it is to say so.
    local_max: u32,
    announces_max: bool,
    /// The largest path ID that the peer allows, at first and now.
    peer_first: u32,
    peer_max: u32,
    /// IDs that the peer stores for a path.
    id_limit: u64,
    /// Whether frames about paths may wait to be sent.
    pub(crate) pending: bool,
    /// A client's decisions about its paths.
    management: Option<Management>,
    /// The latest obstacle to opening a path, to report each one only once.
    blocked: Option<Blocked>,
    tells_blocked: bool,
    /// Acknowledgements sent, by which they take turns.
    turn: usize,
}

/// An obstacle to a client's opening a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    /// The peer's limit.
    Limit(u32),
    /// No connection ID of the peer for this path.
    Ids(PathId),
}

impl Connection {
    /// Both ends' parameters are known: they may use several paths if both have offered them.
    #[cold]
    pub(crate) fn agree_on_paths(&mut self, now: SimTime) {
        let Some(peer) = &self.handshake.peer else { return };
        let (limit, id_limit) = (peer.initial_max_path_id, peer.active_connection_id_limit);
        let Some(offer) = self.offer.clone() else { return };
        let Some(peer_max) = limit else {
            if self.role == Role::Server {
                return;
            }
            let FourTuple { local, remote } = self.paths.first().route.tuple;
            self.reports.failure = Some(EndpointError::OnePath { at: now, local, remote });
            return;
        };
        let scheduler = match (offer.scheduler)() {
            Ok(scheduler) => scheduler,
            Err(problem) => {
                let scheduler = offer.scheduler_name.clone();
                self.reports.failure =
                    Some(EndpointError::PathScheduler { scheduler, at: now, problem });
                return;
            }
        };
        self.multipath = Some(Box::new(Multipath {
            local_max: offer.max_path_id,
            announces_max: false,
            peer_first: peer_max,
            peer_max,
            id_limit: id_limit.min(IDS_PER_PATH),
            pending: true,
            management: (self.role == Role::Client).then(|| Management::new(&offer)),
            blocked: None,
            tells_blocked: false,
            turn: 0,
            scheduler,
            has_copies: false,
            views: Vec::new(),
            offer: *offer,
        }));
        self.allow_paths();
        self.paths.first_mut().member = Some(Box::default());
        self.find_carrier(PathSet::FIRST);
        self.find_link(PathSet::FIRST);
        self.choose_status();
    }

    /// Makes the paths that this end allows, and issues connection IDs for those that both ends allow.
    fn allow_paths(&mut self) {
        let Some(multipath) = &mut self.multipath else { return };
        let config = self.settings.recovery(self.role);
        let rng = &multipath.offer.rng;
        for number in self.paths.next().0..=multipath.local_max {
            let id = PathId(number);
            let own = rng.child(&format!("path-{number}"));
            let local = LocalIds::of_path(own.child("connection-ids").rng(), ResetKey::new(rng));
            let ids = Ids { local, remote: RemoteIds::of_path() };
            let first = self.paths.first();
            let recovery = first.recovery.beside(id, &config);
            let (tuple, mtu) = (first.route.tuple, self.settings.mtu);
            let mut path = Path::new(id, tuple, recovery, ids, mtu, self.settings.paces);
            (path.mtu, path.stage, path.proven) = (first.mtu, Stage::Unused, false);
            path.choose_spin(self.settings.spin, &own);
            path.member = Some(Box::<Member>::default());
            self.paths.push(path);
        }
        let both = multipath.local_max.min(multipath.peer_max);
        let allowed = |path: &&mut Path| (1..=both).contains(&path.id.0);
        for path in self.paths.iter_mut().filter(allowed) {
            if matches!(path.stage, Stage::Unused | Stage::Open) {
                path.ids.local.set_limit(multipath.id_limit);
            }
        }
        multipath.pending = true;
    }

    /// Another path ID takes the place of one that is used up.
    fn replace_path(&mut self) {
        if let Some(multipath) = &mut self.multipath {
            multipath.local_max = multipath.local_max.saturating_add(1);
            multipath.announces_max = true;
        }
        self.allow_paths();
    }

    /// The path that packets to a connection ID belong to, if there is one. The ID that the first packets of a client are sent to
    /// is the first path's, too.
    #[inline]
    pub(crate) fn path_of(&self, destination: ConnectionId) -> Option<PathId> {
        if self.paths.first().ids.local.is_latest(destination) {
            return Some(PathSet::FIRST);
        }
        let known = match self.multipath {
            None => None,
            Some(_) => self.paths.position(|path| path.ids.local.contains(destination)),
        };
        known.or_else(|| self.is_addressed_by(destination).then_some(PathSet::FIRST))
    }
}

impl Multipath {
    /// When something about several paths is due.
    pub(crate) fn timer(&self, paths: &PathSet) -> Option<SimTime> {
        let idle = self.offer.idle.filter(|_| paths.has_several_open());
        let due = |path: &Path| match path.stage {
            Stage::Open => idle.map(|idle| path.heard + idle),
            Stage::Abandoned { until } => until,
            Stage::Unused | Stage::Gone => None,
        };
        let managed = self.management.as_ref().and_then(|management| management.next);
        paths.iter().filter_map(due).chain(managed).min()
    }
}
