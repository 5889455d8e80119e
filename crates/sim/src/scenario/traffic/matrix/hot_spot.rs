//! A place that receives more than the others.

use leobench_base::SimRng;
use leobench_base::spec::{Fault, Range};

use super::{Demand, MatrixContext, MatrixModel, ordered_pairs};
use crate::scenario::traffic::places::unknown;

leobench_base::spec! {
    /// A hot spot: one place receives a given share, equally from all others; the other pairs share the rest equally.
    pub struct HotSpotSpec example = r#"{"place": "a", "share": 0.5}"# {
        /// Name of the place.
        pub place: String,
        /// Share of all transfers that it receives.
        pub share: f64 [Range::above(0.0).to(1.0)],
    }
}

impl MatrixModel for HotSpotSpec {
    fn demands(&self, context: &MatrixContext<'_>, _: &mut SimRng) -> Result<Vec<Demand>, Fault> {
        let places = context.places;
        let Some(hot) = places.iter().position(|place| place.name == self.place) else {
            let words = places.iter().map(|place| place.name.as_str()).collect();
            return Err(unknown("place".to_owned(), &self.place, words));
        };
        let towards = places.len() - 1;
        let others = places.len() * towards - towards;
        let demand = |(from, to): (usize, usize)| {
            let (share, pairs) =
                if to == hot { (self.share, towards) } else { (1.0 - self.share, others) };
            Demand { from, to, weight: share / pairs as f64 }
        };
        let demands = ordered_pairs(places.len()).map(demand);
        Ok(demands.filter(|demand| demand.weight > 0.0).collect())
    }
}
