//! Links through a constellation, and flows over them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod beams;
mod disjoint;
mod fitted;
mod geometry;
mod hops;
mod layouts;
mod paths;
mod satellite_queues;
mod ways;
mod windows;
