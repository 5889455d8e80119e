//! Packets and datagrams (RFC 9000 section 17).

use bytes::Bytes;
use smallvec::SmallVec;

use super::connection_id::ConnectionId;
use super::frame::Frame;

/// Frames of a packet, in order.
pub type Frames = SmallVec<[Frame; 1]>;

/// A packet number space (RFC 9000 section 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Of Initial packets.
    Initial,
    /// Of Handshake packets.
    Handshake,
    /// Of 0-RTT and 1-RTT packets.
    Data,
}

impl Space {
    /// All spaces, in order.
    pub(crate) const ALL: [Self; 3] = [Self::Initial, Self::Handshake, Self::Data];

    /// The encryption level of the packets that are sent in the space, but for 0-RTT packets.
    pub(crate) const fn level(self) -> Level {
        match self {
            Self::Initial => Level::Initial,
            Self::Handshake => Level::Handshake,
            Self::Data => Level::OneRtt,
        }
    }
}

/// An encryption level (RFC 9001 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Initial keys, derived from the client's first destination connection ID.
    Initial,
    /// Handshake keys.
    Handshake,
    /// 1-RTT keys.
    OneRtt,
    /// 0-RTT keys, derived from the secret of an earlier connection. Only clients send with them.
    ZeroRtt,
}

/// A packet number and the bytes that its truncated form takes (RFC 9000 section 17.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The full number.
    pub value: u64,
    /// Bytes on the wire, 1 to 4.
    pub len: u8,
}

/// The header of a packet that carries frames. The long and rare ones are boxed, so that packets stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// An Initial packet (RFC 9000 section 17.2.2).
    Initial(Box<LongHeader>),
    /// A Handshake packet (section 17.2.4), without a token.
    Handshake(Box<LongHeader>),
    /// A 0-RTT packet (section 17.2.3), without a token.
    ZeroRtt(Box<LongHeader>),
    /// A 1-RTT packet (section 17.3.1).
    OneRtt {
        /// Destination connection ID.
        destination: ConnectionId,
        /// The latency spin bit (section 17.4).
        spin: bool,
        /// The key phase bit (RFC 9001 section 6).
        key_phase: bool,
        /// Packet number.
        number: Number,
    },
}

/// The fields of a long header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongHeader {
    /// Destination connection ID.
    pub destination: ConnectionId,
    /// Source connection ID.
    pub source: ConnectionId,
    /// Address validation token; empty if there is none.
    pub token: Bytes,
    /// Packet number.
    pub number: Number,
}

const _: () = assert!(size_of::<Packet>() <= 96, "packets in flight keep their headers");

/// A packet with its frames, unprotected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its header.
    pub header: Header,
    /// Its frames, in order.
    pub frames: Frames,
}

/// The payload of a UDP datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datagram {
    /// Coalesced packets (RFC 9000 section 12.2).
    Packets(SmallVec<[Packet; 1]>),
    /// A Retry packet (section 17.2.5).
    Retry {
        /// Destination connection ID.
        destination: ConnectionId,
        /// Source connection ID, the client's new destination.
        source: ConnectionId,
        /// The token to send back.
        token: Bytes,
        /// The Retry Integrity Tag (RFC 9001 section 5.8).
        tag: [u8; 16],
    },
    /// A Version Negotiation packet (section 17.2.1).
    VersionNegotiation {
        /// Destination connection ID.
        destination: ConnectionId,
        /// Source connection ID.
        source: ConnectionId,
        /// Supported versions.
        versions: Vec<u32>,
    },
    /// A stateless reset (section 10.3): unpredictable bytes, and a token at their end.
    StatelessReset(Bytes),
}

impl Header {
    /// Packet number.
    #[inline]
    pub const fn number(&self) -> Number {
        match self {
            Self::Initial(long) | Self::Handshake(long) | Self::ZeroRtt(long) => long.number,
            Self::OneRtt { number, .. } => *number,
        }
    }

    /// Encryption level.
    #[inline]
    pub const fn level(&self) -> Level {
        match self {
            Self::Initial(_) => Level::Initial,
            Self::Handshake(_) => Level::Handshake,
            Self::ZeroRtt(_) => Level::ZeroRtt,
            Self::OneRtt { .. } => Level::OneRtt,
        }
    }

    /// Destination connection ID.
    #[inline]
    pub const fn destination(&self) -> ConnectionId {
        match self {
            Self::Initial(long) | Self::Handshake(long) | Self::ZeroRtt(long) => long.destination,
            Self::OneRtt { destination, .. } => *destination,
        }
    }
}
