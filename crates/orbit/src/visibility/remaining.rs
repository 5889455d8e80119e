//! How long a satellite can still be used.

use leobench_base::{SimDuration, SimTime};

use super::observer::Observer;
use crate::motion::{Ephemeris, SatelliteId};

/// Longest visibility that is searched: beyond it, a satellite of a low orbit has set.
const LONGEST: SimDuration = SimDuration::from_secs(3 * 3600);
/// Steps in which remaining visibility is searched; a shorter interruption may be overlooked.
const STEP: SimDuration = SimDuration::from_secs(20);
/// How exactly rises and sets are found.
const EXACT: SimDuration = SimDuration::from_millis(1);

/// How long a satellite that is in use can still be used, up to three hours.
pub fn remaining(
    ephemeris: &Ephemeris,
    observer: &Observer,
    satellite: SatelliteId,
) -> SimDuration {
    let usable = |at| observer.sight_at(ephemeris, satellite, at).is_some();
    remaining_while(ephemeris.now(), usable)
}

/// How long something that holds now goes on to hold, up to three hours.
pub(crate) fn remaining_while(now: SimTime, holds: impl Fn(SimTime) -> bool) -> SimDuration {
    let end = now + LONGEST;
    let mut last = now;
    while last < end {
        let next = last + STEP;
        if !holds(next) {
            return change(holds, last, next) - now;
        }
        last = next;
    }
    LONGEST
}

/// The time between two others at which something begins or ceases to hold, within a millisecond.
pub(super) fn change(
    holds: impl Fn(SimTime) -> bool,
    mut from: SimTime,
    mut to: SimTime,
) -> SimTime {
    let before = holds(from);
    while to - from > EXACT {
        let middle = from + (to - from) / 2;
        if holds(middle) == before {
            from = middle;
        } else {
            to = middle;
        }
    }
    to
}
