//! Transfers at random times.

use leobench_base::spec::{Fault, Range};
use leobench_base::{BitRate, SimDuration, SimRng};

use super::{ArrivalContext, ArrivalModel};

leobench_base::spec! {
    /// A Poisson process over all pairs together, until `duration`.
    ///
    /// The pair of each transfer is drawn by itself, so that the transfers of each pair are a Poisson process, too.
    pub struct PoissonSpec example = r#"{"load": "100 Mbps"}"# check = PoissonSpec::check {
        /// Mean number of transfers per second.
        pub rate: Option<f64> [Range::above(0.0)],
        /// Mean rate of the bytes of all transfers together, instead of `rate`.
        pub load: Option<BitRate>,
    }
}

impl PoissonSpec {
    fn check(&self) -> Result<(), Fault> {
        let either = "either `rate` or `load`";
        match (self.rate, self.load) {
            (None, None) => Err(Fault::new("load", "is required but missing", either)),
            (Some(_), Some(_)) => Err(Fault::new("load", "is given together with `rate`", either)),
            (None, Some(load)) if load.is_zero() => {
                Err(Fault::new("load", "is zero", "a rate above zero"))
            }
            _ => Ok(()),
        }
    }

    /// Transfers per second.
    fn per_second(&self, context: &ArrivalContext) -> Result<f64, Fault> {
        match (self.rate, self.load, context.mean_bytes) {
            (Some(rate), _, _) => Ok(rate),
            (None, Some(load), Some(mean)) => Ok(load.bps() as f64 / (mean * 8.0)),
            (None, _, _) => {
                let problem = "cannot be met by transfers without an end";
                Err(Fault::new("load", problem, "a `rate`, or another `size`"))
            }
        }
    }
}

impl ArrivalModel for PoissonSpec {
    fn expected(&self, context: &ArrivalContext) -> Result<f64, Fault> {
        let expected = self.per_second(context)? * context.duration.as_secs_f64();
        Ok(context.flows.map_or(expected, |flows| expected.min(f64::from(flows))))
    }

    fn starts(
        &self,
        context: &ArrivalContext,
        rng: &mut SimRng,
    ) -> Result<Vec<SimDuration>, Fault> {
        let mean = 1.0 / self.per_second(context)?;
        let most = context.flows.map_or(usize::MAX, |flows| flows as usize);
        let (mut starts, end) = (Vec::new(), context.duration.as_secs_f64());
        let mut now = 0.0;
        while starts.len() < most {
            now -= libm::log1p(-rng.unit()) * mean;
            if now >= end {
                break;
            }
            starts.push(SimDuration::from_nanos((now * 1e9) as u64));
        }
        Ok(starts)
    }

    fn is_random(&self) -> bool {
        true
    }
}
