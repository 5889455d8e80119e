//! Random loss on the channel, decided per packet. One file per process, one line here to register it.

pub mod bernoulli;
pub mod gilbert_elliott;
pub mod gilbert_elliott_time;

use leobench_base::{Meta, RngTree, SimTime};

/// A loss process in motion; one random stream per direction of a link.
pub trait LossProcess: Send {
    /// Whether this packet, whose transmission ends at `now`, is lost. Called once for every packet sent, in order;
    /// times never decrease.
    fn lost(&mut self, now: SimTime, packet: &Meta) -> bool;
}

/// A loss specification: builds the process it describes.
pub trait LossModel {
    /// Builds the process.
    fn build(&self, rng: &RngTree) -> Box<dyn LossProcess>;
}

leobench_base::kinds! {
    /// The loss processes.
    pub enum LossSpec as dyn LossModel {
        Bernoulli(bernoulli::BernoulliSpec) = "bernoulli",
        GilbertElliott(gilbert_elliott::GilbertElliottSpec) = "gilbert_elliott",
        GilbertElliottTime(gilbert_elliott_time::GilbertElliottTimeSpec) = "gilbert_elliott_time",
    }
}

#[cfg(test)]
mod tests;
