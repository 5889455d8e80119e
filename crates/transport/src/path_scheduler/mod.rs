//! Path schedulers: they choose the path of the next packet of a connection with several paths. Each has one file, and one line
//! here registers it.

use leobench_base::{Bytes, SimDuration, SimTime};
use smallvec::SmallVec;

use crate::endpoint::PathId;

/// A path that may take a packet now: it is validated, and its window and pacer let a full packet go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathView {
    /// The path.
    pub id: PathId,
    /// Smoothed round-trip time; what is assumed before the first sample.
    pub rtt: SimDuration,
    /// Bytes that may be in flight.
    pub window: Bytes,
    /// Bytes that are in flight.
    pub in_flight: Bytes,
    /// Largest UDP payload.
    pub payload: Bytes,
}

/// The paths among which a scheduler chooses, in the order of their numbers.
pub type PathViews = SmallVec<[PathView; 8]>;

/// A running path scheduler.
///
/// Order of calls: [`choose`](Self::choose) as often as a packet may leave, and [`on_sent`](Self::on_sent) when one does.
pub trait PathScheduler: Send {
    /// The path of the next packet that carries anything but acknowledgements and probes: one of `paths`, of which there is
    /// at least one. `None` keeps the packet back, although there is room for it.
    fn choose(&mut self, now: SimTime, paths: &[PathView]) -> Option<PathId>;

    /// The packet left on `path`.
    fn on_sent(&mut self, path: PathId) {
        let _ = path;
    }
}

/// A path scheduler specification: builds its scheduler.
pub trait PathSchedulerModel {
    /// Builds the scheduler.
    fn build(&self) -> Box<dyn PathScheduler>;
}

leobench_base::kinds! {
    /// A path scheduler, by name.
    pub enum PathSchedulerSpec as dyn PathSchedulerModel {
        RoundRobin(mod round_robin::RoundRobinSpec) = "round_robin",
        MinRtt(mod min_rtt::MinRttSpec) = "min_rtt",
    }
}

impl Default for PathSchedulerSpec {
    fn default() -> Self {
        Self::MinRtt(min_rtt::MinRttSpec::default())
    }
}

#[cfg(test)]
mod tests;
