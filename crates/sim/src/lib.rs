//! The network as one state machine.

pub mod ledger;
pub mod record;
pub mod registry;
pub mod routes;
pub mod scenario;
pub mod summary;
