//! Traffic sources: what the application produces when. One file per source, one line here to register it.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimRng};

pub use bulk::BulkSpec;
pub use cbr::CbrSpec;
pub use on_off::OnOffSpec;
pub use poisson::{PoissonBatchSpec, PoissonSpec};

/// A traffic source in motion. It produces one message per call, however many are due at an instant, so that whoever
/// drives it decides how much work is done at once.
pub trait TrafficSource: Send {
    /// When its next message is due, counted from the start of the flow and never earlier than the one before; `None`
    /// when it is done for good.
    fn next(&self) -> Option<SimDuration>;

    /// Produces that message and moves on to the one after it; returns its size, or `None` if there is none.
    fn produce(&mut self) -> Option<Bytes>;

    /// Whether its clock runs on while a blocking call holds the application up, as a timer does. Otherwise the clock
    /// stops with the application, which sleeps between its calls.
    fn keeps_time(&self) -> bool {
        false
    }
}

/// A source specification: builds the source it describes.
pub trait SourceModel {
    /// Builds the source; random ones draw from `rng`.
    fn build(&self, rng: &RngTree) -> Box<dyn TrafficSource>;

    /// Mean rate it offers in bits per second; `None` for a source without a clock (a bulk transfer).
    fn offered_bps(&self) -> Option<f64>;

    /// The number of messages it is expected to produce in its first `span`.
    fn messages_in(&self, span: SimDuration) -> f64;

    /// The number of messages it is expected to produce at one instant, where it produces the most.
    fn messages_at_once(&self) -> f64 {
        1.0
    }

    /// Checks what its parameters mean together.
    ///
    /// # Errors
    /// If the source could never produce, or not as described.
    fn check(&self) -> Result<(), Fault>;

    /// Whether its messages depend on the seed. The conformance tests check it.
    fn is_random(&self) -> bool {
        false
    }
}

leobench_base::kinds! {
    /// A traffic source, by name.
    pub enum SourceSpec as dyn SourceModel {
        Bulk(mod bulk::BulkSpec) = "bulk",
        Cbr(mod cbr::CbrSpec) = "cbr",
        Poisson(mod poisson::PoissonSpec) = "poisson",
        PoissonBatch(poisson::PoissonBatchSpec) = "poisson_batch",
        OnOff(mod on_off::OnOffSpec) = "on_off",
    }
}

/// Largest message: a petabyte, whose bits and nanoseconds still fit every counter.
const MAX_MESSAGE: Bytes = Bytes::new(1_000_000_000_000_000);

/// The grain of the clock: messages that are due within it come at one instant.
const NANOSECOND: SimDuration = SimDuration::from_nanos(1);

/// Messages of `size` that `span` holds at `rate`.
fn messages(rate: BitRate, size: Bytes, span: SimDuration) -> f64 {
    rate.bps() as f64 * span.as_secs_f64() / size.bits() as f64
}

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
