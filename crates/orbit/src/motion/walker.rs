//! Walker shells: circular orbits of one altitude and inclination in equally spaced planes.

use std::f64::consts::TAU;

use super::orbit::{CircularElements, CircularOrbit, Orbit};
use super::satellite::Satellite;
use crate::frame::{Angle, EQUATOR_RADIUS, Epoch};

/// How the planes of a shell are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Nodes around the whole equator.
    Delta,
    /// Nodes around half of it: on the other half the same planes come down. Between the first and the last plane, neighbours
    /// move in opposite directions (the seam).
    Star,
}

/// A Walker shell i: T/P/F (Walker 1984, Satellite constellations): T satellites in P planes; satellites of neighbouring
/// planes are F 360/T degrees apart along their orbits.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// Start of the satellites' names.
    pub name: String,
    /// Delta or star.
    pub pattern: Pattern,
    /// Above the Earth's radius at the equator, in metres.
    pub altitude_m: f64,
    /// Of all planes.
    pub inclination: Angle,
    /// Number of planes, P.
    pub planes: usize,
    /// Satellites in each plane, T/P.
    pub per_plane: usize,
    /// The phasing factor F; for a delta below P.
    pub phasing: usize,
    /// Between the nodes of neighbouring planes, if not 360/P (delta) or 180/P (star) degrees.
    pub node_spacing: Option<Angle>,
    /// The right ascension of the first plane's node.
    pub first_node: Angle,
    /// The argument of latitude of the first plane's first satellite.
    pub first_argument: Angle,
}

impl Shell {
    /// A Walker delta shell; altitude in kilometres, inclination in degrees.
    pub fn delta(
        name: &str,
        altitude: f64,
        inclination: f64,
        planes: usize,
        per_plane: usize,
    ) -> Self {
        Self {
            name: name.to_owned(),
            pattern: Pattern::Delta,
            altitude_m: altitude * 1e3,
            inclination: Angle::from_degrees(inclination),
            planes,
            per_plane,
            phasing: 0,
            node_spacing: None,
            first_node: Angle::ZERO,
            first_argument: Angle::ZERO,
        }
    }

    /// A Walker star shell; altitude in kilometres, inclination in degrees.
    pub fn star(
        name: &str,
        altitude: f64,
        inclination: f64,
        planes: usize,
        per_plane: usize,
    ) -> Self {
        Self {
            pattern: Pattern::Star,
            ..Self::delta(name, altitude, inclination, planes, per_plane)
        }
    }

    /// The same with another phasing factor.
    pub fn phased(self, phasing: usize) -> Self {
        Self { phasing, ..self }
    }

    /// Why it is no shell, if it is none.
    ///
    /// # Errors
    /// The value that is refused, and those that are allowed.
    pub fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if self.planes == 0 || self.per_plane == 0 {
            return Err(format!(
                "shell {name} has no satellites: it needs at least one plane with one satellite"
            ));
        }
        if self.planes.saturating_mul(self.per_plane) > 1_000_000 {
            return Err(format!("shell {name} has more than a million satellites"));
        }
        if self.phasing >= self.planes * self.per_plane {
            let total = self.planes * self.per_plane;
            return Err(format!("shell {name}: the phasing factor must be below {total}"));
        }
        if !(100e3..=100_000e3).contains(&self.altitude_m) {
            let altitude = self.altitude_m / 1e3;
            return Err(format!(
                "shell {name}: altitude {altitude} km is not from 100 to 100000 km"
            ));
        }
        if !(0.0..=180.0).contains(&self.inclination.degrees()) {
            let inclination = self.inclination.degrees();
            return Err(format!(
                "shell {name}: inclination {inclination} is not from 0 to 180 degrees"
            ));
        }
        Ok(())
    }

    /// Number of satellites, T.
    pub fn total(&self) -> usize {
        self.planes * self.per_plane
    }

    /// Between the nodes of neighbouring planes.
    pub fn spacing(&self) -> Angle {
        let around = match self.pattern {
            Pattern::Delta => 360.0,
            Pattern::Star => 180.0,
        };
        self.node_spacing.unwrap_or(Angle::from_degrees(around / self.planes as f64))
    }

    /// The elements of the satellite in a plane and a slot.
    pub fn elements(&self, plane: usize, slot: usize) -> CircularElements {
        let share = slot as f64 / self.per_plane as f64
            + (plane * self.phasing) as f64 / self.total() as f64;
        CircularElements {
            altitude_m: self.altitude_m,
            inclination: self.inclination,
            node: self.first_node + self.spacing() * plane as f64,
            argument: self.first_argument + Angle::from_radians(share * TAU),
        }
    }

    /// All satellites, plane by plane, with names such as `starlink-550/12-3` (plane and slot).
    pub fn satellites(&self, epoch: Epoch, with_j2: bool) -> impl Iterator<Item = Satellite> + '_ {
        (0..self.planes).flat_map(move |plane| {
            (0..self.per_plane).map(move |slot| Satellite {
                name: format!("{}/{plane}-{slot}", self.name),
                orbit: Orbit::Circular(CircularOrbit::new(
                    &self.elements(plane, slot),
                    epoch,
                    with_j2,
                )),
            })
        })
    }

    /// The smallest distance that two of its satellites ever have, in metres.
    ///
    /// The cosine of the angle between two satellites of circular orbits with equal inclination is a constant plus a term of
    /// twice the argument of latitude, so its largest value is known without searching.
    pub fn smallest_distance_m(&self) -> f64 {
        let (sin, cos) = (self.inclination.sin(), self.inclination.cos());
        let mut largest = -1.0f64;
        for plane in 0..self.planes {
            let node = self.spacing() * plane as f64;
            let (node_sin, node_cos) = (node.sin(), node.cos());
            let across = cos * cos * node_cos + sin * sin;
            for slot in 0..self.per_plane {
                if (plane, slot) == (0, 0) {
                    continue;
                }
                let ahead = self.elements(plane, slot).argument - self.elements(0, 0).argument;
                let constant =
                    (node_cos + across) * ahead.cos() - 2.0 * cos * node_sin * ahead.sin();
                largest = largest.max(0.5 * (constant + (node_cos - across).abs()));
            }
        }
        let radius = EQUATOR_RADIUS + self.altitude_m;
        radius * (2.0 * (1.0 - largest)).max(0.0).sqrt()
    }
}
