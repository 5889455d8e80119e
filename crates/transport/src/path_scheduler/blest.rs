//! Blocking estimation (Ferlin, Alay, Mehani, Boreli 2016, IFIP Networking, "BLEST: Blocking estimation-based MPTCP scheduler for
//! heterogeneous networks").

use leobench_base::SimTime;
use leobench_base::spec::Range;

use super::{
    Backlog, Choice, PathScheduler, PathSchedulerContext, PathSchedulerModel, PathView, fastest,
};

leobench_base::spec! {
    /// Uses a slower path only if that cannot block the fast one by flow control (Ferlin et al. 2016).
    ///
    /// It takes the path with the shortest round-trip time. While that has no room, it takes a slower one, unless the connection's
    /// flow-control window would then block the fast path before the slow one's packet is acknowledged.
    #[derive(Copy)]
    pub struct BlestSpec: Default {
        /// Factor on the estimate of what the fast path sends meanwhile (section IV); larger is more cautious. The paper adapts it
        /// around 1.0, here it stays.
        pub lambda: f64 [Range::above(0.0).to(100.0)] = 1.0,
    }
}

impl PathSchedulerModel for BlestSpec {
    fn build(&self, _: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String> {
        Ok(Box::new(Blest { lambda: self.lambda }))
    }
}

struct Blest {
    lambda: f64,
}

impl PathScheduler for Blest {
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        backlog: &Backlog,
    ) -> Result<Choice, String> {
        let Some((fast, available)) = fastest(now, paths) else { return Ok(Choice::Wait) };
        let waits = fast.id != available.id
            && self.lambda * sent_meanwhile(fast, available) > room_beside(available, backlog);
        Ok(if waits { Choice::Wait } else { Choice::One(available.id) })
    }
}

/// Bytes that the fast path sends during a round trip of the slow one, if its window grows by a packet per round trip (X of
/// section IV).
fn sent_meanwhile(fast: &PathView, slow: &PathView) -> f64 {
    let rounds = slow.rtt.as_nanos() as f64 / fast.rtt.as_nanos().max(1) as f64;
    fast.payload.get() as f64 * (fast.window_packets() + (rounds - 1.0) / 2.0) * rounds
}

/// Bytes of the flow-control window that are left beside those that the slow path would have in flight.
fn room_beside(slow: &PathView, backlog: &Backlog) -> f64 {
    backlog.credit.get() as f64 - (slow.in_flight + slow.payload).get() as f64
}
