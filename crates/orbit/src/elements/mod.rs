//! Satellites from files and from tables: mean elements as TLE or OMM, and the shells of known constellations.

mod mean;
mod omm;
pub mod presets;
mod tle;

pub use mean::{Ages, ElementRecord, Loaded, MeanElements, load, read};

#[cfg(test)]
mod tests;
