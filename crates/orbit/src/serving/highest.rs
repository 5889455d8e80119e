//! Always the satellite at the highest elevation.

use leobench_base::SimTime;

use super::{Choice, ServingPolicy, best};
use crate::motion::SatelliteId;

/// Always the satellite at the highest elevation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Highest;

impl ServingPolicy for Highest {
    fn is_due(&self, _now: SimTime) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| candidate.look.elevation.radians())
    }
}
