//! Links and their queues, end to end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod queues;
mod relay;
mod starlink;
