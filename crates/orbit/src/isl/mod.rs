//! Links between satellites, and the shortest ways over them.

mod graph;
mod links;
mod router;
mod tree;

pub use graph::{Laser, LaserId};
pub use links::{Isl, Limits, plus_grid, read_pairs};
pub use router::{Entry, Exit, Gateways, NextHop, Outgoing, Router, Way};

#[cfg(test)]
mod tests;
