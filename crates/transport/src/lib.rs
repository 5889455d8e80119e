//! The ends of a path: endpoints, congestion control, stream schedulers and traffic sources, as state machines that
//! take the time as an argument. They know packets, but not links.

pub mod arrivals;
pub mod buffer;
pub mod congestion;
pub mod endpoint;
pub mod handshake_sizes;
pub mod interfaces;
pub mod library;
pub mod on_forecast;
pub mod pacing;
pub mod path_choice;
pub mod path_manager;
pub mod path_map;
pub mod path_scheduler;
pub mod plugin;
pub mod ranges;
mod report;
mod role;
pub mod scheduler;
pub mod source;
pub mod tcp;
mod totals;
pub mod udp;
pub mod video;

pub use buffer::{Message, SendBuffer};
pub use congestion::{CongestionControl, CongestionModel, CongestionSpec};
pub use endpoint::{Endpoint, EndpointError, Input, Outbox, PathId};
pub use plugin::{PluginHost, Plugins};
pub use role::Role;
pub use scheduler::{SchedulerContext, SchedulerModel, SchedulerSpec, StreamScheduler};
pub use source::{SourceModel, SourceSpec, TrafficSource};

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, reason = "a test fails by a panic")]
pub mod testing;
