//! Everything that moves, by number or name, and its position over time: satellites on orbits, terminals on tracks.

mod constellation;
mod ephemeris;
pub mod ground_stations;
mod orbit;
mod satellite;
mod table;
mod track;
mod walker;

pub use constellation::{Constellation, DestinationId, GatewayId, PlacedShell, TerminalId};
pub use ephemeris::{Ephemeris, SPACING};
pub use ground_stations::GroundStation;
pub use leobench_base::SatelliteId;
pub use orbit::{CircularElements, CircularOrbit, GRAVITY, Orbit, OrbitError, Sgp4Orbit};
pub use satellite::Satellite;
pub use track::Track;
pub use walker::{Pattern, Shell};

#[cfg(test)]
mod tests;
