//! Independent loss.

use leobench_base::spec::{Example, Probability};
use leobench_base::{Meta, RngTree, SimRng, SimTime};

use super::{LossModel, LossProcess};

leobench_base::spec! {
    /// Loses each packet with the same probability, independently.
    pub struct BernoulliSpec {
        /// Probability that a packet is lost.
        pub probability: Probability,
    }
}

impl LossModel for BernoulliSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn LossProcess> {
        Box::new(Bernoulli { probability: self.probability.get(), rng: rng.rng() })
    }
}

impl Example for BernoulliSpec {
    fn example() -> Self {
        Self { probability: Probability::new(0.01).expect("in range") }
    }
}

#[derive(Debug)]
struct Bernoulli {
    probability: f64,
    rng: SimRng,
}

impl LossProcess for Bernoulli {
    fn lost(&mut self, _now: SimTime, _packet: &Meta) -> bool {
        self.rng.bernoulli(self.probability)
    }
}
