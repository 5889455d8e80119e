//! BOLA: a trade of utility against the buffer, slot by slot.

use leobench_base::spec::Fault;

use super::{Adaptation, AdaptationContext, AdaptationModel, PlayerView};

leobench_base::spec! {
    /// Most utility for the bits, the emptier the buffer the less (BOLA-BASIC of Spiteri, Urgaonkar and Sitaraman 2016).
    ///
    /// The utility of a bitrate is its logarithm. The weight V is the largest with which the buffer stays within `most_buffer`.
    pub struct BolaSpec: Default check = BolaSpec::check {
        /// Weight of a full buffer beside that of utility, the paper's gamma p.
        pub gamma: f64 = 5.0,
    }
}

impl BolaSpec {
    fn check(&self) -> Result<(), Fault> {
        if !(self.gamma > 0.0 && self.gamma <= 1_000.0) {
            return Err(Fault::new("gamma", "is out of range", "a number above 0, up to 1000"));
        }
        Ok(())
    }
}

impl AdaptationModel for BolaSpec {
    fn build(&self, _: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        Ok(Box::new(Bola { gamma: self.gamma }))
    }
}

#[derive(Debug)]
struct Bola {
    gamma: f64,
}

impl Adaptation for Bola {
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String> {
        let lowest = view.ladder[0];
        let utility = |rate: f64| libm::log(rate / lowest);
        let highest = utility(view.ladder[view.ladder.len() - 1]);
        let most = view.most_buffer_s / view.segment_s;
        let weight = (most - 1.0) / (highest + self.gamma);
        let buffer = view.buffer_s / view.segment_s;
        let score = |number: usize| {
            (weight * (utility(view.ladder[number]) + self.gamma) - buffer) / view.bits[number]
        };
        let mut best = 0;
        for number in 1..view.ladder.len() {
            // Of equals, the higher bitrate.
            if score(number) >= score(best) {
                best = number;
            }
        }
        Ok(best)
    }
}
