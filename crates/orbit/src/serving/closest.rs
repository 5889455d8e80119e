//! Always the satellite at the shortest distance.

use leobench_base::SimTime;

use super::{Choice, ServingPolicy, best};
use crate::motion::SatelliteId;

/// Always the satellite at the shortest distance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closest;

impl ServingPolicy for Closest {
    fn is_due(&self, _now: SimTime) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| -candidate.look.range_m)
    }
}
