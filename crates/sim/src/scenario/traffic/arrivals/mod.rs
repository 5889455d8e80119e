//! Arrivals: when transfers start. One file per process, one line here to register it.

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimRng};

/// Inputs of an arrival process.
pub struct ArrivalContext {
    /// The number of transfers, or the largest number of those that arrive at random, if the scenario gives it.
    pub flows: Option<u32>,
    /// The number of pairs with traffic.
    pub pairs: usize,
    /// Mean bytes of a transfer; `None` if it has no end.
    pub mean_bytes: Option<f64>,
    /// How long transfers may start.
    pub duration: SimDuration,
}

/// The specification of an arrival process.
pub trait ArrivalModel {
    /// Returns the number of transfers to expect.
    ///
    /// # Errors
    /// If the process does not suit the sizes.
    fn expected(&self, context: &ArrivalContext) -> Result<f64, Fault>;

    /// Returns the starts in order. Random ones draw from `rng`.
    ///
    /// # Errors
    /// If the process does not suit the sizes or the duration.
    fn starts(&self, context: &ArrivalContext, rng: &mut SimRng)
    -> Result<Vec<SimDuration>, Fault>;

    /// Whether transfers arrive independently of each other, so that the pair of each is drawn by itself.
    fn is_random(&self) -> bool {
        false
    }
}

leobench_base::kinds! {
    /// An arrival process, by name.
    pub enum ArrivalsSpec as dyn ArrivalModel {
        AtStart(pub mod at_start::AtStartSpec) = "at_start",
        Poisson(mod poisson::PoissonSpec) = "poisson",
    }
}
