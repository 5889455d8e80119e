//! TCP in virtual time: an endpoint that follows Linux, on segments as structs.
//!
//! One end of a connection consists of a `sender`, a `receiver` and the `endpoint` that converts between them and
//! segments. They use 64-bit offsets from the first byte after the SYN; only segments have sequence numbers
//! (`sequence`). The application of one end sends; the other direction carries acknowledgements, a FIN and, with TLS,
//! the other half of the handshake.
//!
//! Differences between TCP and QUIC under the same congestion controller:
//! - the window covers payload in TCP, and whole UDP payloads in QUIC;
//! - one reduction answers all losses up to the recovery point (RFC 6675 section 5), in QUIC those of packets sent before
//!   the reduction (RFC 9002 section 7.3.2); the window decreases to its target over a round trip (RFC 9937), in QUIC at
//!   once;
//! - the acknowledgement of a retransmitted segment is ambiguous; QUIC never reuses a packet number;
//! - acknowledgements report at most three or four blocks;
//! - a retransmission timeout reduces the window to a segment (RFC 5681 section 3.1); QUIC's probe timeout leaves it
//!   unchanged until a loss is certain, and then requires persistent congestion (RFC 9002 section 7.6) for the same reduction;
//! - after an idle period the window starts from the initial one (RFC 5681 section 4.1).

mod endpoint;
mod outgoing;
mod pool;
mod receiver;
mod reconnect;
mod resume;
mod rtt;
mod send_room;
mod sender;
mod sequence;
mod spec;
mod tls;
mod unmatched;

pub use crate::role::Role;
pub use endpoint::{TcpConfig, TcpEndpoint};
pub use pool::TcpPool;
pub use reconnect::{Ports, ReconnectingTcp};
pub use send_room::SendBufferSize;
pub use spec::{ReconnectSpec, TcpSpec};
pub use unmatched::NoConnection;

#[cfg(test)]
pub(crate) mod tests;
