//! Congestion controllers in a network, under both transports.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod coupled;
mod doubts;
mod overload;
mod rivals;
