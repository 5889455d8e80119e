//! The network as one state machine.

pub mod routes;
pub mod scenario;
