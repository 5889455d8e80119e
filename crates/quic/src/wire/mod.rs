//! QUIC packets (RFC 9000) as structs with exact encoded sizes. Application data is a byte count: only CRYPTO, token and
//! DATAGRAM contents are bytes.

mod ack;
mod connection_id;
mod content;
mod decode;
mod encode;
mod error;
mod frame;
mod incoming;
mod kind;
mod multipath;
mod number;
mod packet;
mod params;
mod reader;
mod size;

#[cfg(test)]
mod tests;

pub use ack::{Ack, AckRange, EcnCounts};
pub use connection_id::{ConnectionId, ResetToken};
pub use content::{Content, Zeros};
pub use decode::{MAX_STREAMS, decode_frames};
pub use encode::null_tag;
pub use error::{ErrorCode, TransportError};
pub use frame::{Close, Directionality, Frame, NewConnectionId, StreamId};
pub use incoming::{Incoming, ProtectedHeader};
pub use leobench_base::varint::{MAX_VARINT, varint_size, write_varint};
pub use multipath::PathFrame;
pub use packet::{Datagram, Frames, Header, Level, LongHeader, Number, Packet, Space};
pub use params::{HandshakeIds, PreferredAddress, ServerIds, TransportParameters};

/// Version 1 (RFC 9000 section 15).
pub const VERSION_1: u32 = 1;
/// Bytes of the authentication tag of every AEAD that QUIC allows (RFC 9001 section 5.3).
pub const TAG_SIZE: u64 = 16;
