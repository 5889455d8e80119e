//! Independent loss.

use leobench_base::spec::Probability;
use leobench_base::{Header, RngTree, SimRng, SimTime};

use super::{LossModel, LossProcess};

leobench_base::spec! {
    /// Loses each packet with the same probability, independently.
    pub struct BernoulliSpec example = r#"{"probability": 0.01}"# {
        /// Probability that a packet is lost.
        pub probability: Probability,
    }
}

impl LossModel for BernoulliSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn LossProcess> {
        Box::new(Bernoulli { probability: self.probability.get(), rng: rng.rng() })
    }
}

#[derive(Debug)]
struct Bernoulli {
    probability: f64,
    rng: SimRng,
}

impl LossProcess for Bernoulli {
    fn lost(&mut self, _now: SimTime, _packet: &Header) -> bool {
        self.rng.bernoulli(self.probability)
    }
}
