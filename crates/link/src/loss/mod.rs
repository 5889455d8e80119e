//! Random loss on the channel, decided per packet. One file per process, one line here to register it.

use leobench_base::{Header, RngTree, SimTime};

/// A loss process in motion; one random stream per direction of a link.
pub trait LossProcess: Send {
    /// Whether this packet, whose transmission ends at `now`, is lost. Called once for every packet sent, in order;
    /// times never decrease.
    fn lost(&mut self, now: SimTime, packet: &Header) -> bool;
}

/// A loss specification: builds the process it describes.
pub trait LossModel {
    /// Builds the process.
    fn build(&self, rng: &RngTree) -> Box<dyn LossProcess>;

    /// Whether its losses depend on the seed. The conformance tests check it.
    fn is_random(&self) -> bool {
        true
    }

    /// Whether it loses packets at all. The conformance tests check it.
    fn is_lossy(&self) -> bool {
        true
    }
}

leobench_base::kinds! {
    /// The loss processes.
    pub enum LossSpec as dyn LossModel {
        NoLoss(pub mod no_loss::NoLossSpec) = "none",
        Bernoulli(pub mod bernoulli::BernoulliSpec) = "bernoulli",
        GilbertElliott(pub mod gilbert_elliott::GilbertElliottSpec) = "gilbert_elliott",
        GilbertElliottTime(pub mod gilbert_elliott_time::GilbertElliottTimeSpec) = "gilbert_elliott_time",
    }
}

#[cfg(test)]
mod tests;
