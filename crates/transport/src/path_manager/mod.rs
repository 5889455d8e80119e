//! Path managers: they decide which paths a client keeps open, and which of them are backups. Each has one file, and one line here
//! registers it.

use leobench_base::SimTime;
use leobench_base::spec::Fault;

use crate::endpoint::HandoverForecast;

/// A pair of addresses over which a path may lead (as in RFC 8445), as a manager sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The place of the client's link in `multipath.links`.
    pub link: usize,
    /// The place of the server's address: 0 for the one of the handshake, and then those of `multipath.peer_links`.
    pub peer: usize,
    /// Whether the link is one of `multipath.backup`.
    pub is_backup: bool,
    /// Whether the interface of the link is there and has a carrier.
    pub is_up: bool,
    /// The path between the two addresses.
    pub path: PathState,
    /// The next forecast interruption of the link, or the one under way.
    pub handover: Option<HandoverForecast>,
}

/// The path of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// There is none.
    Closed,
    /// It is being validated.
    Opening,
    /// It may carry data.
    Usable,
    /// It does not answer: so many probe timeouts have passed in a row.
    Silent(u32),
}

/// The path that a manager wants a candidate to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// None. An open one is abandoned as soon as another one is usable.
    Closed,
    /// A path that carries data. It opens as soon as its interface is up.
    Path,
    /// A path that carries data if no other one can.
    Backup,
}

/// A running path manager of a client.
///
/// It is asked when the handshake is confirmed, and whenever a candidate changes: an interface, a carrier, a forecast, the state of a
/// path. The client then opens, abandons and reprioritises paths until they are those that the manager wants.
pub trait PathManager: Send {
    /// Decides what every candidate is to have; `wants` has one entry for each, [`Want::Closed`] at first. Returns when it wants to
    /// be asked again, even if nothing changes.
    fn decide(
        &mut self,
        now: SimTime,
        candidates: &[Candidate],
        wants: &mut [Want],
    ) -> Option<SimTime>;
}

/// The flow of a path manager, as far as it matters for whether the two fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedFlow {
    /// Whether `multipath.peer_links` names addresses of the server.
    pub has_peer_links: bool,
    /// Whether the flow has forecasts.
    pub has_forecasts: bool,
}

/// A path manager specification: builds its manager.
pub trait PathManagerModel {
    /// Checks whether it can manage the paths of a flow.
    ///
    /// # Errors
    /// If it cannot.
    fn check(&self, flow: ManagedFlow) -> Result<(), Fault> {
        let _ = flow;
        Ok(())
    }

    /// Whether it uses other addresses of the server than that of the handshake.
    fn uses_peer_links(&self) -> bool {
        false
    }

    /// Whether it distinguishes the links of `multipath.backup`.
    fn uses_backups(&self) -> bool {
        true
    }

    /// Builds the manager of a connection.
    fn build(&self) -> Box<dyn PathManager>;
}

leobench_base::kinds! {
    /// A path manager, by name.
    pub enum PathManagerSpec as dyn PathManagerModel {
        PerInterface(mod per_interface::PerInterfaceSpec) = "per_interface",
        FullMesh(mod full_mesh::FullMeshSpec) = "full_mesh",
        Standby(mod standby::StandbySpec) = "standby",
        MakeBeforeBreak(mod make_before_break::MakeBeforeBreakSpec) = "make_before_break",
    }
}

impl Default for PathManagerSpec {
    fn default() -> Self {
        Self::PerInterface(per_interface::PerInterfaceSpec::default())
    }
}

mod active;

#[cfg(test)]
mod tests;
