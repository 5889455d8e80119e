//! The satellites that a terminal or a gateway can use: now, until when, and pass by pass.

mod grid;
mod observer;
mod passes;
mod remaining;
mod view;

pub use grid::SatelliteGrid;
pub use observer::{Observer, Sighting};
pub use passes::{Pass, Passes};
pub use remaining::remaining;
pub(crate) use remaining::remaining_while;
pub use view::{Dish, GeostationaryArc, Obstructions, View};

#[cfg(test)]
mod tests;
