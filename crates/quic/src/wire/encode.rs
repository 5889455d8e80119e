//! Packets as bytes, before protection (RFC 9000 sections 17 and 19).

use std::any::Any;

use bytes::{BufMut, BytesMut};
use leobench_base::UdpPayload;

use super::ack::Ack;
use super::connection_id::ConnectionId;
use super::content::{Content, Zeros};
use super::frame::{Close, Frame};
use super::kind::stream_bits;
use super::packet::{Datagram, Header, Number, Packet};
use super::size::length_size;
use super::{TAG_SIZE, VERSION_1, write_varint};

/// Header form and fixed bit of a long header, and of a short one (RFC 9000 section 17).
const LONG: u8 = 0xc0;
const SHORT: u8 = 0x40;
/// The types of long headers (RFC 9000 table 5).
const INITIAL: u8 = 0x00;
const ZERO_RTT: u8 = 0x10;
const HANDSHAKE: u8 = 0x20;
const RETRY: u8 = 0x30;
/// Bits of a short header (RFC 9000 section 17.3.1).
const SPIN: u8 = 0x20;
const KEY_PHASE: u8 = 0x04;

fn prefixed(out: &mut BytesMut, bytes: &[u8]) {
    write_varint(out, bytes.len() as u64);
    out.put_slice(bytes);
}

impl Ack {
    /// Appends what follows the type.
    fn encode_fields(&self, out: &mut BytesMut) {
        let Some(first) = self.ranges.first() else {
            debug_assert!(false, "an ACK frame without ranges");
            return;
        };
        write_varint(out, first.largest);
        write_varint(out, self.delay);
        write_varint(out, self.ranges.len() as u64 - 1);
        write_varint(out, first.largest - first.smallest);
        let mut smallest = first.smallest;
        for range in &self.ranges[1..] {
            write_varint(out, smallest - range.largest - 2);
            write_varint(out, range.largest - range.smallest);
            smallest = range.smallest;
        }
        if let Some(ecn) = &self.ecn {
            write_varint(out, ecn.ect0);
            write_varint(out, ecn.ect1);
            write_varint(out, ecn.ce);
        }
    }
}

impl Frame {
    /// Appends the frame: [`Frame::size`] bytes.
    pub fn encode(&self, content: &dyn Content, out: &mut BytesMut) {
        match self {
            Self::Padding(len) => out.put_bytes(0, *len as usize),
            Self::Ack(ack) => {
                out.put_u8(self.frame_type() as u8);
                ack.encode_fields(out);
            }
            Self::PathAck { path, ack } => {
                out.put_u8(self.frame_type() as u8);
                write_varint(out, (*path).into());
                ack.encode_fields(out);
            }
            Self::Stream { id, offset, len, explicit_len, .. } => {
                let frame_type = self.frame_type();
                out.put_u8(frame_type as u8);
                write_varint(out, id.0);
                if frame_type & stream_bits::OFF != 0 {
                    write_varint(out, *offset);
                }
                if *explicit_len {
                    write_varint(out, *len);
                }
                let start = out.len();
                out.put_bytes(0, *len as usize);
                content.fill(*id, *offset, &mut out[start..]);
            }
            other => {
                write_varint(out, other.frame_type());
                other.encode_fields(out);
            }
        }
    }

    /// Appends what follows the type of a frame that is not hot.
    fn encode_fields(&self, out: &mut BytesMut) {
        match self {
            Self::Padding(_) | Self::Ack(_) | Self::PathAck { .. } | Self::Stream { .. } => {
                unreachable!("written with its type")
            }
            Self::Ping | Self::HandshakeDone | Self::ImmediateAck => {}
            Self::ResetStream { id, code, final_size } => {
                write_varint(out, id.0);
                write_varint(out, *code);
                write_varint(out, *final_size);
            }
            Self::StopSending { id, code: value }
            | Self::MaxStreamData { id, limit: value }
            | Self::StreamDataBlocked { id, limit: value } => {
                write_varint(out, id.0);
                write_varint(out, *value);
            }
            Self::Crypto { offset, data } => {
                write_varint(out, *offset);
                prefixed(out, data);
            }
            Self::NewToken(token) => prefixed(out, token),
            Self::MaxData(value)
            | Self::MaxStreams { limit: value, .. }
            | Self::DataBlocked(value)
            | Self::StreamsBlocked { limit: value, .. }
            | Self::RetireConnectionId(value) => write_varint(out, *value),
            Self::NewConnectionId(new) => new.encode(out),
            Self::Path(frame) => frame.encode_fields(out),
            Self::PathChallenge(data) | Self::PathResponse(data) => out.put_u64(*data),
            Self::ConnectionClose(close) => close.encode_fields(out),
            Self::Datagram { data, explicit_len: true } => prefixed(out, data),
            Self::Datagram { data, explicit_len: false } => out.put_slice(data),
            Self::AckFrequency { sequence, threshold, max_ack_delay, reordering } => {
                write_varint(out, *sequence);
                write_varint(out, *threshold);
                write_varint(out, *max_ack_delay);
                write_varint(out, *reordering);
            }
        }
    }
}

