//! Everything on every path (Frömmgen et al. 2016, ICC, "`ReMP` TCP: Low latency multipath TCP").

use leobench_base::SimTime;

use super::{
    Backlog, Choice, PathIds, PathScheduler, PathSchedulerContext, PathSchedulerModel, PathView,
};

leobench_base::spec! {
    /// Everything on every path, each at its own pace.
    ///
    /// A path that has room first sends what other paths have sent and the peer has not acknowledged, and then new data.
    pub struct RedundantSpec: Default {}
}

impl PathSchedulerModel for RedundantSpec {
    fn build(&self, _: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String> {
        Ok(Box::new(Redundant))
    }
}

struct Redundant;

impl PathScheduler for Redundant {
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        _backlog: &Backlog,
    ) -> Result<Choice, String> {
        let available = paths.iter().filter(|path| path.has_room(now));
        let Some(first) = available.min_by_key(|path| (path.rtt, path.id)) else {
            return Ok(Choice::Wait);
        };
        let others = paths.iter().map(|path| path.id).filter(|id| *id != first.id);
        Ok(Choice::Several(std::iter::once(first.id).chain(others).collect::<PathIds>()))
    }
}
