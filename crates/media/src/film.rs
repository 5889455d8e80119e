//! The film behind a player: its bitrates and its segments.

use leobench_base::{BitRate, SimDuration};

/// A film, cut into segments that exist in each bitrate.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    /// Bitrates of the encodings, from the lowest to the highest.
    pub ladder: Vec<BitRate>,
    /// How long it is.
    pub length: SimDuration,
    /// Length of a segment.
    pub segment: SimDuration,
}

impl Film {
    /// The number of segments; the last may be shorter than the others.
    pub fn segments(&self) -> u64 {
        self.length.as_nanos().div_ceil(self.segment.as_nanos())
    }

    /// The length of a segment, counted from 0.
    pub fn segment_length(&self, number: u64) -> SimDuration {
        self.segment.min(self.length.saturating_sub(self.segment * number))
    }

    /// Its bitrates in bit/s.
    pub fn bitrates(&self) -> Vec<f64> {
        self.ladder.iter().map(|rate| rate.bps() as f64).collect()
    }
}
