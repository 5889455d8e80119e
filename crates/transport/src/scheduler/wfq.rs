//! Weighted fair queueing (Khan et al. 2023, Computer Networks, section 5.2).

use leobench_base::spec::{Fault, Weight};

use super::fair::{self, Surplus};
use crate::plugin::Plugins;

use super::{SchedulerContext, SchedulerModel, StreamScheduler, one_weight_each};

leobench_base::spec! {
    /// Weighted fair queueing: shares every packet by weights among the streams with waiting bytes.
    ///
    /// Like `fq`, but with fixed weights, which follow neither the traffic nor the channel.
    pub struct WeightedFairQueueingSpec example = r#"{"weights": [2.0, 1.0]}"# {
        /// One weight per stream, in the streams' order: of two streams with waiting bytes, one of weight 2 gets twice
        /// the bytes of one of weight 1. Only their ratios count.
        pub weights: Vec<Weight>,
        /// The use of a share that a stream cannot fill: the other streams get it by their weights, or it stays empty.
        /// With `none`, all streams of the connection have shares, including idle ones. If there are more than ten, the
        /// next ten in order share each packet; ten streams without waiting bytes are skipped.
        pub surplus: Surplus = Surplus::Redistribute,
    }
}

impl SchedulerModel for WeightedFairQueueingSpec {
    fn check(&self, streams: usize, _plugins: &Plugins) -> Result<(), Fault> {
        one_weight_each(self.weights.len(), streams)
    }

    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        one_weight_each(self.weights.len(), context.streams)
            .map_err(|fault| format!("{} {}", fault.field, fault.problem))?;
        let weights: Vec<_> = self.weights.iter().map(|weight| weight.get()).collect();
        Ok(fair::build(&integers(&weights), self.surplus))
    }
}

/// The largest integer weight.
const LARGEST: f64 = (1u64 << 30) as f64;

/// Integers in the ratios of the weights: exact for weights with up to about six digits and six decimals; otherwise to
/// one part in 2^30 of the largest.
fn integers(weights: &[f64]) -> Vec<u64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let rounded = |factor: f64| weights.iter().map(move |weight| (weight * factor).round());
    let is_exact = |factor: f64| {
        let scaled = weights.iter().map(|weight| weight * factor);
        largest * factor <= LARGEST
            && scaled
                .zip(rounded(factor))
                .all(|(scaled, whole)| (scaled - whole).abs() < 1e-9 * scaled)
    };
    let exact = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6].into_iter().find(|factor| is_exact(*factor));
    let factor = exact.unwrap_or(LARGEST / largest);
    rounded(factor).map(|weight| weight.max(1.0) as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_the_ratios() {
        assert_eq!(integers(&[2.0, 1.0]), [2, 1]);
        assert_eq!(integers(&[0.07, 0.3, 1.5]), [7, 30, 150]);
        assert_eq!(integers(&[1.0 / 3.0, 1.0]), [(1 << 30) / 3, 1 << 30]);
        assert_eq!(integers(&[1e-12, 1e12]), [1, 1 << 30]);
    }
}
