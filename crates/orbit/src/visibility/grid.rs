//! Satellites sorted by the cell of latitude and longitude that they are over.

use crate::frame::{Angle, Vector};
use crate::motion::{Ephemeris, SatelliteId};

/// Degrees of latitude and longitude of a cell.
const CELL: usize = 5;
const BANDS: usize = 180 / CELL;
const SECTORS: usize = 360 / CELL;
/// The vertical of the ellipsoid is nowhere further from the direction to the Earth's centre (0.193 degrees).
const DEFLECTION: f64 = 0.2;
/// How much a satellite may rise above both ends and the middle of a window, in metres.
const RADIUS_MARGIN: f64 = 5e3;

/// All satellites by the cell of latitude and longitude that they are over.
#[derive(Clone, Debug, Default)]
pub struct SatelliteGrid {
    window: Option<u64>,
    /// The index of each cell's first satellite, and the number of satellites at the end.
    starts: Vec<u32>,
    satellites: Vec<SatelliteId>,
    /// By satellite: the direction in the middle of the window, and the radius that it stays below.
    middles: Vec<(Vector, f64)>,
    largest_radius: f64,
    /// How far around the Earth a satellite moves from the middle of the window to its ends.
    motion: Angle,
}

impl SatelliteGrid {
    /// Sorts the satellites anew if the ephemeris has entered another window.
    pub fn refresh(&mut self, ephemeris: &Ephemeris) {
        if self.window == Some(ephemeris.window()) {
            return;
        }
        self.window = Some(ephemeris.window());
        self.middles.clear();
        self.largest_radius = 0.0;
        let mut cells = Vec::with_capacity(ephemeris.len());
        let mut fastest = 0.0f64;
        for index in 0..ephemeris.len() {
            let satellite = SatelliteId::from(index);
            let middle = ephemeris.middle(satellite);
            let radius = middle.norm();
            let direction = middle * (1.0 / radius);
            cells.push(cell(direction));
            let mut largest = radius;
            for end in ephemeris.ends(satellite) {
                let distance = end.position.norm();
                largest = largest.max(distance);
                fastest = fastest.max(end.velocity.norm() / distance);
            }
            self.middles.push((direction, largest + RADIUS_MARGIN));
            self.largest_radius = self.largest_radius.max(largest + RADIUS_MARGIN);
        }
        // The angular speed of an eccentric orbit changes within a window.
        let half = ephemeris.spacing().as_secs_f64() / 2.0;
        self.motion = Angle::from_radians(1.05 * fastest * half);
        self.sort(&cells);
    }

    /// Counting sort by cell, stable.
    fn sort(&mut self, cells: &[usize]) {
        self.starts.clear();
        self.starts.resize(BANDS * SECTORS + 1, 0);
        for cell in cells {
            self.starts[cell + 1] += 1;
        }
        for cell in 0..BANDS * SECTORS {
            self.starts[cell + 1] += self.starts[cell];
        }
        let mut next = self.starts.clone();
        self.satellites.clear();
        self.satellites.resize(cells.len(), SatelliteId::from(0));
        for (index, &cell) in cells.iter().enumerate() {
            self.satellites[next[cell] as usize] = SatelliteId::from(index);
            next[cell] += 1;
        }
    }

    /// Fills in, by number, the satellites that may be seen above an elevation during the window, from a place that moves
    /// no faster than an angle per half a window.
    pub(super) fn candidates(
        &self,
        place: Vector,
        lowest: Angle,
        moved: Angle,
        out: &mut Vec<SatelliteId>,
    ) {
        out.clear();
        let radius = place.norm();
        let direction = place * (1.0 / radius);
        let margin = self.motion + moved;
        let reach = |largest: f64| reach(radius, largest, lowest) + margin;
        let farthest = reach(self.largest_radius);
        let latitude = Angle::asin(direction.z).degrees();
        let around = farthest.degrees();
        let band =
            |degrees: f64| ((degrees + 90.0) / CELL as f64).clamp(0.0, BANDS as f64 - 1.0) as usize;
        let sectors = sectors(direction, latitude, farthest);
        for band in band(latitude - around)..=band(latitude + around) {
            for sector in sectors.clone() {
                let cell = band * SECTORS + sector % SECTORS;
                let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                out.extend(self.satellites[range].iter().filter(|satellite| {
                    let (middle, largest) = self.middles[satellite.index()];
                    let reach = reach(largest).radians().min(std::f64::consts::PI);
                    middle.dot(direction) >= libm::cos(reach)
                }));
            }
        }
        out.sort_unstable();
    }
}

/// How far around the Earth's centre a satellite below some radius can be seen above an elevation.
pub(super) fn reach(place: f64, satellite: f64, lowest: Angle) -> Angle {
    let elevation = lowest - Angle::from_degrees(DEFLECTION);
    Angle::acos(place / satellite * elevation.cos()) - elevation
}

fn cell(direction: Vector) -> usize {
    let latitude = Angle::asin(direction.z).degrees() + 90.0;
    let longitude = Angle::atan2(direction.y, direction.x).turned_positive().degrees();
    let band = (latitude as usize / CELL).min(BANDS - 1);
    band * SECTORS + (longitude as usize / CELL).min(SECTORS - 1)
}

/// The sectors of longitude that a cap around a direction may reach into; the numbers go on beyond a turn.
fn sectors(direction: Vector, latitude: f64, reach: Angle) -> std::ops::Range<usize> {
    if latitude.abs() + reach.degrees() >= 89.0 {
        return 0..SECTORS;
    }
    let width = Angle::asin(reach.sin() / Angle::from_degrees(latitude).cos()).degrees();
    let longitude = Angle::atan2(direction.y, direction.x).turned_positive().degrees() + 360.0;
    let from = (longitude - width) as usize / CELL;
    let to = (longitude + width) as usize / CELL;
    from..(to + 1).min(from + SECTORS)
}
