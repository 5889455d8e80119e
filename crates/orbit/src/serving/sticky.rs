//! A satellite until it is lost; then the highest one.

use leobench_base::SimTime;

use super::{Choice, ServingPolicy, best};
use crate::motion::SatelliteId;

/// A satellite until it is lost; then the highest one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sticky;

impl ServingPolicy for Sticky {
    fn is_due(&self, _now: SimTime) -> bool {
        false
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| candidate.look.elevation.radians())
    }
}
