//! Policies: which of the visible satellites serves a terminal.

use leobench_base::SimRng;
use leobench_base::quantity::{Angle, Decibels, Level};
use leobench_base::spec::{Fault, Range};
use leobench_orbit::serving::closest::Closest;
use leobench_orbit::serving::highest::Highest;
use leobench_orbit::serving::least_loaded::LeastLoaded;
use leobench_orbit::serving::longest::Longest;
use leobench_orbit::serving::snr::{Signal, Snr};
use leobench_orbit::serving::starlink::{Starlink, Utility};
use leobench_orbit::serving::sticky::Sticky;
use leobench_orbit::{Angle as Turn, Epoch, ServingPolicy};

/// Weights of a utility: the sum of three is the exponent of a number that a double can hold, below 10^308.
const WEIGHTS: Range = Range::from(-200.0).to(200.0);

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
}

leobench_base::kinds! {
    /// The policies that choose serving satellites.
    pub enum PolicySpec as dyn PolicyModel {
        Starlink(StarlinkSpec) = "starlink",
        Highest(HighestSpec) = "highest",
        Longest(LongestSpec) = "longest",
        Sticky(StickySpec) = "sticky",
        Closest(ClosestSpec) = "closest",
        LeastLoaded(LeastLoadedSpec) = "least_loaded",
        Snr(SnrSpec) = "snr",
    }
}

impl Default for PolicySpec {
    fn default() -> Self {
        Self::Starlink(StarlinkSpec::default())
    }
}

leobench_base::spec! {
    /// A random choice by a utility, every 15 s at the seconds 12, 27, 42 and 57 of a minute of UTC.
    ///
    /// A candidate of elevation e (1 at the zenith) is chosen with a probability in proportion to
    /// exp(`elevation` e + `square` e² + `kept` if it serves already). The defaults are a first fit to the choices at three
    /// sites (Louvain, Kanazawa, Brisbane; SatInView data of July 2024); `scenarios/starlink-sites.toml` has another one.
    pub struct StarlinkSpec: Default {
        /// Weight of the elevation.
        pub elevation: f64 [WEIGHTS] = 5.5,
        /// Weight of its square.
        pub square: f64 [WEIGHTS] = -0.9,
        /// Weight of the satellite that serves already.
        pub kept: f64 [WEIGHTS] = 1.7,
        /// Candidates closer to the arc of the geostationary satellites are out.
        pub exclusion: Angle = Angle::constant(18.0),
    }
}

leobench_base::spec! {
    /// Always the satellite at the highest elevation.
    pub struct HighestSpec: Default {}
}

leobench_base::spec! {
    /// A satellite until it is lost; then the one that can be used for longest.
    pub struct LongestSpec: Default {}
}

leobench_base::spec! {
    /// A satellite until it is lost; then the highest one.
    pub struct StickySpec: Default {}
}

leobench_base::spec! {
    /// Always the satellite at the shortest distance.
    pub struct ClosestSpec: Default {}
}

leobench_base::spec! {
    /// A satellite until it is lost; then the one that serves the fewest terminals.
    pub struct LeastLoadedSpec: Default {}
}

leobench_base::spec! {
    /// A satellite until its carrier over noise falls below a threshold and another one's is better by a hysteresis.
    pub struct SnrSpec example = r#"{"threshold": "8 dB"}"# {
        /// Carrier over noise of the downlink below which another satellite may be chosen.
        pub threshold: Level,
        /// How much better the other one has to be.
        pub hysteresis: Decibels = Decibels::constant(1.0),
    }
}

macro_rules! plain {
    ($($spec:ident => $policy:ident),*) => {$(
        impl PolicyModel for $spec {
            fn build(&self, _context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
                Ok(Box::new($policy))
            }
        }
    )*};
}

plain!(HighestSpec => Highest, LongestSpec => Longest, StickySpec => Sticky, ClosestSpec => Closest,
    LeastLoadedSpec => LeastLoaded);

impl PolicyModel for StarlinkSpec {
    fn build(&self, context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        let utility = Utility {
            elevation: self.elevation,
            square: self.square,
            kept: self.kept,
            exclusion: Turn::from_degrees(self.exclusion.degrees()),
        };
        Ok(Box::new(Starlink::new(utility, context.start, context.rng)))
    }
}

impl PolicyModel for SnrSpec {
    fn build(&self, context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        let Some(signal) = context.signal else {
            let allowed = "a link with a `downlink` budget, or another policy";
            return Err(Fault::new("policy", "`snr` needs a signal", allowed));
        };
        Ok(Box::new(Snr::new(signal, self.threshold.db(), self.hysteresis.db())))
    }
}
