//! Records of a packet's frames, kept until it is acknowledged or lost (RFC 9000 section 13.3).

use leobench_base::StreamIndex;
use smallvec::SmallVec;

use crate::wire::{Directionality, StreamId};

/// The frames of a packet whose fate matters to its sender, in order.
pub(crate) type SentFrames = SmallVec<[SentFrame; 1]>;

/// A frame whose fate matters to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentFrame {
    /// `len` bytes of a stream from `start` on.
    Stream { id: StreamId, start: u64, len: u32, fin: bool },
    /// Bytes of the handshake.
    Crypto { start: u64, end: u64 },
    /// An acknowledgement up to `largest`.
    Ack { largest: u64 },
    /// `MAX_DATA`.
    MaxData,
    /// `MAX_STREAM_DATA`.
    MaxStreamData(StreamId),
    /// `MAX_STREAMS`.
    MaxStreams(Directionality),
    /// `DATA_BLOCKED`.
    DataBlocked,
    /// `STREAM_DATA_BLOCKED`.
    StreamDataBlocked(StreamId),
    /// `STREAMS_BLOCKED`.
    StreamsBlocked(Directionality),
    /// `RESET_STREAM`.
    ResetStream(StreamId),
    /// `STOP_SENDING`.
    StopSending(StreamId),
    /// `NEW_CONNECTION_ID` with its sequence number.
    NewConnectionId(u64),
    /// `RETIRE_CONNECTION_ID` with its sequence number.
    RetireConnectionId(u64),
    /// `HANDSHAKE_DONE`.
    HandshakeDone,
    /// `ACK_FREQUENCY`.
    AckFrequency,
    /// DATAGRAM with the number of the datagram.
    Datagram(u64),
    /// DATAGRAM with a datagram of the flow: its message, number, stream and payload bytes.
    Part { message: u64, id: u64, stream: StreamIndex, payload: u16 },
    /// `PATH_CHALLENGE`.
    PathChallenge,
    /// `PATH_RESPONSE`.
    PathResponse,
    /// PING.
    Ping,
    /// `PATH_ACK` of a path up to `largest`.
    PathAck { path: u32, largest: u64 },
    /// `PATH_ABANDON` of a path.
    PathAbandon(u32),
    /// The status of a path, with its sequence number.
    PathStatus { path: u32, sequence: u64 },
    /// `PATH_NEW_CONNECTION_ID` of a path with its sequence number.
    PathNewConnectionId { path: u32, sequence: u64 },
    /// `PATH_RETIRE_CONNECTION_ID` of a path with its sequence number.
    PathRetireConnectionId { path: u32, sequence: u64 },
    /// `MAX_PATH_ID` with its value.
    MaxPathId(u32),
    /// `PATHS_BLOCKED` or `PATH_CIDS_BLOCKED`, which are not repeated.
    PathsBlocked,
}

const _: () = assert!(size_of::<SentFrame>() == 24, "every packet in flight keeps some");
