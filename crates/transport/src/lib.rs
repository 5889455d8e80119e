//! What runs at the ends of a path: endpoints, congestion control, stream schedulers and traffic sources, as state
//! machines that are handed the time. Knows packets, and no link.

pub mod buffer;
pub mod congestion;
pub mod endpoint;
mod flights;
pub mod heed;
mod interfaces;
pub mod pacing;
mod path_map;
pub mod path_scheduler;
pub mod plugin;
pub mod quic;
pub mod quic_noq;
mod ranges;
pub mod scheduler;
pub mod source;
pub mod tcp;
pub mod udp;

pub use buffer::{Message, SendBuffer};
pub use congestion::{CongestionControl, CongestionModel, CongestionSpec};
pub use endpoint::{Endpoint, EndpointError, Input, Outbox, PathId};
pub use plugin::{PluginHost, Plugins};
pub use scheduler::{SchedulerContext, SchedulerModel, SchedulerSpec, StreamScheduler};
pub use source::{SourceModel, SourceSpec, TrafficSource};

#[cfg(test)]
mod quic_suite;
#[cfg(test)]
mod testing;
