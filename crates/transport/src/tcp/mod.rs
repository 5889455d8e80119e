//! TCP in virtual time: an endpoint that behaves as that of Linux does, on structured segments.
//!
//! One end of a connection is a [`sender`], a [`receiver`] and the [`endpoint`] that puts the two into segments. All of
//! them count in offsets of 64 bits from the first byte behind the SYN; only segments have sequence numbers
//! ([`sequence`]). One end's application sends; in the other direction flow acknowledgements, a FIN and, with TLS, the
//! other half of the handshake.
//!
//! Where TCP and QUIC differ under the same congestion controller:
//! - a window counts payload here, and whole UDP payloads there;
//! - one reduction answers all losses up to the recovery point (RFC 6675 section 5), in QUIC those of packets sent before
//!   the reduction (RFC 9002 section 7.3.2); and the window goes down to its target over a round trip (RFC 9937), in QUIC
//!   at once;
//! - an acknowledgement of what was sent twice does not say which of the two arrived: QUIC never sends the same packet
//!   number twice;
//! - acknowledgements name at most three or four blocks;
//! - a retransmission timeout reduces the window to a segment (RFC 5681 section 3.1); QUIC's probe timeout leaves it alone
//!   until a loss is certain, and then needs persistent congestion (RFC 9002 section 7.6) to go as low;
//! - after an idle time the window starts from the initial one (RFC 5681 section 4.1).

mod endpoint;
mod outgoing;
mod ranges;
mod receiver;
mod rtt;
mod sender;
mod sequence;
mod spec;
mod tls;

pub use crate::quic::Role;
pub use endpoint::{TcpConfig, TcpEndpoint};
pub use spec::TcpSpec;

#[cfg(test)]
mod tests;
