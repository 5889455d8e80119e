//! Links between satellites, and when they can be used.

use crate::error::FileError;
use crate::frame::{Angle, EQUATOR_RADIUS, Vector};
use crate::motion::SatelliteId;

/// A link between two satellites, usable both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Isl {
    /// One end.
    pub from: SatelliteId,
    /// The other end.
    pub to: SatelliteId,
    /// Whether it leads into another plane.
    pub across: bool,
}

impl Isl {
    /// Both ends, the one with the lower number first.
    pub fn ends(&self) -> [SatelliteId; 2] {
        [self.from.min(self.to), self.from.max(self.to)]
    }
}

/// When links between satellites can be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The longest link, in metres.
    pub longest_m: f64,
    /// How far above the ellipsoid's equator radius a beam has to stay, in metres: the air bends and absorbs it.
    pub clearance_m: f64,
    /// Beyond this latitude, north and south, links into other planes are off, as polar orbits cross there.
    pub highest_latitude: Option<Angle>,
}

impl Default for Limits {
    /// No limit but the Earth with 80 km of air (the mesosphere's top, as in Hypatia's choice of the longest link).
    fn default() -> Self {
        Self { longest_m: f64::INFINITY, clearance_m: 80e3, highest_latitude: None }
    }
}

impl Limits {
    /// Whether a link can be used between two positions in the frame of the Earth.
    pub fn admit(&self, across: bool, from: Vector, to: Vector) -> bool {
        let polar = |position: Vector| {
            self.highest_latitude
                .is_some_and(|most| position.z.abs() > most.sin() * position.norm())
        };
        (to - from).norm() <= self.longest_m
            && from.closest_to_origin(to) >= EQUATOR_RADIUS + self.clearance_m
            && !(across && (polar(from) || polar(to)))
    }
}

/// Reads links from a file of pairs of satellite numbers, one link a line, as Hypatia writes them (`isls.txt`).
///
/// # Errors
/// The first line that is wrong, and what would be right.
pub fn read_pairs(file: &str, text: &str, satellites: usize) -> Result<Vec<Isl>, FileError> {
    let mut links = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |problem: String| FileError::line(file, number, problem);
        let ends: Option<Vec<usize>> =
            line.split_whitespace().map(|word| word.parse().ok()).collect();
        let Some([from, to]) = ends.as_deref() else {
            return Err(wrong(format!(
                "a link is two satellite numbers, such as `0 1`, found {line:?}"
            )));
        };
        if let Some(end) = [from, to].into_iter().find(|end| **end >= satellites) {
            return Err(wrong(format!("satellite {end} is not below {satellites}")));
        }
        if from == to {
            return Err(wrong(format!("satellite {from} is linked to itself")));
        }
        links.push(Isl { from: (*from).into(), to: (*to).into(), across: false });
    }
    Ok(links)
}
