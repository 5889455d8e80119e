//! A satellite until it is lost; then the one that serves the fewest terminals, of these the highest.

use leobench_base::SimTime;
use leobench_base::spec::Fault;

use super::{Choice, PolicyContext, PolicyModel, ServingPolicy, best};
use crate::motion::SatelliteId;

leobench_base::spec! {
    /// Keeps a satellite until it is lost, then chooses the one that serves the fewest terminals.
    pub struct LeastLoadedSpec: Default {}
}

impl PolicyModel for LeastLoadedSpec {
    fn build(&self, _context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        Ok(Box::new(LeastLoaded))
    }
}

struct LeastLoaded;

impl ServingPolicy for LeastLoaded {
    fn is_due(&self, _now: SimTime) -> bool {
        false
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| {
            let load = choice.outlook.load(candidate.satellite);
            // An elevation decides between equal loads: its share of a right angle is at most 1.
            -2.0 * f64::from(load) + candidate.look.elevation.degrees() / 90.0
        })
    }
}
