//! The shortest round trip first, as in the default scheduler of multipath TCP (Paasch et al. 2014, Capacity Sharing Workshop,
//! section 2.2).

use leobench_base::SimTime;

use super::{PathScheduler, PathSchedulerModel, PathView};
use crate::endpoint::PathId;

leobench_base::spec! {
    /// The path with the shortest round-trip time among those that have room.
    pub struct MinRttSpec: Default {}
}

impl PathSchedulerModel for MinRttSpec {
    fn build(&self) -> Box<dyn PathScheduler> {
        Box::new(MinRtt)
    }
}

struct MinRtt;

impl PathScheduler for MinRtt {
    fn choose(&mut self, _now: SimTime, paths: &[PathView]) -> Option<PathId> {
        paths.iter().min_by_key(|path| (path.rtt, path.id)).map(|path| path.id)
    }
}
