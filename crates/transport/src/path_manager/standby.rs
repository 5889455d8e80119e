//! One path at a time, and the next one only when that has failed: break before make, without the cost of idle paths.

use leobench_base::SimTime;
use leobench_base::spec::Whole;

use super::active::Active;
use super::{Candidate, PathManager, PathManagerModel, Want};

/// Probe timeouts in a row after which a path has failed.
pub type Timeouts = Whole<1, 100>;

leobench_base::spec! {
    /// One path at a time; the next of `links` opens when that one fails.
    #[derive(Copy)]
    pub struct StandbySpec: Default {
        /// Probe timeouts in a row after which a path has failed. With one, every lost tail of data would open a path.
        pub after: Timeouts = Timeouts::nearest(2),
    }
}

impl PathManagerModel for StandbySpec {
    fn uses_backups(&self) -> bool {
        false
    }

    fn build(&self) -> Box<dyn PathManager> {
        Box::new(Standby { after: self.after.get(), active: Active::default() })
    }
}

struct Standby {
    after: u32,
    active: Active,
}

impl PathManager for Standby {
    fn decide(
        &mut self,
        _now: SimTime,
        candidates: &[Candidate],
        wants: &mut [Want],
    ) -> Option<SimTime> {
        self.active.advance(candidates);
        if candidates[self.active.current()].has_failed(self.after) {
            self.active.replace(candidates, |candidate| candidate.peer == 0);
        } else {
            self.active.keep();
        }
        self.active.want(wants);
        None
    }
}
