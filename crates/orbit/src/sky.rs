//! The satellites that a place sees, without looking at all of them.
//!
//! Once per window of the ephemeris, a [`SkyGrid`] sorts the satellites by latitude and longitude, and each [`Observer`] takes
//! from it those that may rise above its lowest elevation before the window ends. Per step it looks only at these.

use std::cell::OnceCell;

use leobench_base::SimTime;

use crate::angle::Angle;
use crate::constellation::SatelliteId;
use crate::ephemeris::Ephemeris;
use crate::frame::{Geodetic, Site, Topocentric};
use crate::track::Track;
use crate::vector::Vector;
use crate::view::{GeostationaryArc, View};

/// Degrees of latitude and longitude of a cell.
const CELL: usize = 5;
const BANDS: usize = 180 / CELL;
const SECTORS: usize = 360 / CELL;
/// The vertical of the ellipsoid is nowhere further from the direction to the Earth's centre (0.193 degrees).
const DEFLECTION: f64 = 0.2;
/// How much a satellite may rise above both ends and the middle of a window, in metres.
const RADIUS_MARGIN: f64 = 5e3;

/// A satellite in the sky of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// Which one.
    pub satellite: SatelliteId,
    /// The satellite's direction and range.
    pub look: Topocentric,
}

/// All satellites by the cell of latitude and longitude that they are over.
#[derive(Clone, Debug, Default)]
pub struct SkyGrid {
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

impl SkyGrid {
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
    fn candidates(&self, place: Vector, lowest: Angle, moved: Angle, out: &mut Vec<SatelliteId>) {
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
fn reach(place: f64, satellite: f64, lowest: Angle) -> Angle {
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

/// A place on the ground or along a track, with the part of the sky that it can use.
#[derive(Clone, Debug)]
pub struct Observer {
    track: Track,
    view: View,
    /// Computed when it is first asked for at a place.
    arc: OnceCell<GeostationaryArc>,
    place: Geodetic,
    site: Site,
    window: Option<u64>,
    candidates: Vec<SatelliteId>,
    lowest_sine: f64,
}

impl Observer {
    /// Something that sees a part of the sky.
    pub fn new(track: Track, view: View) -> Self {
        let site = track.site(SimTime::ZERO);
        let (arc, place) = (OnceCell::new(), track.place(SimTime::ZERO));
        let lowest_sine = view.lowest.sin();
        Self { track, view, arc, place, site, window: None, candidates: Vec::new(), lowest_sine }
    }

    /// The observer's place or track.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// The part of the sky that the observer can use.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Its axes, at the last time that it looked.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Follows the time of an ephemeris; call it once per step, after [`SkyGrid::refresh`].
    pub fn follow(&mut self, ephemeris: &Ephemeris, grid: &SkyGrid) {
        if self.track.moves() {
            self.site = self.track.site(ephemeris.now());
            self.place = self.track.place(ephemeris.now());
            self.arc = OnceCell::new();
        }
        if self.window == Some(ephemeris.window()) {
            return;
        }
        self.window = Some(ephemeris.window());
        let place = self.site.position();
        // Wherever in the window it is now, the other end is a whole window away.
        let way = self.track.fastest() * ephemeris.spacing().as_secs_f64() / place.norm();
        let moved = Angle::from_radians(way);
        grid.candidates(place, self.view.lowest, moved, &mut self.candidates);
    }

    /// Fills in the satellites that can be used now, by number.
    pub fn look(&self, ephemeris: &Ephemeris, out: &mut Vec<Sighting>) {
        out.clear();
        out.extend(
            self.candidates.iter().filter_map(|&satellite| self.sight(ephemeris, satellite)),
        );
    }

    /// A satellite in the sky now, if it can be used.
    pub fn sight(&self, ephemeris: &Ephemeris, satellite: SatelliteId) -> Option<Sighting> {
        let (sine, _) = self.site.elevation_sine(ephemeris.position(satellite));
        if sine < self.lowest_sine {
            return None;
        }
        let look = self.site.look(&ephemeris.state(satellite));
        self.admits(&look, || self.arc()).then_some(Sighting { satellite, look })
    }

    /// A satellite in the sky at any time, from its orbit itself, if it can be used; one without an orbit cannot.
    pub fn sight_at(
        &self,
        ephemeris: &Ephemeris,
        satellite: SatelliteId,
        at: SimTime,
    ) -> Option<Sighting> {
        let state = ephemeris.exact(satellite, at).ok()?;
        let moves = self.track.moves();
        let site = if moves { self.track.site(at) } else { self.site };
        let look = site.look(&state);
        if look.elevation < self.view.lowest {
            return None;
        }
        let then = OnceCell::new();
        let arc_then = || then.get_or_init(|| GeostationaryArc::new(&self.track.place(at)));
        let usable =
            if moves { self.admits(&look, arc_then) } else { self.admits(&look, || self.arc()) };
        usable.then_some(Sighting { satellite, look })
    }

    /// How far a direction is from the arc of the geostationary satellites.
    pub fn arc_separation(&self, look: &Topocentric) -> Angle {
        self.arc().separation(look)
    }

    fn arc(&self) -> &GeostationaryArc {
        self.arc.get_or_init(|| GeostationaryArc::new(&self.place))
    }

    fn admits<'a>(&self, look: &Topocentric, arc: impl FnOnce() -> &'a GeostationaryArc) -> bool {
        self.view.admits(look) && self.view.arc.is_none_or(|least| arc().separation(look) >= least)
    }
}

#[cfg(test)]
mod tests;
