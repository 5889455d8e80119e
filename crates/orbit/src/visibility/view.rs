//! The part of the sky that a terminal can use.

use crate::frame::{Angle, Geodetic, Site, State, Topocentric, Vector, separation};

/// The radius of the geostationary orbit, in metres: one turn in a sidereal day.
const GEOSTATIONARY_RADIUS: f64 = 42_164_172.0;
/// Between two points of the arc of geostationary satellites.
const ARC_STEP: f64 = 1.0;

/// A dish that is tilted and can steer its beam so far from where it points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dish {
    /// Azimuth of its axis: from north over east.
    pub azimuth: Angle,
    /// Elevation of its axis above the horizon.
    pub elevation: Angle,
    /// How far from its axis the beam reaches.
    pub half_angle: Angle,
}

/// Obstructions around a terminal: the lowest free elevation over equal sectors of azimuth, the first one from north.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Obstructions {
    sectors: Vec<Angle>,
}

impl Obstructions {
    /// Lowest free elevations in degrees over as many equal sectors.
    ///
    /// # Errors
    /// If one is not from 0 to 90.
    pub fn new(sectors: &[f64]) -> Result<Self, String> {
        match sectors.iter().find(|elevation| !(0.0..=90.0).contains(*elevation)) {
            Some(elevation) => {
                Err(format!("obstruction of {elevation} degrees is not from 0 to 90"))
            }
            None => Ok(Self { sectors: sectors.iter().map(|&d| Angle::from_degrees(d)).collect() }),
        }
    }

    /// Whether a direction is free.
    pub fn admits(&self, look: &Topocentric) -> bool {
        let count = self.sectors.len();
        let sector = (look.azimuth.degrees() / 360.0 * count as f64) as usize;
        self.sectors
            .get(sector.min(count.saturating_sub(1)))
            .is_none_or(|free| look.elevation >= *free)
    }
}

/// The part of the sky that a terminal can use.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The lowest elevation.
    pub lowest: Angle,
    /// The reach of a tilted dish, if it has one.
    pub dish: Option<Dish>,
    /// Obstructions around the terminal.
    pub obstructions: Obstructions,
    /// How close to the arc of the geostationary satellites it may point, if that is limited.
    pub arc: Option<Angle>,
    /// The longest range, in metres; infinite without such a limit.
    pub longest_m: f64,
}

impl View {
    /// Everything above an elevation.
    pub fn above(lowest: Angle) -> Self {
        let obstructions = Obstructions::default();
        Self { lowest, dish: None, obstructions, arc: None, longest_m: f64::INFINITY }
    }

    /// Whether a satellite at or above the lowest elevation can be used, the arc aside.
    pub fn admits(&self, look: &Topocentric) -> bool {
        look.range_m <= self.longest_m
            && self.obstructions.admits(look)
            && self.dish.is_none_or(|dish| dish.reaches(look))
    }
}

impl Dish {
    fn reaches(&self, look: &Topocentric) -> bool {
        let cos = self.elevation.cos();
        let axis =
            Vector::new(cos * self.azimuth.sin(), cos * self.azimuth.cos(), self.elevation.sin());
        separation(axis, look.direction()) <= self.half_angle
    }
}

/// The arc of the geostationary satellites above the horizon of a place, which depends on its latitude only.
#[derive(Clone, Debug, Default)]
pub struct GeostationaryArc {
    /// Directions as east, north, up; west to east.
    directions: Vec<Vector>,
}

impl GeostationaryArc {
    /// The arc as a place sees it; near the poles there is none.
    pub fn new(place: &Geodetic) -> Self {
        let site = Geodetic { longitude: Angle::ZERO, ..*place };
        let axes = Site::new(&site, Vector::default());
        let look = |degrees: f64| {
            let longitude = Angle::from_degrees(degrees);
            let position =
                Vector::new(longitude.cos(), longitude.sin(), 0.0) * GEOSTATIONARY_RADIUS;
            axes.look(&State { position, velocity: Vector::default() }).direction()
        };
        // Where the arc meets the plane of the horizon.
        let horizon = axes.position().dot(axes.up()) / (GEOSTATIONARY_RADIUS * axes.up().x);
        if !(0.0..1.0).contains(&horizon) {
            return Self::default();
        }
        let end = Angle::acos(horizon).degrees();
        let steps = (end / ARC_STEP).ceil() as i32 - 1;
        let inner = (-steps..=steps).map(|step| f64::from(step) * ARC_STEP);
        let longitudes = std::iter::once(-end).chain(inner).chain(std::iter::once(end));
        Self { directions: longitudes.map(look).collect() }
    }

    /// How far a direction is from the arc; a straight angle if there is no arc.
    pub fn separation(&self, look: &Topocentric) -> Angle {
        let direction = look.direction();
        let nearest = (0..self.directions.len()).max_by(|&one, &other| {
            direction.dot(self.directions[one]).total_cmp(&direction.dot(self.directions[other]))
        });
        let Some(nearest) = nearest else {
            return Angle::from_degrees(180.0);
        };
        let at = self.directions[nearest];
        [nearest.checked_sub(1), Some(nearest + 1)]
            .into_iter()
            .filter_map(|next| self.directions.get(next?))
            .map(|next| separation_from_piece(direction, at, *next))
            .fold(
                separation(direction, at),
                |least, other| if other < least { other } else { least },
            )
    }
}

/// The angle between a direction and the nearest point of the great circle's piece between two close ones.
fn separation_from_piece(direction: Vector, from: Vector, to: Vector) -> Angle {
    let along = to - from;
    let share = ((direction - from).dot(along) / along.dot(along)).clamp(0.0, 1.0);
    separation(direction, (from + along * share).unit())
}
