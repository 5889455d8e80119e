//! The paths of a connection over time: validation, migration, failover, the preferred address of a server, and several paths at a time.

mod failover;
mod migration;
mod multipath;
mod preferred;
mod validation;

use std::net::SocketAddr;

use leobench_base::{RngTree, SimRng};
use leobench_transport::interfaces::Interfaces;

pub(crate) use self::multipath::Offer;
pub(super) use self::multipath::{Cargo, Multipath};
pub(super) use self::preferred::Preferred;
use crate::paths::FourTuple;

/// Addresses other than those in use.
pub(super) struct Mobility {
    /// Addresses of our host.
    pub(super) interfaces: Interfaces,
    /// The server's preferred address, if it has one.
    preferred: Option<Preferred>,
    /// The route that this end probes: nobody answers over the present one, or the server prefers it.
    pub(super) candidate: Option<FourTuple>,
    /// Random stream of path challenges.
    pub(super) challenges: SimRng,
}

impl Mobility {
    pub(super) fn new(interfaces: Interfaces, preferred: Option<Preferred>, rng: &RngTree) -> Self {
        let challenges = rng.child("path-challenges").rng();
        Self { interfaces, preferred, candidate: None, challenges }
    }

    /// The server's preferred address, if this end is a server that has one.
    pub(super) fn own_preferred(&self) -> Option<SocketAddr> {
        self.preferred.and_then(Preferred::own)
    }

    /// Whether a route leads to or from the server's preferred address.
    fn is_preferred(&self, tuple: FourTuple) -> bool {
        self.preferred.is_some_and(|preferred| preferred.is_on(tuple))
    }

    /// Whether an address is one that the server has told its client.
    pub(super) fn is_known_server_address(&self, address: SocketAddr) -> bool {
        self.preferred.is_some_and(|preferred| preferred.is_known(address))
    }

    /// The way to the preferred address is in use, or carries nothing: the client does not ask again.
    fn settle_preferred(&mut self) {
        if let Some(preferred) = &mut self.preferred {
            preferred.settle();
        }
    }
}
