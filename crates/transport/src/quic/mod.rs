//! QUIC on the crate `noq-proto`, driven in virtual time.
//!
//! The stack is used as it is; what it lacks is added from outside: congestion control of ours ([`control`]), pacing,
//! a decision per packet about which stream's bytes it carries ([`sender`]), reassembly without limits ([`receiver`]),
//! and a look at what really passes ([`tap`]).

mod acks;
mod bare;
mod clock;
mod config;
mod control;
mod ecn;
mod endpoint;
mod frames;
mod null_tls;
mod qlog;
mod receiver;
mod role;
mod sender;
mod spec;
mod spurious;
mod tap;

pub use bare::Bare;
pub use endpoint::QuicEndpoint;
pub(crate) use null_tls::{CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO};
pub use role::{QuicConfig, Role};
pub use spec::QuicSpec;

/// Where a connection's qlog goes.
pub type QlogWriter = Box<dyn std::io::Write + Send + Sync>;

#[cfg(test)]
pub(crate) mod tests;
