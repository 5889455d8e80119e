//! The network as one state machine.

pub mod scenario;
