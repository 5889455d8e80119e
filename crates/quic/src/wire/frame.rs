//! Frames (RFC 9000 section 19, RFC 9221, draft-ietf-quic-ack-frequency, draft-ietf-quic-multipath).

use bytes::Bytes;

use super::ack::Ack;
use super::connection_id::{ConnectionId, ResetToken};
use super::multipath::PathFrame;

/// A stream ID (RFC 9000 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// The ends that may send on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Directionality {
    /// Both ends.
    Bidirectional,
    /// Its initiator.
    Unidirectional,
}

/// One frame. The large and rare ones are boxed, so that packets stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// So many PADDING frames.
    Padding(u64),
    /// PING.
    Ping,
    /// ACK.
    Ack(Ack),
    /// `RESET_STREAM`.
    ResetStream {
        /// The stream.
        id: StreamId,
        /// Application error code.
        code: u64,
        /// Bytes of the whole stream.
        final_size: u64,
    },
    /// `STOP_SENDING`.
    StopSending {
        /// The stream.
        id: StreamId,
        /// Application error code.
        code: u64,
    },
    /// CRYPTO.
    Crypto {
        /// Offset of the data in the handshake of its level.
        offset: u64,
        /// Handshake bytes.
        data: Bytes,
    },
    /// `NEW_TOKEN`.
    NewToken(Bytes),
    /// STREAM.
    Stream {
        /// The stream.
        id: StreamId,
        /// Offset of the first byte.
        offset: u64,
        /// Bytes of data.
        len: u64,
        /// Whether the stream ends with them.
        fin: bool,
        /// Whether a length field stands in front of the data; without one the frame extends to the end of the packet.
        explicit_len: bool,
    },
    /// `MAX_DATA`.
    MaxData(u64),
    /// `MAX_STREAM_DATA`.
    MaxStreamData {
        /// The stream.
        id: StreamId,
        /// Bytes of the stream that the peer may send.
        limit: u64,
    },
    /// `MAX_STREAMS`.
    MaxStreams {
        /// Of which kind.
        kind: Directionality,
        /// Streams that the peer may open in total.
        limit: u64,
    },
    /// `DATA_BLOCKED`.
    DataBlocked(u64),
    /// `STREAM_DATA_BLOCKED`.
    StreamDataBlocked {
        /// The stream.
        id: StreamId,
        /// The limit that blocks it.
        limit: u64,
    },
    /// `STREAMS_BLOCKED`.
    StreamsBlocked {
        /// Of which kind.
        kind: Directionality,
        /// The limit that blocks.
        limit: u64,
    },
    /// `NEW_CONNECTION_ID`.
    NewConnectionId(Box<NewConnectionId>),
    /// `RETIRE_CONNECTION_ID` with its sequence number.
    RetireConnectionId(u64),
    /// `PATH_CHALLENGE` with its data.
    PathChallenge(u64),
    /// `PATH_RESPONSE` with the data of the challenge.
    PathResponse(u64),
    /// `CONNECTION_CLOSE`.
    ConnectionClose(Box<Close>),
    /// `HANDSHAKE_DONE`.
    HandshakeDone,
    /// DATAGRAM (RFC 9221).
    Datagram {
        /// Its content.
        data: Bytes,
        /// Whether a length field stands in front of the data.
        explicit_len: bool,
    },
    /// `ACK_FREQUENCY` (draft-ietf-quic-ack-frequency section 4).
    AckFrequency {
        /// Sequence number of the request.
        sequence: u64,
        /// Ack-eliciting packets that may stay unacknowledged.
        threshold: u64,
        /// Requested `max_ack_delay` in microseconds.
        max_ack_delay: u64,
        /// Reordering threshold.
        reordering: u64,
    },
    /// `IMMEDIATE_ACK` (draft-ietf-quic-ack-frequency section 5).
    ImmediateAck,
    /// `PATH_ACK` (draft-ietf-quic-multipath section 4.1).
    PathAck {
        /// The path on which the acknowledged packets were sent.
        path: u32,
        /// The fields of an ACK frame.
        ack: Ack,
    },
    /// A frame that manages paths.
    Path(PathFrame),
}

const _: () = assert!(size_of::<Frame>() <= 48, "a packet carries frames by value");

/// The fields of a `NEW_CONNECTION_ID` frame (RFC 9000 section 19.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewConnectionId {
    /// Sequence number.
    pub sequence: u64,
    /// All IDs with smaller sequence numbers are to be retired.
    pub retire_prior_to: u64,
    /// The ID.
    pub id: ConnectionId,
    /// Its stateless reset token.
    pub token: ResetToken,
}

/// The fields of a `CONNECTION_CLOSE` frame (RFC 9000 section 19.19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// Error code.
    pub code: u64,
    /// Type of the offending frame, 0 if unknown; `None` for an error of the application.
    pub frame_type: Option<u64>,
    /// Reason phrase.
    pub reason: Bytes,
}
