//! A path from every address of the client, as the `default` path manager of multipath TCP in Linux with one endpoint per interface.

use leobench_base::SimTime;

use super::{Candidate, PathManager, PathManagerModel, Want};

leobench_base::spec! {
    /// A path over each of `links`, to the server's address of the handshake.
    pub struct PerInterfaceSpec: Default {}
}

impl PathManagerModel for PerInterfaceSpec {
    fn build(&self) -> Box<dyn PathManager> {
        Box::new(PerInterface)
    }
}

struct PerInterface;

impl PathManager for PerInterface {
    fn decide(
        &mut self,
        _now: SimTime,
        candidates: &[Candidate],
        wants: &mut [Want],
    ) -> Option<SimTime> {
        for (candidate, want) in candidates.iter().zip(wants) {
            if candidate.peer == 0 {
                *want = candidate.open();
            }
        }
        None
    }
}

impl Candidate {
    /// An open path, which is a backup if the scenario says so.
    pub(super) fn open(&self) -> Want {
        if self.is_backup { Want::Backup } else { Want::Path }
    }
}
