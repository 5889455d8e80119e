//! Keeps a satellite until it is lost, then chooses the one that can be used for longest.

use leobench_base::SimTime;
use leobench_base::spec::Fault;

use super::{Choice, PolicyContext, PolicyModel, ServingPolicy, best};
use crate::motion::SatelliteId;

leobench_base::spec! {
    /// Keeps a satellite until it is lost, then chooses the one that can be used for longest.
    pub struct LongestSpec: Default {}
}

impl PolicyModel for LongestSpec {
    fn build(&self, _context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        Ok(Box::new(Longest))
    }
}

struct Longest;

impl ServingPolicy for Longest {
    fn is_due(&self, _now: SimTime) -> bool {
        false
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| choice.outlook.remaining(candidate.satellite).as_secs_f64())
    }
}
