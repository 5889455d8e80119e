//! Orbits: the state of a satellite at any instant, in the inertial frame.

use crate::frame::{Angle, EQUATOR_RADIUS, Epoch, State, Vector};

/// The Earth's gravitational parameter, in m³/s² (WGS84).
pub const GRAVITY: f64 = 3.986_004_418e14;
/// The second zonal harmonic of the Earth's field (EGM96).
pub const J2: f64 = 1.082_626_68e-3;

/// An orbit could not be evaluated: the satellite has decayed, or its elements diverge so far from their epoch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("satellite {satellite} has no orbit at {at}: {problem}; use elements of a later epoch")]
pub struct OrbitError {
    /// The satellite's name.
    pub satellite: String,
    /// When.
    pub at: Epoch,
    /// Why, in SGP4's words.
    pub problem: String,
}

/// How a satellite moves.
#[derive(Clone, Debug)]
pub enum Orbit {
    /// A circular orbit in closed form.
    Circular(CircularOrbit),
    /// Mean elements with the theory that they are made for.
    Sgp4(Box<Sgp4Orbit>),
}

impl Orbit {
    /// The state in the inertial frame.
    ///
    /// # Errors
    /// In SGP4's words, if the elements have no orbit there.
    pub fn state(&self, at: Epoch) -> Result<State, String> {
        match self {
            Self::Circular(orbit) => Ok(orbit.state(at)),
            Self::Sgp4(orbit) => orbit.state(at),
        }
    }
}

/// A circular orbit: two bodies, and on request the mean drift that the Earth's flattening causes.
///
/// With J2, the node drifts by -3/2 J2 (R/a)² n cos i, and the argument of latitude gains 3/2 J2 (R/a)² n (3 - 4 sin² i)
/// (the secular rates of Kozai 1959 for zero eccentricity, perigee and anomaly added up).
#[derive(Clone, Debug)]
pub struct CircularOrbit {
    epoch: Epoch,
    radius: f64,
    inclination: (f64, f64),
    node: f64,
    pub(super) node_rate: f64,
    argument: f64,
    argument_rate: f64,
}

/// The elements of a circular orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircularElements {
    /// Above the Earth's radius at the equator, in metres.
    pub altitude_m: f64,
    /// To the equator; above 90 degrees against the turn of the Earth.
    pub inclination: Angle,
    /// The right ascension of the ascending node.
    pub node: Angle,
    /// The argument of latitude: from the ascending node along the orbit.
    pub argument: Angle,
}

impl CircularOrbit {
    /// The orbit that has the elements at the epoch.
    pub fn new(elements: &CircularElements, epoch: Epoch, with_j2: bool) -> Self {
        let radius = EQUATOR_RADIUS + elements.altitude_m;
        let motion = (GRAVITY / (radius * radius * radius)).sqrt();
        let (sin, cos) = (elements.inclination.sin(), elements.inclination.cos());
        let flattening = if with_j2 {
            1.5 * J2 * (EQUATOR_RADIUS / radius) * (EQUATOR_RADIUS / radius)
        } else {
            0.0
        };
        Self {
            epoch,
            radius,
            inclination: (sin, cos),
            node: elements.node.radians(),
            node_rate: -flattening * motion * cos,
            argument: elements.argument.radians(),
            argument_rate: motion * (1.0 + flattening * (3.0 - 4.0 * sin * sin)),
        }
    }

    /// The state in the inertial frame.
    pub fn state(&self, at: Epoch) -> State {
        let seconds = at.seconds_since(self.epoch);
        let argument = self.argument + self.argument_rate * seconds;
        let node = self.node + self.node_rate * seconds;
        let (sin, cos) = (libm::sin(argument), libm::cos(argument));
        let (node_sin, node_cos) = (libm::sin(node), libm::cos(node));
        let (tilt_sin, tilt_cos) = self.inclination;
        let ahead = Vector::new(node_cos, node_sin, 0.0);
        let aside = Vector::new(-node_sin * tilt_cos, node_cos * tilt_cos, tilt_sin);
        let position = (ahead * cos + aside * sin) * self.radius;
        let drift = Vector::new(-position.y, position.x, 0.0) * self.node_rate;
        let speed = self.radius * self.argument_rate;
        State { position, velocity: (aside * cos - ahead * sin) * speed + drift }
    }

    /// The time of one revolution from node to node, in seconds.
    pub fn period_s(&self) -> f64 {
        std::f64::consts::TAU / self.argument_rate
    }
}

/// SGP4's positions are rounded to this, in metres.
///
/// The library computes with the functions of the C library wherever another crate turns on `std` of `num-traits` (as
/// `arrow-array` does). Their last digit depends on the machine; it moves a satellite by some nanometres. Rounding takes that
/// away but for a few of a hundred million values, and is far below SGP4's own error of a kilometre.
const POSITION_GRAIN: f64 = 1.0 / 8.0;
/// SGP4's velocities are rounded to this, in metres per second: 7 mm between two knots a minute apart.
const VELOCITY_GRAIN: f64 = 1.0 / 8192.0;

/// Mean elements with SGP4 on WGS72, which public element sets are made with; Lyddane's correction for deep space in the
/// improved form, as in Python's `sgp4` and in skyfield.
#[derive(Clone, Debug)]
pub struct Sgp4Orbit {
    epoch: Epoch,
    constants: sgp4::Constants,
}

impl Sgp4Orbit {
    /// Constants of the theory, valid from an epoch.
    pub fn new(epoch: Epoch, constants: sgp4::Constants) -> Self {
        Self { epoch, constants }
    }

    /// The state in the inertial frame.
    ///
    /// # Errors
    /// In SGP4's words, if the elements have no orbit there.
    pub fn state(&self, at: Epoch) -> Result<State, String> {
        let minutes = sgp4::MinutesSinceEpoch(at.seconds_since(self.epoch) / 60.0);
        let prediction = self.constants.propagate(minutes).map_err(|error| error.to_string())?;
        let position = grains(prediction.position, POSITION_GRAIN);
        if position.norm() < EQUATOR_RADIUS {
            return Err("the satellite is below the ground".to_owned());
        }
        Ok(State { position, velocity: grains(prediction.velocity, VELOCITY_GRAIN) })
    }
}

/// Kilometres (per second) as metres (per second) in whole grains.
fn grains(vector: [f64; 3], grain: f64) -> Vector {
    let [x, y, z] = vector.map(|value| (value * 1e3 / grain).round() * grain);
    Vector::new(x, y, z)
}
