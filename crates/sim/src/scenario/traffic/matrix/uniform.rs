//! Equal shares of all pairs.

use leobench_base::SimRng;
use leobench_base::spec::Fault;

use super::{Demand, MatrixContext, MatrixModel, ordered_pairs};

leobench_base::spec! {
    /// All pairs: every place sends the same share to every other.
    pub struct UniformSpec: Default {}
}

impl MatrixModel for UniformSpec {
    fn demands(&self, context: &MatrixContext<'_>, _: &mut SimRng) -> Result<Vec<Demand>, Fault> {
        let pairs = ordered_pairs(context.places.len());
        Ok(pairs.map(|(from, to)| Demand { from, to, weight: 1.0 }).collect())
    }
}