impl Close {
    fn encode_fields(&self, out: &mut BytesMut) {
        write_varint(out, self.code);
        if let Some(frame_type) = self.frame_type {
            write_varint(out, frame_type);
        }
        prefixed(out, &self.reason);
    }
}

fn write_id(out: &mut BytesMut, id: ConnectionId) {
    out.put_u8(id.size() as u8);
    out.put_slice(id.as_slice());
}

fn long(out: &mut BytesMut, first: u8, version: u32, ids: [ConnectionId; 2]) {
    out.put_u8(first);
    out.put_u32(version);
    for id in ids {
        write_id(out, id);
    }
}

/// Appends the Length field, in the size that [`Header::size`] counts (RFC 9000 section 17.2).
fn write_length(out: &mut BytesMut, number: Number, payload_len: u64) {
    let length = u64::from(number.len) + payload_len + TAG_SIZE;
    match length_size(length) {
        2 => out.put_u16(length as u16 | 0x4000),
        _ => out.put_u32(length as u32 | 0x8000_0000),
    }
}

impl Header {
    /// Appends the header of a packet with `payload_len` bytes of frames, its packet number last.
    pub fn encode(&self, payload_len: u64, out: &mut BytesMut) {
        let number = self.number();
        let number_bits = number.len - 1;
        match self {
            Self::Initial(fields) => {
                let ids = [fields.destination, fields.source];
                long(out, LONG | INITIAL | number_bits, VERSION_1, ids);
                prefixed(out, &fields.token);
                write_length(out, number, payload_len);
            }
            Self::Handshake(fields) | Self::ZeroRtt(fields) => {
                let ids = [fields.destination, fields.source];
                let kind = if matches!(self, Self::ZeroRtt(_)) { ZERO_RTT } else { HANDSHAKE };
                long(out, LONG | kind | number_bits, VERSION_1, ids);
                write_length(out, number, payload_len);
            }
            Self::OneRtt { destination, spin, key_phase, .. } => {
                let spin = if *spin { SPIN } else { 0 };
                let phase = if *key_phase { KEY_PHASE } else { 0 };
                out.put_u8(SHORT | spin | phase | number_bits);
                out.put_slice(destination.as_slice());
            }
        }
        out.put_uint(u64::from(number.on_wire()), usize::from(number.len));
    }
}

/// The authentication tag of a packet that nothing protects: zeros, and its number. An AEAD has the number in its nonce (RFC 9001
/// section 5.3), so a packet that is so late that its truncated number is expanded to another is not authentic; nor is it with
/// this tag.
pub fn null_tag(number: u64) -> [u8; TAG_SIZE as usize] {
    u128::from(number).to_be_bytes()
}

impl Packet {
    /// Appends the packet, unprotected and with the [`null_tag`]: [`Packet::size`] bytes. Returns the size of the header.
    pub fn encode(&self, content: &dyn Content, out: &mut BytesMut) -> usize {
        let start = out.len();
        self.header.encode(self.payload_size(), out);
        let header_len = out.len() - start;
        for frame in &self.frames {
            frame.encode(content, out);
        }
        out.put_slice(&null_tag(self.header.number().value));
        header_len
    }
}

impl UdpPayload for Datagram {
    fn encode(&self, bytes: &mut BytesMut) {
        Self::encode(self, &Zeros, bytes);
    }
}

impl Datagram {
    /// The datagram that a UDP payload is, if it is one of QUIC.
    #[inline]
    pub fn from_payload(payload: Box<dyn UdpPayload>) -> Option<Box<Self>> {
        let payload: Box<dyn Any> = payload;
        payload.downcast().ok()
    }

    /// The datagram that a UDP payload is, to look into it.
    pub fn of_payload(payload: &dyn UdpPayload) -> Option<&Self> {
        let payload: &dyn Any = payload;
        payload.downcast_ref()
    }

    /// The datagram that a UDP payload is, to change it.
    pub fn of_payload_mut(payload: &mut dyn UdpPayload) -> Option<&mut Self> {
        let payload: &mut dyn Any = payload;
        payload.downcast_mut()
    }

    /// Appends the UDP payload, without protection: [`Datagram::size`] bytes.
    pub fn encode(&self, content: &dyn Content, out: &mut BytesMut) {
        match self {
            Self::Packets(packets) => {
                for packet in packets {
                    packet.encode(content, out);
                }
            }
            Self::Retry { destination, source, token, tag } => {
                long(out, LONG | RETRY, VERSION_1, [*destination, *source]);
                out.put_slice(token);
                out.put_slice(tag);
            }
            Self::VersionNegotiation { destination, source, versions } => {
                // Of the first byte only the header form has a meaning; the fixed bit is set as RFC 9000 section 17.2.1
                // recommends.
                long(out, LONG, 0, [*destination, *source]);
                for version in versions {
                    out.put_u32(*version);
                }
            }
            Self::StatelessReset(bytes) => out.put_slice(bytes),
        }
    }
}
