//! A satellite until it is lost; then the one that can be used for longest.

use leobench_base::SimTime;

use super::{Choice, ServingPolicy, best};
use crate::motion::SatelliteId;

/// A satellite until it is lost; then the one that can be used for longest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Longest;

impl ServingPolicy for Longest {
    fn is_due(&self, _now: SimTime) -> bool {
        false
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<SatelliteId> {
        best(choice, |candidate| choice.outlook.remaining(candidate.satellite).as_secs_f64())
    }
}
