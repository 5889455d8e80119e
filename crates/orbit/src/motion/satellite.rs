//! A satellite of a constellation.

use super::orbit::Orbit;

/// A satellite.
#[derive(Clone, Debug)]
pub struct Satellite {
    /// Unique in its constellation.
    pub name: String,
    /// How it moves.
    pub orbit: Orbit,
}
