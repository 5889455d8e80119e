//! Exact sizes of frames, packets and datagrams as they are encoded.

use super::ack::Ack;
use super::frame::{Close, Frame};
use super::packet::{Datagram, Header, LongHeader, Packet};
use super::{TAG_SIZE, varint_size};

/// Bytes from the start of the packet number to the end of the header protection sample (RFC 9001 section 5.4.2).
const SAMPLE_END: u64 = 4 + 16;
/// First byte, version, and the two lengths of connection IDs of a long header (RFC 9000 section 17.2).
const LONG_HEADER: u64 = 1 + 4 + 1 + 1;
/// Largest value of a Length field of two bytes.
const MAX_SHORT_LENGTH: u64 = 0x3fff;

/// Bytes of the Length field of a long header: two, as most implementations write it, or four for a long packet. A
/// fixed size lets the sender know its room before it fills the packet.
#[inline]
pub(super) const fn length_size(length: u64) -> u64 {
    if length <= MAX_SHORT_LENGTH { 2 } else { 4 }
}

#[inline]
const fn prefixed(len: usize) -> u64 {
    varint_size(len as u64) + len as u64
}

impl Ack {
    /// Bytes of the ACK frame.
    #[inline]
    pub fn size(&self) -> u64 {
        let Some(first) = self.ranges.first() else { return 0 };
        let mut size = 1
            + varint_size(first.largest)
            + varint_size(self.delay)
            + varint_size(self.ranges.len() as u64 - 1)
            + varint_size(first.largest - first.smallest);
        let mut smallest = first.smallest;
        for range in &self.ranges[1..] {
            size += varint_size(smallest - range.largest - 2);
            size += varint_size(range.largest - range.smallest);
            smallest = range.smallest;
        }
        if let Some(ecn) = &self.ecn {
            size += varint_size(ecn.ect0) + varint_size(ecn.ect1) + varint_size(ecn.ce);
        }
        size
    }
}

impl Frame {
    /// Bytes of the frame.
    #[inline]
    pub fn size(&self) -> u64 {
        match self {
            Self::Stream { id, offset, len, explicit_len, .. } => {
                let offset_size = if *offset > 0 { varint_size(*offset) } else { 0 };
                let len_size = if *explicit_len { varint_size(*len) } else { 0 };
                1 + varint_size(id.0) + offset_size + len_size + len
            }
            Self::Ack(ack) => ack.size(),
            Self::PathAck { path, ack } => varint_size((*path).into()) + ack.size(),
            Self::Padding(len) => *len,
            other => other.rare_size(),
        }
    }

    fn rare_size(&self) -> u64 {
        match self {
            Self::Padding(_) | Self::Ack(_) | Self::PathAck { .. } | Self::Stream { .. } => {
                self.size()
            }
            Self::Ping | Self::HandshakeDone | Self::ImmediateAck => 1,
            Self::ResetStream { id, code, final_size } => {
                1 + varint_size(id.0) + varint_size(*code) + varint_size(*final_size)
            }
            Self::StopSending { id, code: value }
            | Self::MaxStreamData { id, limit: value }
            | Self::StreamDataBlocked { id, limit: value } => {
                1 + varint_size(id.0) + varint_size(*value)
            }
            Self::Crypto { offset, data } => 1 + varint_size(*offset) + prefixed(data.len()),
            Self::NewToken(token) => 1 + prefixed(token.len()),
            Self::MaxData(value)
            | Self::MaxStreams { limit: value, .. }
            | Self::DataBlocked(value)
            | Self::StreamsBlocked { limit: value, .. }
            | Self::RetireConnectionId(value) => 1 + varint_size(*value),
            Self::NewConnectionId(new) => 1 + new.size(),
            Self::Path(frame) => frame.size(),
            Self::PathChallenge(_) | Self::PathResponse(_) => 1 + 8,
            Self::ConnectionClose(close) => close.size(),
            Self::Datagram { data, explicit_len } => {
                1 + if *explicit_len { prefixed(data.len()) } else { data.len() as u64 }
            }
            Self::AckFrequency { sequence, threshold, max_ack_delay, reordering } => {
                2 + varint_size(*sequence)
                    + varint_size(*threshold)
                    + varint_size(*max_ack_delay)
                    + varint_size(*reordering)
            }
        }
    }
}

impl Close {
    /// Bytes of the frame.
    pub fn size(&self) -> u64 {
        let frame_type = self.frame_type.map_or(0, varint_size);
        1 + varint_size(self.code) + frame_type + prefixed(self.reason.len())
    }
}

impl Header {
    /// Bytes of the header of a packet with `payload_len` bytes of frames.
    #[inline]
    pub fn size(&self, payload_len: u64) -> u64 {
        match self {
            Self::OneRtt { destination, number, .. } => {
                1 + destination.size() + u64::from(number.len)
            }
            Self::Initial(long) => long.size(payload_len) + prefixed(long.token.len()),
            Self::Handshake(long) | Self::ZeroRtt(long) => long.size(payload_len),
        }
    }
}

impl LongHeader {
    /// Bytes without a token.
    fn size(&self, payload_len: u64) -> u64 {
        let number_len = u64::from(self.number.len);
        let length = number_len + payload_len + TAG_SIZE;
        LONG_HEADER
            + self.destination.size()
            + self.source.size()
            + length_size(length)
            + number_len
    }
}

impl Packet {
    /// Bytes of the frames.
    #[inline]
    pub fn payload_size(&self) -> u64 {
        self.frames.iter().map(Frame::size).sum()
    }

    /// Bytes of the whole packet with its authentication tag.
    #[inline]
    pub fn size(&self) -> u64 {
        let payload = self.payload_size();
        self.header.size(payload) + payload + TAG_SIZE
    }

    /// Bytes of padding that the packet lacks for header protection to take its sample (RFC 9001 section 5.4.2).
    #[inline]
    pub fn missing_padding(&self) -> u64 {
        let number_len = u64::from(self.header.number().len);
        SAMPLE_END.saturating_sub(number_len + self.payload_size() + TAG_SIZE)
    }
}

impl Datagram {
    /// Bytes of the UDP payload.
    #[inline]
    pub fn size(&self) -> u64 {
        match self {
            Self::Packets(packets) => packets.iter().map(Packet::size).sum(),
            Self::Retry { destination, source, token, tag } => {
                LONG_HEADER
                    + destination.size()
                    + source.size()
                    + token.len() as u64
                    + tag.len() as u64
            }
            Self::VersionNegotiation { destination, source, versions } => {
                LONG_HEADER + destination.size() + source.size() + 4 * versions.len() as u64
            }
            Self::StatelessReset(bytes) => bytes.len() as u64,
        }
    }
}
