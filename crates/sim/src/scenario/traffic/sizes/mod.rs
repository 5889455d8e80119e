//! Sizes of transfers. One file per law, one line here to register it.

use leobench_base::spec::{Fault, Range};
use leobench_base::{Bytes, SimRng};

/// The specification of a law of sizes.
pub trait SizeModel {
    /// Draws the bytes of a transfer; `None` if it has no end.
    fn draw(&self, rng: &mut SimRng) -> Option<f64>;

    /// The mean of what is drawn; `None` without an end.
    fn mean(&self) -> Option<f64>;
}

leobench_base::kinds! {
    /// A law of sizes, by name.
    pub enum SizeSpec as dyn SizeModel {
        Fixed(mod fixed::FixedSpec) = "fixed",
        Exponential(mod exponential::ExponentialSpec) = "exponential",
        Pareto(mod pareto::ParetoSpec) = "pareto",
        WebSearch(mod published::WebSearchSpec) = "web_search",
        DataMining(published::DataMiningSpec) = "data_mining",
        Bulk(mod bulk::BulkSpec) = "bulk",
    }
}

/// Factors on published sizes: a byte at least, and less than a petabyte at most.
const SCALE: Range = Range::above(0.0).to(1e5);

fn check_size(field: &str, size: Bytes) -> Result<(), Fault> {
    // A petabyte, as the largest transfer of a source.
    if size.is_zero() || size.get() > 1_000_000_000_000_000 {
        let problem = if size.is_zero() { "is zero" } else { "is too large" };
        return Err(Fault::new(field, problem, "from 1 B to 1000000 GB"));
    }
    Ok(())
}
