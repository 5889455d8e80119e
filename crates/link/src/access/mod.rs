//! Medium access: when a packet may leave a transmitter that shares its medium. One file per model, one line here to register
//! it.

use leobench_base::{RngTree, SimTime};

/// The medium access of one direction of a link.
pub trait MediumAccess: Send {
    /// When a packet whose last byte is ready at `ready` leaves, at `ready` or later. Called once for every packet, in
    /// order; neither `ready` nor the result ever decreases.
    fn leaves(&mut self, ready: SimTime) -> SimTime;
}

/// A specification of medium access: builds what it describes.
pub trait AccessModel {
    /// Builds it.
    fn build(&self, rng: &RngTree) -> Box<dyn MediumAccess>;

    /// Whether its times depend on the seed. The conformance tests check it.
    fn is_random(&self) -> bool {
        true
    }
}

leobench_base::kinds! {
    /// The models of medium access.
    pub enum AccessSpec as dyn AccessModel {
        Frames(pub mod frames::FramesSpec) = "frames",
    }
}

#[cfg(test)]
mod tests;
