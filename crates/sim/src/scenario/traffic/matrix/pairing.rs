//! Random pairs of places that send to each other.

use leobench_base::SimRng;
use leobench_base::spec::Fault;

use super::{Demand, MatrixContext, MatrixModel};
use crate::scenario::traffic::plan::shuffled;

leobench_base::spec! {
    /// Random pairs: every place sends to one other place and receives from the same one, with equal shares.
    ///
    /// Hypatia calls it a reciprocated random pairing (Kassing et al., IMC 2020).
    pub struct PairingSpec: Default {}
}

impl MatrixModel for PairingSpec {
    fn demands(&self, context: &MatrixContext<'_>, rng: &mut SimRng) -> Result<Vec<Demand>, Fault> {
        let count = context.places.len();
        if count % 2 == 1 {
            let problem = format!("leaves one of the {count} places alone");
            return Err(Fault::new("kind", problem, "an even number of places, or `permutation`"));
        }
        let places = shuffled((0..count).collect(), rng);
        let pairs =
            places.chunks_exact(2).flat_map(|pair| [(pair[0], pair[1]), (pair[1], pair[0])]);
        let mut demands: Vec<_> =
            pairs.map(|(from, to)| Demand { from, to, weight: 1.0 }).collect();
        demands.sort_by_key(|demand| demand.from);
        Ok(demands)
    }
}
