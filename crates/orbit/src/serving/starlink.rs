//! Starlink's scheduler as measurements show it: everybody chooses anew at the same seconds, at random by a utility.
//!
//! Terminals are reconfigured every 15 s, at seconds 12, 27, 42 and 57 of each minute (Tanveer et al. 2023, Making Sense of
//! Constellations; Mohan et al. 2024, A Multifaceted Look at Starlink Performance). The utility is a conditional logit fitted
//! to the choices at three sites (Louvain, Kanazawa, Brisbane; about 490 slots each; data of `SatInView`, July 2024):
//! candidates within 18 degrees of the geostationary arc are out, and a candidate of elevation e (1 at the zenith) is chosen with
//! a probability in proportion to exp(5.5 e - 0.9 e² + 1.7 if it serves already).

use leobench_base::{SimDuration, SimRng, SimTime};

use super::{Choice, ServingPolicy};
use crate::frame::{Angle, Epoch};
use crate::motion::SatelliteId;
use crate::visibility::Sighting;

/// Between two reconfigurations.
pub const PERIOD: SimDuration = SimDuration::from_secs(15);

/// The period in nanoseconds.
const SLOT: u64 = PERIOD.as_nanos();
/// From the start of a minute to its first reconfiguration, in nanoseconds.
const PHASE: u64 = SimDuration::from_secs(12).as_nanos();

/// How long ago terminals were last reconfigured.
pub fn into_slot(instant: Epoch) -> SimDuration {
    SimDuration::from_nanos((instant.nanos_of_minute() + SLOT - PHASE) % SLOT)
}

/// The weights of the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utility {
    /// Of the elevation, as a share of the zenith's.
    pub elevation: f64,
    /// Of its square.
    pub square: f64,
    /// Of the satellite that serves already (1.3 to 2.1 by site).
    pub kept: f64,
    /// Candidates closer to the geostationary arc are out.
    pub exclusion: Angle,
}

impl Default for Utility {
    fn default() -> Self {
        Self { elevation: 5.5, square: -0.9, kept: 1.7, exclusion: Angle::from_degrees(18.0) }
    }
}

/// A random choice by utility, every 15 s at the same seconds everywhere.
///
/// Satellites that can still be used when the slot ends come first: one that sets before is chosen only if there is no other.
pub struct Starlink {
    utility: Utility,
    /// Nanoseconds from a start of a slot to the start of the run.
    into_slot: u64,
    rng: SimRng,
    weights: Vec<f64>,
    allowed: Vec<SatelliteId>,
}

impl Starlink {
    /// The scheduler of a terminal in a run that starts at an instant.
    pub fn new(utility: Utility, start: Epoch, rng: SimRng) -> Self {
        let into_slot = into_slot(start).as_nanos();
        Self { utility, into_slot, rng, weights: Vec::new(), allowed: Vec::new() }
    }

    fn weight(&self, candidate: &Sighting, serves: bool) -> f64 {
        let e = candidate.look.elevation.degrees() / 90.0;
        let Utility { elevation, square, kept, .. } = self.utility;
        libm::exp(elevation * e + square * e * e + if serves { kept } else { 0.0 })
    }

    fn collect(&mut self, choice: &Choice<'_>, end: Option<SimTime>) {
        self.weights.clear();
        self.allowed.clear();
        for candidate in choice.candidates {
            let satellite = candidate.satellite;
            if choice.outlook.arc_separation(candidate) >= self.utility.exclusion
                && end.is_none_or(|end| choice.outlook.usable(satellite, end))
            {
                self.weights.push(self.weight(candidate, choice.serving == Some(satellite)));
                self.allowed.push(satellite);
            }
        }
    }
}

impl ServingPolicy for Starlink {
    fn is_due(&self, now: SimTime) -> bool {
        (now.as_nanos() + self.into_slot).is_multiple_of(SLOT)
    }

    fn next_due(&self, after: SimTime) -> Option<SimTime> {
        let slots = (after.as_nanos() + self.into_slot) / SLOT + 1;
        Some(SimTime::from_nanos(slots * SLOT - self.into_slot))
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        let end = self.next_due(choice.now);
        self.collect(choice, end);
        if self.allowed.is_empty() {
            self.collect(choice, None);
        }
        if self.allowed.is_empty() {
            return None;
        }
        let index = self.rng.categorical(&self.weights);
        Some(self.allowed[index])
    }
}
