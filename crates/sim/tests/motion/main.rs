//! Flows whose nodes move: handovers, forecasts, paths, address translation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod cross_layer;
mod forecasts;
mod handover_phases;
mod handovers;
mod moves;
mod nat_icmp;
mod paths;
mod reconnect;
