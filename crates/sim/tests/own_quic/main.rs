//! The QUIC stack `own` over links.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod beside_noq;
mod cancellation;
mod multipath;
mod small_windows;
