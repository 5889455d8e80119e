//! The film behind a player: its bitrates and its segments.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, SimDuration};

/// Segments of a film at most.
pub const MOST_SEGMENTS: u64 = 65_535;

/// Length of a segment at least.
const SHORTEST: SimDuration = SimDuration::from_millis(10);

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
    /// Checks whether it can be played.
    ///
    /// # Errors
    /// The first of its fields that cannot be.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let Self { ladder, length, segment } = self;
        if ladder.is_empty() {
            return Err(Fault::new("ladder", "is empty", "at least one bitrate"));
        }
        if ladder.iter().any(|rate| rate.is_zero()) {
            return Err(Fault::new("ladder", "has a bitrate of zero", "bitrates above zero"));
        }
        if ladder.windows(2).any(|pair| pair[0] >= pair[1]) {
            let problem = "does not rise from the lowest to the highest bitrate";
            return Err(Fault::new("ladder", problem, "each bitrate above the one before"));
        }
        if *segment < SHORTEST {
            return Err(Fault::new("segment", "is too short", format!("{SHORTEST} or more")));
        }
        if length < segment {
            let problem = format!("is shorter than a segment of {segment}");
            return Err(Fault::new("length", problem, "at least a segment"));
        }
        let segments = self.segments();
        if segments > MOST_SEGMENTS {
            let problem = format!("makes {segments} segments");
            return Err(Fault::new("length", problem, format!("at most {MOST_SEGMENTS} segments")));
        }
        Ok(())
    }

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
