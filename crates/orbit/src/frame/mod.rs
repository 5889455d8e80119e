//! Angles, vectors, instants of UTC, and the frames that positions are given in.

mod angle;
mod coordinates;
mod epoch;
mod vector;

pub use angle::Angle;
pub use coordinates::{
    EARTH_TURN, EQUATOR_RADIUS, FLATTENING, Geodetic, LIGHT_SPEED, Site, State, Topocentric,
    light_delay,
};
pub use epoch::Epoch;
pub use vector::{Vector, separation};

#[cfg(test)]
mod tests;
