//! Runs against arithmetic by hand: links, applications, pages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod blocking;
mod http1;
mod http2;
mod links;
mod pages;
mod videos;
