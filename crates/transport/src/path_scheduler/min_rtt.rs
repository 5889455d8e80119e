//! The shortest round trip first, as in the default scheduler of multipath TCP (Paasch et al. 2014, Capacity Sharing Workshop,
//! section 2.2).

use leobench_base::SimTime;

use super::{Backlog, Choice, PathScheduler, PathSchedulerContext, PathSchedulerModel, PathView};

leobench_base::spec! {
    /// The path with the shortest round-trip time among those that have room.
    pub struct MinRttSpec: Default {}
}

impl PathSchedulerModel for MinRttSpec {
    fn build(&self, _: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String> {
        Ok(Box::new(MinRtt))
    }
}

struct MinRtt;

impl PathScheduler for MinRtt {
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        _backlog: &Backlog,
    ) -> Result<Choice, String> {
        let available = paths.iter().filter(|path| path.has_room(now));
        let first = available.min_by_key(|path| (path.rtt, path.id));
        Ok(first.map_or(Choice::Wait, |path| Choice::One(path.id)))
    }
}
