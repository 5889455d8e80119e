//! Frames: the inertial one of orbits (TEME), the one that turns with the Earth (ECEF), and the sky of a place.

use leobench_base::SimDuration;

use super::angle::Angle;
use super::epoch::Epoch;
use super::vector::Vector;

/// The speed of light in a vacuum, in metres per second.
pub const LIGHT_SPEED: f64 = 299_792_458.0;
/// The Earth's radius at the equator, in metres (WGS84).
pub const EQUATOR_RADIUS: f64 = 6_378_137.0;
/// The Earth's flattening (WGS84).
pub const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// The Earth's turn in radians per second of UT1 (IERS Conventions 1996).
pub const EARTH_TURN: f64 = 7.292_115_146_706_979e-5;

/// The time that light takes over a distance in metres, in whole nanoseconds.
pub fn light_delay(distance_m: f64) -> SimDuration {
    SimDuration::from_nanos((distance_m / LIGHT_SPEED * 1e9).round() as u64)
}

/// The square of the ellipsoid's eccentricity.
const ECCENTRICITY2: f64 = FLATTENING * (2.0 - FLATTENING);

/// A position and a velocity, in metres and metres per second, in a frame that the context names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// In metres.
    pub position: Vector,
    /// In metres per second.
    pub velocity: Vector,
}

impl State {
    /// From the inertial frame (TEME) into the one that turns with the Earth (ECEF, without polar motion).
    pub fn to_ecef(self, at: Epoch) -> Self {
        let angle = at.sidereal_angle();
        let (cos, sin) = (angle.cos(), angle.sin());
        let position = self.position.turned_about_z(cos, -sin);
        let turned = self.velocity.turned_about_z(cos, -sin);
        let velocity = turned - Vector::new(-position.y, position.x, 0.0) * EARTH_TURN;
        Self { position, velocity }
    }

    /// From the frame that turns with the Earth into the inertial one.
    pub fn to_teme(self, at: Epoch) -> Self {
        let angle = at.sidereal_angle();
        let (cos, sin) = (angle.cos(), angle.sin());
        let moved = Vector::new(-self.position.y, self.position.x, 0.0) * EARTH_TURN;
        Self {
            position: self.position.turned_about_z(cos, sin),
            velocity: (self.velocity + moved).turned_about_z(cos, sin),
        }
    }
}

/// A place by its coordinates on the ellipsoid WGS84.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geodetic {
    /// North is positive.
    pub latitude: Angle,
    /// East is positive.
    pub longitude: Angle,
    /// Above the ellipsoid, in metres.
    pub altitude_m: f64,
}

impl Geodetic {
    /// A place from degrees and metres.
    pub const fn from_degrees(latitude: f64, longitude: f64, altitude_m: f64) -> Self {
        Self {
            latitude: Angle::from_degrees(latitude),
            longitude: Angle::from_degrees(longitude),
            altitude_m,
        }
    }

