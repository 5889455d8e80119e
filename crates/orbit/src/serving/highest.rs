//! Always the satellite at the highest elevation.

use leobench_base::SimTime;
use leobench_base::spec::Fault;

use super::{Choice, PolicyContext, PolicyModel, ServingPolicy, best};
use crate::motion::SatelliteId;

leobench_base::spec! {
    /// Always the satellite at the highest elevation.
    pub struct HighestSpec: Default {}
}

impl PolicyModel for HighestSpec {
    fn build(&self, _context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        Ok(Box::new(Highest))
    }
}

struct Highest;

impl ServingPolicy for Highest {
    fn is_due(&self, _now: SimTime) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| candidate.look.elevation.radians())
    }
}
