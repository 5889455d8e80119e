//! Traffic sources: what the application produces when. One file per source, one line here to register it.

mod bulk;
mod cbr;
mod on_off;
mod poisson;

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, RngTree, SimRng, SimTime};

pub use bulk::BulkSpec;
pub use cbr::CbrSpec;
pub use on_off::OnOffSpec;
pub use poisson::{PoissonBatchSpec, PoissonSpec};

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

leobench_base::kinds! {
    /// A traffic source, by name.
    pub enum SourceSpec as dyn SourceModel {
        Bulk(bulk::BulkSpec) = "bulk",
        Cbr(cbr::CbrSpec) = "cbr",
        Poisson(poisson::PoissonSpec) = "poisson",
        PoissonBatch(poisson::PoissonBatchSpec) = "poisson_batch",
        OnOff(on_off::OnOffSpec) = "on_off",
    }
}

/// Largest message: a petabyte, whose bits and nanoseconds still fit every counter.
const MAX_MESSAGE: Bytes = Bytes::new(1_000_000_000_000_000);

fn check_size(size: Bytes) -> Result<(), Fault> {
    if size.is_zero() || size > MAX_MESSAGE {
        let problem = if size.is_zero() { "is zero" } else { "is too large" };
        return Err(Fault::new("size", problem, "from 1 B to 1000000 GB"));
    }
    Ok(())
}

fn check_rate(rate: BitRate) -> Result<(), Fault> {
    if rate.is_zero() {
        return Err(Fault::new("rate", "is zero", "a rate above zero"));
    }
    Ok(())
}

/// An exponential number with the given mean, by inversion; for means that whole nanoseconds are too coarse for.
fn exponential(rng: &mut SimRng, mean: f64) -> f64 {
    -libm::log1p(-rng.unit()) * mean
}

#[cfg(test)]
mod tests;
