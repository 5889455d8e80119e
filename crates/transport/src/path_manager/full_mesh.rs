//! A path between every address of the client and every address of the server, as the `fullmesh` path manager of multipath TCP.

use leobench_base::SimTime;
use leobench_base::spec::Fault;

use super::{Candidate, ManagedFlow, PathManager, PathManagerModel, Want};

leobench_base::spec! {
    /// A path from each of `links` to each address of the server in `peer_links`.
    pub struct FullMeshSpec: Default {}
}

impl PathManagerModel for FullMeshSpec {
    fn check(&self, flow: ManagedFlow) -> Result<(), Fault> {
        if flow.has_peer_links {
            return Ok(());
        }
        let allowed = "`peer_links` with links of the node that answers, or `per_interface`";
        Err(Fault::new("", "needs the addresses of the server", allowed))
    }

    fn uses_peer_links(&self) -> bool {
        true
    }

    fn build(&self) -> Box<dyn PathManager> {
        Box::new(FullMesh)
    }
}

struct FullMesh;

impl PathManager for FullMesh {
    fn decide(
        &mut self,
        _now: SimTime,
        candidates: &[Candidate],
        wants: &mut [Want],
    ) -> Option<SimTime> {
        for (candidate, want) in candidates.iter().zip(wants) {
            *want = candidate.open();
        }
        None
    }
}
