//! The paths of a connection over time: validation, migration, failover, the preferred address of a server, and several paths at a time.

mod failover;
mod migration;
mod multipath;
mod preferred;
mod validation;

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
}
