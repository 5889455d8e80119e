//! Links between satellites, and the shortest ways over them.

mod graph;
mod islands;
pub mod layout;
mod links;
mod router;
pub mod routing;
mod tree;

pub use graph::{Laser, LaserId};
pub use islands::Components;
pub use layout::plus_grid::plus_grid;
pub use layout::{Arrangements, Layout, LayoutModel, LayoutSpec};
pub use links::{Isl, Limits, read_pairs};
pub use router::{Entry, Exit, Gateways, NextHop, Outgoing, Router, Way};
pub use routing::{Load, Routing, RoutingModel, RoutingSpec, SourceRoute};

#[cfg(test)]
mod tests;
