//! The geometry of LEO constellations: where satellites are, which ones a terminal sees, which one serves it, and which way
//! packets take between them. Pure functions and state machines that are handed the time; no simulator, no files.

pub mod angle;
pub mod chain;
pub mod constellation;
pub mod elements;
pub mod ephemeris;
pub mod epoch;
pub mod error;
pub mod fleet;
pub mod frame;
pub mod hypatia;
pub mod isl;
pub mod orbit;
pub mod passes;
pub mod places;
pub mod policy;
pub mod presets;
pub mod route;
pub mod satellite;
pub mod sky;
pub mod track;
pub mod vector;
pub mod view;
pub mod walker;

pub use angle::Angle;
pub use constellation::{Constellation, DestinationId, GatewayId, SatelliteId, TerminalId};
pub use ephemeris::Ephemeris;
pub use epoch::Epoch;
pub use error::FileError;
pub use fleet::{Fleet, Gap, Handover, Terminal};
pub use frame::{Geodetic, Site, State, Topocentric};
pub use isl::{Isl, Limits, plus_grid};
pub use orbit::{Orbit, OrbitError};
pub use passes::{Handovers, Pass, Passes};
pub use policy::{Choice, Outlook, ServingPolicy};
pub use route::{Exit, Gateways, NextHop, Router, Way};
pub use satellite::Satellite;
pub use sky::{Observer, Sighting, SkyGrid};
pub use track::Track;
pub use vector::Vector;
pub use view::View;
pub use walker::Shell;
