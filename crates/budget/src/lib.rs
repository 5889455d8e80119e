//! Link budgets: from a range and an elevation to a rate.
//!
//! All of it is a pure function of numbers that the caller hands in, except the fading processes, which are handed the
//! time. The crate knows neither orbits nor links: whoever knows the geometry fills in a [`Geometry`], asks a
//! [`Budget`] for a [`Reading`], and the rate model for the rate.
//!
//! Angles are in degrees and levels in decibels, as the recommendations have them. Scenarios write every quantity with
//! its unit ([`quantity`]).

#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests expect exact numbers where they are exact")
)]

pub mod antenna;
pub mod atmosphere;
pub mod cell;
pub mod decibel;
pub mod fading;
pub mod link;
pub mod quantity;
pub mod radio;
pub mod rate;
#[cfg(test)]
mod testing;

pub use antenna::{AntennaModel, AntennaSpec, Pointing};
pub use atmosphere::{AtmosphereSpec, Attenuation, Path};
pub use cell::{Cell, CellSpec};
pub use fading::{Fading, FadingModel, FadingSpec};
pub use link::{Budget, BudgetSpec, Geometry, Reading};
pub use rate::{Choice, RateModel, RateSpec};
