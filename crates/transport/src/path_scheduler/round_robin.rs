//! Round robin over paths.

use leobench_base::SimTime;

use super::{PathScheduler, PathSchedulerModel, PathView};
use crate::endpoint::PathId;

leobench_base::spec! {
    /// The next path in order that has room.
    pub struct RoundRobinSpec: Default {}
}

impl PathSchedulerModel for RoundRobinSpec {
    fn build(&self) -> Box<dyn PathScheduler> {
        Box::new(RoundRobin { next: PathId(0) })
    }
}

struct RoundRobin {
    next: PathId,
}

impl PathScheduler for RoundRobin {
    fn choose(&mut self, _now: SimTime, paths: &[PathView]) -> Option<PathId> {
        let next = paths.iter().find(|path| path.id >= self.next).or(paths.first());
        next.map(|path| path.id)
    }

    fn on_sent(&mut self, path: PathId) {
        self.next = PathId(path.0 + 1);
    }
}