    /// Refuses what is no place on the ground or in the air. The Dead Sea's shore lies 430 m below the sea.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (latitude, longitude) = (self.latitude.degrees(), self.longitude.degrees());
        let altitude = self.altitude_m;
        if latitude.is_nan() || latitude.abs() > 90.0 + 1e-9 {
            Err(format!("latitude {latitude} is not from -90 to 90 degrees"))
        } else if longitude.is_nan() || longitude.abs() > 360.0 {
            Err(format!("longitude {longitude} is not from -360 to 360 degrees"))
        } else if !(-500.0..=100_000.0).contains(&altitude) {
            let reason = if altitude < 0.0 { "below ground" } else { "too high for a terminal" };
            Err(format!("altitude {altitude} m is {reason}: from -500 to 100000 m"))
        } else {
            Ok(())
        }
    }

    /// The direction of the vertical.
    pub fn up(&self) -> Vector {
        let cos = self.latitude.cos();
        Vector::new(cos * self.longitude.cos(), cos * self.longitude.sin(), self.latitude.sin())
    }

    /// The position in the frame that turns with the Earth, in metres.
    pub fn to_ecef(&self) -> Vector {
        let up = self.up();
        let normal = EQUATOR_RADIUS / (1.0 - ECCENTRICITY2 * up.z * up.z).sqrt();
        let equatorial = normal + self.altitude_m;
        let polar = normal * (1.0 - ECCENTRICITY2) + self.altitude_m;
        Vector::new(equatorial * up.x, equatorial * up.y, polar * up.z)
    }

    /// The place of a position in the frame that turns with the Earth (Bowring 1976, repeated until it stands still).
    pub fn from_ecef(position: Vector) -> Self {
        let radius = (position.x * position.x + position.y * position.y).sqrt();
        let polar_radius = EQUATOR_RADIUS * (1.0 - FLATTENING);
        let second = ECCENTRICITY2 / (1.0 - ECCENTRICITY2);
        let mut reduced = libm::atan2(position.z, radius * (1.0 - FLATTENING));
        let mut latitude = 0.0;
        for _ in 0..4 {
            let (sin, cos) = (libm::sin(reduced), libm::cos(reduced));
            latitude = libm::atan2(
                position.z + second * polar_radius * sin * sin * sin,
                radius - ECCENTRICITY2 * EQUATOR_RADIUS * cos * cos * cos,
            );
            reduced = libm::atan2((1.0 - FLATTENING) * libm::sin(latitude), libm::cos(latitude));
        }
        let (sin, cos) = (libm::sin(latitude), libm::cos(latitude));
        let normal = EQUATOR_RADIUS / (1.0 - ECCENTRICITY2 * sin * sin).sqrt();
        // Of the two expressions, the one that does not divide by almost nothing.
        let altitude_m = if cos > 0.7 {
            radius / cos - normal
        } else {
            position.z / sin - normal * (1.0 - ECCENTRICITY2)
        };
        Self {
            latitude: Angle::from_radians(latitude),
            longitude: Angle::atan2(position.y, position.x),
            altitude_m,
        }
    }
}

/// A place with the axes of its sky.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    position: Vector,
    velocity: Vector,
    east: Vector,
    north: Vector,
    up: Vector,
}

impl Site {
    /// A place on the ground, or one moving over it at a velocity in the frame that turns with the Earth.
    pub fn new(place: &Geodetic, velocity: Vector) -> Self {
        let (sin, cos) = (place.longitude.sin(), place.longitude.cos());
        let up = place.up();
        let east = Vector::new(-sin, cos, 0.0);
        Self { position: place.to_ecef(), velocity, east, north: up.cross(east), up }
    }

    /// In the frame that turns with the Earth, in metres.
    pub fn position(&self) -> Vector {
        self.position
    }

    /// The direction of the vertical.
    pub fn up(&self) -> Vector {
        self.up
    }

    /// A direction of the place's sky (east, north, up) in the frame that turns with the Earth.
    pub fn from_local(&self, direction: Vector) -> Vector {
        self.east * direction.x + self.north * direction.y + self.up * direction.z
    }

    /// The sine of the elevation at which a position is seen, and its distance in metres.
    pub fn elevation_sine(&self, position: Vector) -> (f64, f64) {
        let sight = position - self.position;
        let range = sight.norm();
        (sight.dot(self.up) / range, range)
    }

    /// Azimuth, elevation, range and range rate of a state (in the frame that turns with the Earth), without refraction
    /// or light travel time.
    pub fn look(&self, state: &State) -> Topocentric {
        let sight = state.position - self.position;
        let range_m = sight.norm();
        let (east, north) = (sight.dot(self.east), sight.dot(self.north));
        Topocentric {
            azimuth: Angle::atan2(east, north).turned_positive(),
            elevation: Angle::asin(sight.dot(self.up) / range_m),
            range_m,
            range_rate: sight.dot(state.velocity - self.velocity) / range_m,
        }
    }
}

/// A direction and a distance in the sky of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Topocentric {
    /// From north over east, from 0 to below 360 degrees.
    pub azimuth: Angle,
    /// Above the horizon of the ellipsoid.
    pub elevation: Angle,
    /// The slant range, in metres.
    pub range_m: f64,
    /// How fast the range grows, in metres per second.
    pub range_rate: f64,
}

impl Topocentric {
    /// The time that light takes, in seconds.
    pub fn delay_s(&self) -> f64 {
        self.range_m / LIGHT_SPEED
    }

    /// By how much a carrier is received higher than it is sent, in its own unit (first order in v/c).
    pub fn doppler(&self, carrier: f64) -> f64 {
        -self.range_rate / LIGHT_SPEED * carrier
    }

    /// The direction as a vector of length 1: east, north, up.
    pub fn direction(&self) -> Vector {
        let cos = self.elevation.cos();
        Vector::new(cos * self.azimuth.sin(), cos * self.azimuth.cos(), self.elevation.sin())
    }
}
