//! Links between satellites: which ones a shell builds (+grid), and when they can be used.

use crate::error::FileError;
use crate::frame::{Angle, EQUATOR_RADIUS, Vector};
use crate::motion::{Constellation, Pattern, PlacedShell, SatelliteId};

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

/// The +grid of all shells: each satellite has links to the one before and behind in its plane, and to the nearest one by phase
/// in either neighbouring plane. A star has none across its seam. Shells are not connected with each other.
pub fn plus_grid(constellation: &Constellation) -> Vec<Isl> {
    let mut links = Vec::new();
    for placed in constellation.shells() {
        for plane in 0..placed.shell.planes {
            for slot in 0..placed.shell.per_plane {
                let from = placed.satellite(plane, slot);
                links.extend(behind(placed, plane, slot).map(|to| Isl { from, to, across: false }));
                links.extend(beside(placed, plane, slot).map(|to| Isl { from, to, across: true }));
            }
        }
    }
    links
}

/// The next satellite in the same plane; a plane of two has one link.
fn behind(placed: &PlacedShell, plane: usize, slot: usize) -> Option<SatelliteId> {
    let ring = match placed.shell.per_plane {
        1 => false,
        2 => slot == 0,
        _ => true,
    };
    ring.then(|| placed.satellite(plane, slot + 1))
}

/// The satellite in the next plane that is nearest by phase: neighbouring planes are F/P slots apart, and around the whole
/// equator that adds up to F slots.
fn beside(placed: &PlacedShell, plane: usize, slot: usize) -> Option<SatelliteId> {
    let shell = &placed.shell;
    let around = shell.spacing().degrees() * shell.planes as f64;
    let closes = shell.pattern == Pattern::Delta && (around - 360.0).abs() < 1e-6;
    let last = plane + 1 == shell.planes;
    if shell.planes == 1 || (last && (!closes || shell.planes == 2)) {
        return None;
    }
    let total = shell.total();
    let ahead = (2 * shell.phasing + shell.planes) / (2 * shell.planes);
    let wrapped = if last { shell.phasing } else { 0 };
    let slot = (slot + wrapped + total * shell.per_plane - ahead) % shell.per_plane;
    Some(placed.satellite(plane + 1, slot))
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
