//! Algorithm 3: which losses are congestion (equation 17), and how windows grow (equation 26).

use super::bdp::Bdp;
use super::{Capacity, MaxScope};

/// Equation 17 compares with a rate by the link budget, and a sender alone on its link delivers exactly that. Rounding of times
/// to nanoseconds must not decide: it is below one in a million for samples of a millisecond and more.
const ROUNDING: f64 = 1e-6;

/// A path, as equation 26 sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathRate {
    /// Packets of the window per second (`x`).
    pub rate: f64,
    /// Round-trip time in seconds (`tau`).
    pub rtt: f64,
    /// The root of the longest round-trip time in seconds (`sqrt(T)`).
    pub root_longest: f64,
}

/// Packets by which a packet lets the window of a path grow beside others (equation 26): with `S` the sum of the rates of all
/// paths, `3 max(x² sqrt(T)) / (2 tau S^(5/2))`. Without a rate, none. The unit of time cancels.
pub(super) fn increase(
    scope: MaxScope,
    own: PathRate,
    others: impl Iterator<Item = PathRate>,
) -> f64 {
    let term = |path: PathRate| {
        let square = path.rate * path.rate;
        match scope {
            MaxScope::Rate => square,
            MaxScope::LongestRtt => square * path.root_longest,
            MaxScope::Rtt => square * path.root_longest / (path.rtt * path.rtt),
        }
    };
    let (mut sum, mut largest) = (own.rate, term(own));
    for path in others {
        sum += path.rate;
        largest = largest.max(term(path));
    }
    if sum <= 0.0 {
        return 0.0;
    }
    let numerator = match scope {
        MaxScope::Rate => largest * own.root_longest / own.rtt,
        MaxScope::LongestRtt => largest / own.rtt,
        MaxScope::Rtt => largest * own.rtt,
    };
    1.5 * numerator / (sum * sum * libm::sqrt(sum))
}

/// Whether a loss is one of congestion: `h_r` of equation 17. A path that has too few measurements to tell takes every loss
/// for one.
pub(super) fn is_congestion(bdp: &Bdp, capacity: Capacity) -> bool {
    if !bdp.is_served {
        // Equation 3 without a satellite: no rate is below zero.
        return false;
    }
    let (Some(measured), Some(rtt)) = (bdp.measured, bdp.rtt) else { return true };
    let below_access = bdp.access.map(|access| measured.sample < access * (1.0 - ROUNDING));
    // The estimate is one of what the sample measures: a sample as high as expected is not above it.
    let below_measured = measured
        .before
        .map(|before| measured.sample <= before + measured.spread.max(before * ROUNDING));
    let slower = match (capacity, below_access, below_measured) {
        (Capacity::Minimum, Some(access), Some(measured)) => access && measured,
        (_, access, measured) => access.or(measured).unwrap_or(true),
    };
    slower && rtt.latest.as_secs_f64() > bdp.delay_before + bdp.deviation.get()
}
