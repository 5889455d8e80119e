//! The geometry of LEO constellations: where satellites are, which ones a terminal sees, which one serves it, and which way
//! packets take between them. Pure functions and state machines that are handed the time; no simulator, no files.

pub mod elements;
pub mod error;
pub mod frame;
pub mod hypatia;
pub mod isl;
pub mod motion;
pub mod serving;
pub mod visibility;

pub use error::FileError;
pub use frame::{Angle, Epoch, Geodetic, Site, State, Topocentric, Vector};
pub use isl::{
    Components, Entry, Exit, Gateways, Isl, Laser, LaserId, LayoutSpec, Limits, NextHop, Outgoing,
    Router, RoutingSpec, SourceRoute, Way, plus_grid,
};
pub use motion::{
    Constellation, DestinationId, Ephemeris, GatewayId, Orbit, OrbitError, Satellite, SatelliteId,
    Shell, TerminalId, Track,
};
pub use serving::{
    Assignment, Choice, Handover, HandoverCost, Handovers, Outlook, PolicySpec, ServingPolicy,
    Terminal,
};
pub use visibility::{Observer, Pass, Passes, SatelliteGrid, Sighting, View};
