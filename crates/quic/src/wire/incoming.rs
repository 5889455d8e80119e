//! The parts of a received packet that are readable before its protection is removed (RFC 9000 section 17).

use bytes::Bytes;

use super::VERSION_1;
use super::connection_id::ConnectionId;
use super::error::{ErrorCode, TransportError};
use super::packet::{Header, Level, LongHeader, Number};
use super::reader::Reader;

/// The header form bit, and the fixed bit (RFC 9000 section 17).
const LONG_FORM: u8 = 0x80;
const FIXED: u8 = 0x40;

/// The next packet of a received datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A packet with frames.
    Packet(ProtectedHeader),
    /// A Retry packet; the rest of the datagram belongs to it.
    Retry {
        /// Destination connection ID.
        destination: ConnectionId,
        /// Source connection ID.
        source: ConnectionId,
        /// The token to send back, not empty.
        token: Bytes,
        /// The Retry Integrity Tag, unchecked; it authenticates all bytes before it.
        tag: [u8; 16],
    },
    /// A Version Negotiation packet; the rest of the datagram belongs to it.
    VersionNegotiation {
        /// Destination connection ID.
        destination: ConnectionId,
        /// Source connection ID.
        source: ConnectionId,
        /// Supported versions.
        versions: Vec<u32>,
    },
    /// A packet of another version; the rest of the datagram belongs to it.
    OtherVersion {
        /// Destination connection ID.
        destination: ConnectionId,
        /// Source connection ID.
        source: ConnectionId,
        /// The version.
        version: u32,
    },
}

/// The unprotected fields of a packet with frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedHeader {
    /// Encryption level.
    pub level: Level,
    /// Destination connection ID.
    pub destination: ConnectionId,
    /// Source connection ID; empty in a 1-RTT packet, which has none.
    pub source: ConnectionId,
    /// Address validation token; empty except in Initial packets.
    pub token: Bytes,
    /// Offset of the packet number.
    pub number_offset: usize,
    /// Bytes of the whole packet, the rest of the datagram for a 1-RTT packet.
    pub size: usize,
}

impl Incoming {
    /// Reads the first packet of `datagram`; connection IDs of this end have `id_len` bytes. `None` if the bytes are no
    /// packet of QUIC: the receiver discards them.
    pub fn decode(datagram: &[u8], id_len: usize) -> Option<Self> {
        let mut reader = Reader::new(datagram);
        let first = reader.u8()?;
        if first & LONG_FORM != 0 {
            return Self::decode_long(datagram, first, reader);
        }
        if first & FIXED == 0 {
            return None;
        }
        let destination = ConnectionId::new(reader.take(id_len)?)?;
        Some(Self::Packet(ProtectedHeader {
            level: Level::OneRtt,
            destination,
            source: ConnectionId::default(),
            token: Bytes::new(),
            number_offset: 1 + id_len,
            size: datagram.len(),
        }))
    }

    fn decode_long(datagram: &[u8], first: u8, mut reader: Reader<'_>) -> Option<Self> {
        let version = reader.u32()?;
        let destination = read_id(&mut reader)?;
        let source = read_id(&mut reader)?;
        if version == 0 {
            let mut versions = Vec::with_capacity(reader.remaining() / 4);
            while !reader.is_empty() {
                versions.push(reader.u32()?);
            }
            return (!versions.is_empty()).then_some(Self::VersionNegotiation {
                destination,
                source,
                versions,
            });
        }
        if version != VERSION_1 {
            return Some(Self::OtherVersion { destination, source, version });
        }
        if first & FIXED == 0 {
            return None;
        }
        let (level, token) = match (first >> 4) & 0x03 {
            0 => (Level::Initial, Bytes::copy_from_slice(reader.prefixed()?)),
            1 => (Level::ZeroRtt, Bytes::new()),
            2 => (Level::Handshake, Bytes::new()),
            _ => {
                let (token, tag) = reader.rest().split_last_chunk()?;
                // RFC 9000 section 17.2.5.2: a client discards a Retry packet without a token.
                let token = (!token.is_empty()).then(|| Bytes::copy_from_slice(token))?;
                return Some(Self::Retry { destination, source, token, tag: *tag });
            }
        };
        let length = usize::try_from(reader.varint()?).ok()?;
        let number_offset = datagram.len() - reader.remaining();
        reader.take(length)?;
        let size = number_offset + length;
        Some(Self::Packet(ProtectedHeader {
            level,
            destination,
            source,
            token,
            number_offset,
            size,
        }))
    }
}

fn read_id(reader: &mut Reader<'_>) -> Option<ConnectionId> {
    let len = reader.u8()?;
    ConnectionId::new(reader.take(usize::from(len))?)
}

impl ProtectedHeader {
    /// The whole header, once header protection is removed: from its first byte and its packet number.
    ///
    /// # Errors
    /// `PROTOCOL_VIOLATION` if reserved bits are set (RFC 9000 sections 17.2 and 17.3.1). To be called only after the
    /// payload has been authenticated.
    pub fn complete(self, first: u8, number: Number) -> Result<Header, TransportError> {
        let Self { level, destination, source, token, .. } = self;
        let reserved = if level == Level::OneRtt { 0x18 } else { 0x0c };
        if first & reserved != 0 {
            let reason = "the reserved bits of a header are not zero";
            return Err(TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason));
        }
        Ok(match level {
            Level::Initial => {
                Header::Initial(Box::new(LongHeader { destination, source, token, number }))
            }
            Level::Handshake | Level::ZeroRtt => {
                let token = Bytes::new();
                let long = Box::new(LongHeader { destination, source, token, number });
                if level == Level::Handshake {
                    Header::Handshake(long)
                } else {
                    Header::ZeroRtt(long)
                }
            }
            Level::OneRtt => {
                let (spin, key_phase) = (first & 0x20 != 0, first & 0x04 != 0);
                Header::OneRtt { destination, spin, key_phase, number }
            }
        })
    }
}
