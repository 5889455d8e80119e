//! Starlink's scheduler as measurements show it: everybody chooses anew at the same seconds, at random by a utility.
//!
//! Terminals are reconfigured every 15 s, at seconds 12, 27, 42 and 57 of each minute (Tanveer et al. 2023, Making Sense of
//! Constellations; Mohan et al. 2024, A Multifaceted Look at Starlink Performance). The utility is a conditional logit fitted
//! with a penalty on its weights to the choices at three sites (Louvain, Kanazawa, Brisbane; about 490 slots each; data of
//! `SatInView`, July 2024): candidates within 18 degrees of the geostationary arc are out, and a candidate of elevation e (1 at
//! the zenith) is chosen with a probability in proportion to exp(5.5 e - 0.9 e² + 1.7 if it serves already). The weight 1.7 was
//! 1.3 to 2.1 by site. Without the penalty, the weights are 20.5, -13.3 and 1.64.

use leobench_base::quantity::Angle as AngleSpec;
use leobench_base::spec::{Fault, Range};
use leobench_base::{SimDuration, SimRng, SimTime};

use super::{Choice, PolicyContext, PolicyModel, ServingPolicy};
use crate::frame::{Angle, Epoch};
use crate::motion::SatelliteId;
use crate::visibility::Sighting;

/// Between two reconfigurations.
pub const PERIOD: SimDuration = SimDuration::from_secs(15);

/// The period in nanoseconds.
const SLOT: u64 = PERIOD.as_nanos();
/// From the start of a minute to its first reconfiguration, in nanoseconds.
const PHASE: u64 = SimDuration::from_secs(12).as_nanos();
/// Weights of a utility: the sum of three is the exponent of a number that a double can hold, below 10^308.
const WEIGHTS: Range = Range::from(-200.0).to(200.0);

/// How long ago terminals were last reconfigured.
pub fn into_slot(instant: Epoch) -> SimDuration {
    SimDuration::from_nanos((instant.nanos_of_minute() + SLOT - PHASE) % SLOT)
}

leobench_base::spec! {
    /// A random choice by a utility, every 15 s at the seconds 12, 27, 42 and 57 of a minute of UTC.
    ///
    /// A candidate of elevation e (1 at the zenith) is chosen with a probability in proportion to
    /// exp(`elevation` e + `square` e² + `kept` if it serves already). The defaults come from a penalised fit to the choices at
    /// three sites (Louvain, Kanazawa, Brisbane; SatInView data of July 2024), which shrinks the weights. Without the penalty, they
    /// are 20.5, -13.3 and 1.64; `scenarios/starlink-sites.toml` has weights close to these.
    pub struct StarlinkSpec: Default {
        /// Weight of the elevation.
        pub elevation: f64 [WEIGHTS] = 5.5,
        /// Weight of its square.
        pub square: f64 [WEIGHTS] = -0.9,
        /// Weight of the satellite that serves already.
        pub kept: f64 [WEIGHTS] = 1.7,
        /// Candidates closer to the arc of the geostationary satellites are excluded.
        pub exclusion: AngleSpec = AngleSpec::constant(18.0),
    }
}

impl PolicyModel for StarlinkSpec {
    fn build(&self, context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        Ok(Box::new(Starlink::new(self.clone(), context.start, context.rng)))
    }

    fn period(&self) -> Option<SimDuration> {
        Some(PERIOD)
    }

    fn is_random(&self) -> bool {
        true
    }
}

/// A random choice by utility, every 15 s at the same seconds everywhere.
///
/// Satellites that can still be used when the slot ends come first: one that sets before is chosen only if there is no other.
pub struct Starlink {
    utility: StarlinkSpec,
    exclusion: Angle,
    /// Nanoseconds from a start of a slot to the start of the run.
    into_slot: u64,
    rng: SimRng,
    weights: Vec<f64>,
    allowed: Vec<SatelliteId>,
}

impl Starlink {
    /// The scheduler of a terminal in a run that starts at an instant.
    pub fn new(utility: StarlinkSpec, start: Epoch, rng: SimRng) -> Self {
        Self {
            exclusion: Angle::from_degrees(utility.exclusion.degrees()),
            utility,
            into_slot: into_slot(start).as_nanos(),
            rng,
            weights: Vec::new(),
            allowed: Vec::new(),
        }
    }

    fn weight(&self, candidate: &Sighting, serves: bool) -> f64 {
        let e = candidate.look.elevation.degrees() / 90.0;
        let StarlinkSpec { elevation, square, kept, .. } = self.utility;
        libm::exp(elevation * e + square * e * e + if serves { kept } else { 0.0 })
    }

    fn collect(&mut self, choice: &Choice<'_>, end: Option<SimTime>) {
        self.weights.clear();
        self.allowed.clear();
        for candidate in choice.candidates {
            let satellite = candidate.satellite;
            if choice.outlook.arc_separation(candidate) >= self.exclusion
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
