//! Earliest completion first (Lim, Nahum, Towsley, Gibbens 2017, `CoNEXT`, "ECF: An MPTCP path scheduler to manage heterogeneous
//! paths", algorithm 1).

use leobench_base::SimTime;
use leobench_base::spec::Range;

use super::{
    Backlog, Choice, PathScheduler, PathSchedulerContext, PathSchedulerModel, PathView, fastest,
};

leobench_base::spec! {
    /// Waits for the fast path if that completes the waiting data earlier (Lim et al. 2017).
    ///
    /// It takes the path with the shortest round-trip time. While that has no room, it takes a slower one, unless the waiting data
    /// would be complete earlier on the fast path alone.
    #[derive(Copy)]
    pub struct EcfSpec: Default {
        /// By how much longer it keeps waiting once it waits, as a share of the slow path's round trip.
        pub beta: f64 [Range::from(0.0).to(10.0)] = 0.25,
        /// Whether less data than a path's window counts as a window, as in the authors' kernel (`mptcp_ecf.c`). As printed, the last
        /// packets of a transfer take the slow path, which then delivers them last.
        pub whole_windows: bool = false,
    }
}

impl PathSchedulerModel for EcfSpec {
    fn build(&self, _: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String> {
        Ok(Box::new(Ecf { spec: *self, waiting: false }))
    }
}

struct Ecf {
    spec: EcfSpec,
    waiting: bool,
}

impl PathScheduler for Ecf {
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        backlog: &Backlog,
    ) -> Result<Choice, String> {
        let Some((fast, available)) = fastest(now, paths) else { return Ok(Choice::Wait) };
        let waits = fast.id != available.id && self.waits(fast, available, backlog);
        Ok(if waits { Choice::Wait } else { Choice::One(available.id) })
    }
}

impl Ecf {
    /// Whether the fast path completes what waits earlier, although it has no room now.
    fn waits(&mut self, fast: &PathView, slow: &PathView, backlog: &Backlog) -> bool {
        let packets = backlog.waiting.get() as f64 / fast.payload.get() as f64;
        let [fast_rtt, slow_rtt] = [fast.rtt, slow.rtt].map(|rtt| rtt.as_nanos() as f64);
        let margin = fast.variation.max(slow.variation).as_nanos() as f64;
        let patience = if self.waiting { 1.0 + self.spec.beta } else { 1.0 };
        let rounds = |path: &PathView| {
            let least = if self.spec.whole_windows { 1.0 } else { 0.0 };
            (packets / path.window_packets()).max(least)
        };
        let alone = (1.0 + rounds(fast)) * fast_rtt;
        if alone >= patience * (slow_rtt + margin) {
            self.waiting = false;
            return false;
        }
        let waits = rounds(slow) * slow_rtt >= 2.0 * fast_rtt + margin;
        self.waiting |= waits;
        waits
    }
}
