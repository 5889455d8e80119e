//! Keeps a satellite until it is lost, then chooses the highest one.

use leobench_base::SimTime;
use leobench_base::spec::Fault;

use super::{Choice, PolicyContext, PolicyModel, ServingPolicy, best};
use crate::motion::SatelliteId;

leobench_base::spec! {
    /// Keeps a satellite until it is lost, then chooses the highest one.
    pub struct StickySpec: Default {}
}

impl PolicyModel for StickySpec {
    fn build(&self, _context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        Ok(Box::new(Sticky))
    }
}

struct Sticky;

impl ServingPolicy for Sticky {
    fn is_due(&self, _now: SimTime) -> bool {
        false
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| candidate.look.elevation.radians())
    }
}
