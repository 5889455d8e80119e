//! A random permutation of the places.

use leobench_base::SimRng;
use leobench_base::spec::Fault;

use super::{Demand, MatrixContext, MatrixModel};
use crate::scenario::traffic::plan::shuffled;

leobench_base::spec! {
    /// A random permutation: every place sends to one other place and receives from one other, with equal shares.
    pub struct PermutationSpec: Default {}
}

impl MatrixModel for PermutationSpec {
    fn demands(&self, context: &MatrixContext<'_>, rng: &mut SimRng) -> Result<Vec<Demand>, Fault> {
        let receivers = derangement(context.places.len(), rng);
        let demands = receivers.into_iter().enumerate();
        Ok(demands.map(|(from, to)| Demand { from, to, weight: 1.0 }).collect())
    }
}

/// A permutation without a fixed point, each with the same probability. It draws until one has none; a share of 1/e of all
/// permutations does.
fn derangement(count: usize, rng: &mut SimRng) -> Vec<usize> {
    loop {
        let drawn = shuffled((0..count).collect(), rng);
        if drawn.iter().enumerate().all(|(from, to)| from != *to) {
            return drawn;
        }
    }
}
