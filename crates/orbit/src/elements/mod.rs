//! Satellites from files and from tables: mean elements as TLE or OMM, and the shells of known constellations.

mod load;
mod mean;
mod omm;
pub mod presets;
mod tle;

pub use load::{Acceptance, Loaded, OnDecayed, load};
pub use mean::{ElementRecord, MeanElements, read};

#[cfg(test)]
mod tests;
