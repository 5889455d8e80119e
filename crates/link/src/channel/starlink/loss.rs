//! The loss of a direction, by a Markov chain of slots.

use leobench_base::{RngTree, SimRng};

use super::fit::LossPart;

/// A chain of clean and lossy slots; none if the fit has no loss.
#[derive(Debug)]
pub(super) struct LossChain(Option<(LossPart, bool, SimRng)>);

impl LossChain {
    /// Begins in a state drawn from the long-run shares; in a clean slot if it stays where it is.
    pub fn new(part: Option<&LossPart>, rng: &RngTree) -> Self {
        let Some(part) = part else { return Self(None) };
        let mut rng = rng.rng();
        let moves = part.to_lossy + part.to_clean;
        let lossy = moves > 0.0 && rng.bernoulli(part.to_lossy / moves);
        Self(Some((part.clone(), lossy, rng)))
    }

    /// The probability that a packet is lost in this slot.
    pub fn probability(&self) -> f64 {
        match &self.0 {
            None => 0.0,
            Some((part, true, _)) => part.lossy,
            Some((part, false, _)) => part.clean,
        }
    }

    /// Goes to the next slot.
    pub fn next_slot(&mut self) {
        if let Some((part, lossy, rng)) = &mut self.0 {
            let change = if *lossy { part.to_clean } else { part.to_lossy };
            *lossy ^= rng.bernoulli(change);
        }
    }
}
