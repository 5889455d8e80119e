//! QUIC on the crate `noq-proto`, driven in virtual time.
//!
//! The stack is used as it is; what it lacks is added from outside: congestion control of ours (`control`), pacing,
//! a decision per packet about which stream's bytes it carries (`sender`), reassembly without limits (`receiver`),
//! and a look at what really passes (`tap`).

mod acks;
mod bare;
mod clock;
mod config;
mod control;
mod ecn;
mod endpoint;
mod frames;
mod level;
mod null_tls;
mod qlog;
mod receiver;
mod sender;
mod spurious;
mod tap;

pub use bare::Bare;
#[cfg(any(test, feature = "testing"))]
pub use clock::Clock;
#[cfg(any(test, feature = "testing"))]
pub use config::for_tests;
pub use endpoint::NoqEndpoint;
#[cfg(any(test, feature = "testing"))]
pub use null_tls::null_session;

#[cfg(test)]
mod tests;
