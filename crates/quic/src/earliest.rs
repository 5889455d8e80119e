//! Times at which something is due, some of which may not be set.

use leobench_base::SimTime;

/// The earlier of two times.
#[inline]
pub(crate) fn earliest(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
