//! The engine: what it keeps, bounds, records and captures, whatever it carries.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod captures;
mod conservation;
mod instants;
mod limits;
mod repeatability;
mod series;
