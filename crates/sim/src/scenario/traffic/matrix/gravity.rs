//! Shares by the inhabitants of both places.

use leobench_base::SimRng;
use leobench_base::spec::Fault;

use super::{Demand, MatrixContext, MatrixModel, ordered_pairs};

leobench_base::spec! {
    /// A gravity model: the share of a pair is in proportion to the product of the populations of both places.
    ///
    /// Their distance has no effect (Zhang et al., "Fast accurate computation of large-scale IP traffic matrices from link loads",
    /// SIGMETRICS 2003).
    pub struct GravitySpec: Default {}
}

impl MatrixModel for GravitySpec {
    fn demands(&self, context: &MatrixContext<'_>, _: &mut SimRng) -> Result<Vec<Demand>, Fault> {
        let population = |place: &super::Place| {
            place.population.ok_or_else(|| {
                let problem = format!("needs the population of `{}`", place.name);
                Fault::new("kind", problem, "a `population` for every place, or another matrix")
            })
        };
        let populations =
            context.places.iter().map(population).collect::<Result<Vec<_>, Fault>>()?;
        let weight = |from: usize, to: usize| populations[from] * populations[to];
        let pairs = ordered_pairs(populations.len());
        Ok(pairs.map(|(from, to)| Demand { from, to, weight: weight(from, to) }).collect())
    }
}
