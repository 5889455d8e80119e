mod assignment;
mod chain;
mod conformance;
mod handovers;
mod policies;

use leobench_base::RngTree;
use leobench_base::spec::{At, Spec};

use super::{PolicyContext, PolicySpec, ServingPolicy};
use crate::frame::Epoch;
use crate::visibility::Sighting;

/// The policy of a scenario's text, in a run that starts at noon; a signal is as strong as the elevation in degrees.
fn policy(json: &str) -> Box<dyn ServingPolicy> {
    let spec = PolicySpec::read(&serde_json::from_str(json).unwrap(), &At::ROOT).unwrap();
    let context = PolicyContext {
        start: Epoch::parse("2024-07-15T12:00:00").unwrap(),
        rng: RngTree::new(1).rng(),
        signal: Some(Box::new(|seen: &Sighting| seen.look.elevation.degrees())),
    };
    spec.model().build(context).unwrap()
}
