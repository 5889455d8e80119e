//! Links between satellites, and the shortest ways over them.

mod links;
mod router;

pub use links::{Isl, Limits, plus_grid, read_pairs};
pub use router::{Exit, Gateways, NextHop, Router, Way};

#[cfg(test)]
mod tests;
