//! A satellite until it is lost; then the one that serves the fewest terminals, of these the highest.

use leobench_base::SimTime;

use super::{Choice, ServingPolicy, best};
use crate::motion::SatelliteId;

/// A satellite until it is lost; then the one that serves the fewest terminals, of these the highest.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeastLoaded;

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
