//! All transfers at the start.

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimRng};

use super::{ArrivalContext, ArrivalModel};

leobench_base::spec! {
    /// All at the start, or one after the other over a ramp. Every pair gets its share of the transfers, rounded up or down.
    pub struct AtStartSpec: Default {
        /// Length of the ramp: the transfers start at equal distances within it, in random order.
        pub over: SimDuration = SimDuration::ZERO,
    }
}

impl ArrivalModel for AtStartSpec {
    fn expected(&self, context: &ArrivalContext) -> Result<f64, Fault> {
        Ok(context.flows.map_or(context.pairs as f64, f64::from))
    }

    fn starts(&self, context: &ArrivalContext, _: &mut SimRng) -> Result<Vec<SimDuration>, Fault> {
        if self.over > context.duration {
            let allowed = format!("at most the duration, {}", context.duration);
            return Err(Fault::new("over", "is longer than the run", allowed));
        }
        let count = context.flows.map_or(context.pairs, |flows| flows as usize);
        Ok((0..count).map(|number| self.over * (number as f64 / count as f64)).collect())
    }
}
