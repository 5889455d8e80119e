//! Traffic sources: what the application produces when. One file per source, one line here to register it.

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimTime};

use crate::buffer::Message;

/// A traffic source in motion. Times are from the start of its flow.
pub trait TrafficSource: Send {
    /// When it produces next; `None` when it is done for good.
    fn next(&self) -> Option<SimTime>;

    /// Produces all messages due at [`next`](Self::next), each created at that instant, and moves on.
    fn produce(&mut self, messages: &mut Vec<Message>);
}

/// A source specification: builds the source it describes.
pub trait SourceModel {
    /// Builds the source; random ones draw from `rng`.
    fn build(&self, rng: &RngTree) -> Box<dyn TrafficSource>;

    /// Mean rate it offers in bits per second; `None` for a source with an end instead of a rate (a bulk transfer).
    fn offered_bps(&self) -> Option<f64>;

    /// Checks what its parameters mean together.
    ///
    /// # Errors
    /// If the source could never produce, or not as described.
    fn check(&self) -> Result<(), Fault>;
}
