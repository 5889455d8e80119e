//! QUIC of our own (RFC 9000, 9001, 9002): packets are structs, bytes are made on demand, and schedulers and congestion
//! controllers work inside.

mod cids;
mod config;
mod connection;
mod crypto;
mod datagrams;
mod earliest;
mod endpoint;
mod flow;
mod paths;
mod qlog;
mod recovery;
mod retry_token;
mod sans_io;
mod sent_frame;
mod space;
mod spec;
mod stack;
mod stateless_reset;
mod streams;
mod token_key;
pub mod wire;
mod zero_rtt;

#[cfg(feature = "tls")]
pub use crypto::{Certificate, Sessions};
pub use crypto::{KeyLog, NullHandshake, NullKeys, TlsSettings};
pub use endpoint::QuicEndpoint;
pub use flow::{MESSAGE_STREAMS, QuicConfig};
pub use qlog::JsonSequence;
pub use sans_io::{ByteConfig, ByteConnection, ByteEvent, PeerClose};
pub use spec::{AckPath, MultipathSpec, Protected, QuicSpec};
pub use stack::Stack;
pub use zero_rtt::ZeroRtt;

/// UDP payload that every path has to carry (RFC 9000 section 14): datagrams of the handshake and probes of a route are padded to
/// it.
const MINIMUM_DATAGRAM: u64 = 1_200;

/// The output to which a connection writes its qlog.
pub type QlogWriter = Box<dyn std::io::Write + Send + Sync>;

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, reason = "a test fails by a panic")]
pub mod suite;
#[cfg(test)]
pub(crate) mod tests;
