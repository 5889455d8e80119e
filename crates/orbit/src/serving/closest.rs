//! Always the satellite at the shortest distance.

use leobench_base::SimTime;
use leobench_base::spec::Fault;

use super::{Choice, PolicyContext, PolicyModel, ServingPolicy, best};
use crate::motion::SatelliteId;

leobench_base::spec! {
    /// Always the satellite at the shortest distance.
    pub struct ClosestSpec: Default {}
}

impl PolicyModel for ClosestSpec {
    fn build(&self, _context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        Ok(Box::new(Closest))
    }
}

struct Closest;

impl ServingPolicy for Closest {
    fn is_due(&self, _now: SimTime) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| -candidate.look.range_m)
    }
}
