//! Types of frames, and the rules that depend only on them (RFC 9000 section 12.4).

use super::ack::Ack;
use super::frame::{Directionality, Frame};
use super::packet::{Level, Space};

/// Frame types on the wire (RFC 9000 table 3, RFC 9221 section 4, draft-ietf-quic-ack-frequency section 11,
/// draft-ietf-quic-multipath section 6).
pub(super) mod types {
    pub(crate) const PADDING: u64 = 0x00;
    pub(crate) const PING: u64 = 0x01;
    pub(crate) const ACK: u64 = 0x02;
    pub(crate) const ACK_ECN: u64 = 0x03;
    pub(crate) const RESET_STREAM: u64 = 0x04;
    pub(crate) const STOP_SENDING: u64 = 0x05;
    pub(crate) const CRYPTO: u64 = 0x06;
    pub(crate) const NEW_TOKEN: u64 = 0x07;
    pub(crate) const STREAM: u64 = 0x08;
    pub(crate) const STREAM_LAST: u64 = 0x0f;
    pub(crate) const MAX_DATA: u64 = 0x10;
    pub(crate) const MAX_STREAM_DATA: u64 = 0x11;
    pub(crate) const MAX_STREAMS_BIDI: u64 = 0x12;
    pub(crate) const MAX_STREAMS_UNI: u64 = 0x13;
    pub(crate) const DATA_BLOCKED: u64 = 0x14;
    pub(crate) const STREAM_DATA_BLOCKED: u64 = 0x15;
    pub(crate) const STREAMS_BLOCKED_BIDI: u64 = 0x16;
    pub(crate) const STREAMS_BLOCKED_UNI: u64 = 0x17;
    pub(crate) const NEW_CONNECTION_ID: u64 = 0x18;
    pub(crate) const RETIRE_CONNECTION_ID: u64 = 0x19;
    pub(crate) const PATH_CHALLENGE: u64 = 0x1a;
    pub(crate) const PATH_RESPONSE: u64 = 0x1b;
    pub(crate) const CONNECTION_CLOSE: u64 = 0x1c;
    pub(crate) const APPLICATION_CLOSE: u64 = 0x1d;
    pub(crate) const HANDSHAKE_DONE: u64 = 0x1e;
    pub(crate) const IMMEDIATE_ACK: u64 = 0x1f;
    pub(crate) const DATAGRAM: u64 = 0x30;
    pub(crate) const DATAGRAM_LEN: u64 = 0x31;
    pub(crate) const PATH_ACK: u64 = 0x3e;
    pub(crate) const PATH_ACK_ECN: u64 = 0x3f;
    pub(crate) const ACK_FREQUENCY: u64 = 0xaf;
    pub(crate) const PATH_ABANDON: u64 = 0x3e75;
    pub(crate) const PATH_STATUS_BACKUP: u64 = 0x3e76;
    pub(crate) const PATH_STATUS_AVAILABLE: u64 = 0x3e77;
    pub(crate) const PATH_NEW_CONNECTION_ID: u64 = 0x3e78;
    pub(crate) const PATH_RETIRE_CONNECTION_ID: u64 = 0x3e79;
    pub(crate) const MAX_PATH_ID: u64 = 0x3e7a;
    pub(crate) const PATHS_BLOCKED: u64 = 0x3e7b;
    pub(crate) const PATH_CIDS_BLOCKED: u64 = 0x3e7c;
}

/// Bits of a STREAM frame's type (RFC 9000 section 19.8).
pub(super) mod stream_bits {
    pub(crate) const FIN: u64 = 0x01;
    pub(crate) const LEN: u64 = 0x02;
    pub(crate) const OFF: u64 = 0x04;
}

