//! Serving-satellite policies: which of the visible satellites serves a terminal. One file per policy, one line here to
//! register it.

mod assignment;
pub mod chain;
mod handovers;
pub mod on_grid;

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimRng, SimTime};

use crate::frame::{Angle, Epoch};
use crate::motion::SatelliteId;
use crate::visibility::Sighting;

pub use assignment::{Assignment, Handover, HandoverCost, Terminal};
pub use handovers::Handovers;

/// Facts about candidates beyond their positions, computed on request.
pub trait Outlook {
    /// How long it can be used from now on without interruption, up to a limit of three hours.
    fn remaining(&self, satellite: SatelliteId) -> SimDuration;

    /// Whether it can be used at a time.
    fn usable(&self, satellite: SatelliteId, at: SimTime) -> bool;

    /// How many other terminals it serves.
    fn load(&self, satellite: SatelliteId) -> u32;

    /// How far it is from the arc of the geostationary satellites.
    fn arc_separation(&self, candidate: &Sighting) -> Angle;
}

/// A choice between satellites.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// When.
    pub now: SimTime,
    /// The satellite that serves; `None` if none does, or if it cannot be used any more.
    pub serving: Option<SatelliteId>,
    /// The satellites that can be used, by number; at least one.
    pub candidates: &'a [Sighting],
    /// More about them.
    pub outlook: &'a dyn Outlook,
}

/// A policy of one terminal.
///
/// It is asked for a choice whenever no satellite serves and one could, and whenever [`is_due`](Self::is_due).
pub trait ServingPolicy: Send {
    /// Whether to choose now although the serving satellite can still be used.
    fn is_due(&self, now: SimTime) -> bool;

    /// When the policy wants to choose, by its own clock; `None` if it has none.
    fn next_due(&self, after: SimTime) -> Option<SimTime> {
        let _ = after;
        None
    }

    /// The satellite to be served by; `None` for none of them.
    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId>;
}

/// The strength of a candidate's signal, in decibels.
pub type Signal = Box<dyn Fn(&Sighting) -> f64 + Send>;

/// Inputs of a policy besides its own parameters.
pub struct PolicyContext {
    /// When the run starts.
    pub start: Epoch,
    /// Random stream of the policy.
    pub rng: SimRng,
    /// The signal of a candidate by the downlink's budget, if the link has one.
    pub signal: Option<Signal>,
}

/// A policy specification: builds the policy of one terminal.
pub trait PolicyModel {
    /// Builds it.
    ///
    /// # Errors
    /// If it needs a signal and there is no budget.
    fn build(&self, context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault>;

    /// The time between two choices by the policy's own clock; `None` if it has none. A policy with a clock of its own cannot
    /// be put on another grid ([`OnGrid`](on_grid::OnGrid)).
    fn period(&self) -> Option<SimDuration> {
        None
    }

    /// Whether a terminal uses all satellites in its sky at once, each for the packets whose way over it is the shortest.
    fn is_free(&self) -> bool {
        false
    }

    /// Whether its choices depend on the seed. The conformance tests check it.
    fn is_random(&self) -> bool {
        false
    }
}

leobench_base::kinds! {
    /// The policies that choose serving satellites.
    pub enum PolicySpec as dyn PolicyModel {
        Starlink(pub mod starlink::StarlinkSpec) = "starlink",
        Highest(mod highest::HighestSpec) = "highest",
        Longest(mod longest::LongestSpec) = "longest",
        Sticky(mod sticky::StickySpec) = "sticky",
        Closest(mod closest::ClosestSpec) = "closest",
        LeastLoaded(mod least_loaded::LeastLoadedSpec) = "least_loaded",
        Snr(mod snr::SnrSpec) = "snr",
        Shortest(mod shortest::ShortestSpec) = "shortest",
    }
}

impl Default for PolicySpec {
    fn default() -> Self {
        Self::Starlink(starlink::StarlinkSpec::default())
    }
}

/// The candidate with the largest score; of equal ones, the one that serves, else the one with the lowest number.
pub(crate) fn best(choice: &Choice<'_>, score: impl Fn(&Sighting) -> f64) -> Option<SatelliteId> {
    let mut best: Option<(f64, SatelliteId)> = None;
    for candidate in choice.candidates {
        let score = score(candidate);
        let serves = choice.serving == Some(candidate.satellite);
        if best.is_none_or(|(highest, _)| score > highest || (serves && score >= highest)) {
            best = Some((score, candidate.satellite));
        }
    }
    best.map(|(_, satellite)| satellite)
}

#[cfg(test)]
mod tests;
