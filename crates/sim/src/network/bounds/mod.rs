//! Bounds on a run: the events of one instant, the memory of a network, and the size of its tables.

mod instant;
mod limits;

pub use instant::InstantError;
pub(super) use instant::InstantWatch;
pub use limits::LimitError;