impl Frame {
    /// Its type on the wire.
    pub const fn frame_type(&self) -> u64 {
        match self {
            Self::Padding(_) => types::PADDING,
            Self::Ping => types::PING,
            Self::Ack(Ack { ecn: None, .. }) => types::ACK,
            Self::Ack(_) => types::ACK_ECN,
            Self::ResetStream { .. } => types::RESET_STREAM,
            Self::StopSending { .. } => types::STOP_SENDING,
            Self::Crypto { .. } => types::CRYPTO,
            Self::NewToken(_) => types::NEW_TOKEN,
            Self::Stream { offset, fin, explicit_len, .. } => {
                let off = if *offset > 0 { stream_bits::OFF } else { 0 };
                let len = if *explicit_len { stream_bits::LEN } else { 0 };
                types::STREAM | off | len | if *fin { stream_bits::FIN } else { 0 }
            }
            Self::MaxData(_) => types::MAX_DATA,
            Self::MaxStreamData { .. } => types::MAX_STREAM_DATA,
            Self::MaxStreams { kind, .. } => match kind {
                Directionality::Bidirectional => types::MAX_STREAMS_BIDI,
                Directionality::Unidirectional => types::MAX_STREAMS_UNI,
            },
            Self::DataBlocked(_) => types::DATA_BLOCKED,
            Self::StreamDataBlocked { .. } => types::STREAM_DATA_BLOCKED,
            Self::StreamsBlocked { kind, .. } => match kind {
                Directionality::Bidirectional => types::STREAMS_BLOCKED_BIDI,
                Directionality::Unidirectional => types::STREAMS_BLOCKED_UNI,
            },
            Self::NewConnectionId(_) => types::NEW_CONNECTION_ID,
            Self::RetireConnectionId(_) => types::RETIRE_CONNECTION_ID,
            Self::PathChallenge(_) => types::PATH_CHALLENGE,
            Self::PathResponse(_) => types::PATH_RESPONSE,
            Self::ConnectionClose(close) => match close.frame_type {
                Some(_) => types::CONNECTION_CLOSE,
                None => types::APPLICATION_CLOSE,
            },
            Self::HandshakeDone => types::HANDSHAKE_DONE,
            Self::Datagram { explicit_len, .. } => {
                if *explicit_len {
                    types::DATAGRAM_LEN
                } else {
                    types::DATAGRAM
                }
            }
            Self::AckFrequency { .. } => types::ACK_FREQUENCY,
            Self::ImmediateAck => types::IMMEDIATE_ACK,
            Self::PathAck { ack: Ack { ecn: None, .. }, .. } => types::PATH_ACK,
            Self::PathAck { .. } => types::PATH_ACK_ECN,
            Self::Path(frame) => frame.frame_type(),
        }
    }

    /// Whether its packet has to be acknowledged (RFC 9000 section 13.2).
    #[inline]
    pub const fn is_ack_eliciting(&self) -> bool {
        !matches!(
            self,
            Self::Padding(_) | Self::Ack(_) | Self::PathAck { .. } | Self::ConnectionClose(_)
        )
    }

    /// Whether its packet counts towards the bytes in flight (RFC 9002 section 2): ack-eliciting packets do, and those
    /// with padding.
    #[inline]
    pub const fn is_in_flight(&self) -> bool {
        !matches!(self, Self::Ack(_) | Self::PathAck { .. } | Self::ConnectionClose(_))
    }

    /// Whether it may probe a path without migrating to it (RFC 9000 section 9.1).
    #[inline]
    pub const fn is_probing(&self) -> bool {
        matches!(
            self,
            Self::Padding(_)
                | Self::NewConnectionId(_)
                | Self::PathChallenge(_)
                | Self::PathResponse(_)
        )
    }

    /// Whether packets of this level may carry it (RFC 9000 table 3).
    #[inline]
    pub const fn is_allowed_in(&self, level: Level) -> bool {
        match level {
            Level::OneRtt => true,
            Level::Initial | Level::Handshake => match self {
                Self::Padding(_) | Self::Ping | Self::Ack(_) | Self::Crypto { .. } => true,
                Self::ConnectionClose(close) => close.frame_type.is_some(),
                _ => false,
            },
            // RFC 9000 section 12.5: only servers send some of these, and the others answer a server.
            Level::ZeroRtt => !matches!(
                self,
                Self::Ack(_)
                    | Self::Crypto { .. }
                    | Self::NewToken(_)
                    | Self::PathResponse(_)
                    | Self::RetireConnectionId(_)
                    | Self::HandshakeDone
                    | Self::PathAck { .. }
                    | Self::Path(_)
            ),
        }
    }
}

impl Level {
    /// The packet number space of its packets.
    #[inline]
    pub const fn space(self) -> Space {
        match self {
            Self::Initial => Space::Initial,
            Self::Handshake => Space::Handshake,
            Self::OneRtt | Self::ZeroRtt => Space::Data,
        }
    }
}
