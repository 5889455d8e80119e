//! The network as one state machine.

pub mod build;
#[cfg(feature = "captures")]
pub mod capture;
#[cfg(not(feature = "captures"))]
#[path = "no_capture.rs"]
pub mod capture;
pub mod ledger;

pub mod limits;
pub mod listing;
pub mod load;
pub mod network;
pub mod notices;
pub mod orbit_report;
pub mod record;
pub mod routes;
pub mod run;
pub mod satellite_links;
pub mod scenario;
pub mod summary;
pub mod topology;

pub use run::{Outcome, Outside, Progress, Run, RunError, RunOptions};

/// The optional parts that this build has.
pub const FEATURES: &[&str] = if cfg!(feature = "noq") { &["noq"] } else { &[] };
