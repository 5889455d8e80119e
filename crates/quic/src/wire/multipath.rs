//! Frames that manage paths (draft-ietf-quic-multipath section 4), but for `PATH_ACK`.

use bytes::{BufMut, BytesMut};

use super::frame::NewConnectionId;
use super::kind::types;
use super::{varint_size, write_varint};

/// Bytes of the type of each of these frames.
const TYPE_SIZE: u64 = 2;

/// A frame that manages paths. Path IDs are below 2^32, for they are a part of the nonce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathFrame {
    /// `PATH_ABANDON`.
    Abandon {
        /// The path.
        path: u32,
        /// Why it is abandoned.
        code: u64,
    },
    /// `PATH_STATUS_BACKUP` or `PATH_STATUS_AVAILABLE`.
    Status {
        /// The path.
        path: u32,
        /// Number of the status among those of the path.
        sequence: u64,
        /// Whether the path is to be used only if no other one can be.
        backup: bool,
    },
    /// `PATH_NEW_CONNECTION_ID`.
    NewConnectionId {
        /// The path.
        path: u32,
        /// The other fields.
        new: Box<NewConnectionId>,
    },
    /// `PATH_RETIRE_CONNECTION_ID`.
    RetireConnectionId {
        /// The path.
        path: u32,
        /// Sequence number of the ID.
        sequence: u64,
    },
    /// `MAX_PATH_ID`.
    MaxPathId(u32),
    /// `PATHS_BLOCKED` with the limit.
    PathsBlocked(u32),
    /// `PATH_CIDS_BLOCKED`.
    CidsBlocked {
        /// The path.
        path: u32,
        /// The next sequence number that is expected.
        next: u64,
    },
}

impl PathFrame {
    /// Its type on the wire.
    pub const fn frame_type(&self) -> u64 {
        match self {
            Self::Abandon { .. } => types::PATH_ABANDON,
            Self::Status { backup: true, .. } => types::PATH_STATUS_BACKUP,
            Self::Status { backup: false, .. } => types::PATH_STATUS_AVAILABLE,
            Self::NewConnectionId { .. } => types::PATH_NEW_CONNECTION_ID,
            Self::RetireConnectionId { .. } => types::PATH_RETIRE_CONNECTION_ID,
            Self::MaxPathId(_) => types::MAX_PATH_ID,
            Self::PathsBlocked(_) => types::PATHS_BLOCKED,
            Self::CidsBlocked { .. } => types::PATH_CIDS_BLOCKED,
        }
    }

    /// The path ID in the frame: that of its path, or the limit that it names.
    pub const fn path(&self) -> u32 {
        match self {
            Self::Abandon { path, .. }
            | Self::Status { path, .. }
            | Self::NewConnectionId { path, .. }
            | Self::RetireConnectionId { path, .. }
            | Self::MaxPathId(path)
            | Self::PathsBlocked(path)
            | Self::CidsBlocked { path, .. } => *path,
        }
    }

    /// Bytes of the frame.
    pub fn size(&self) -> u64 {
        let fields = match self {
            Self::Abandon { code: number, .. }
            | Self::Status { sequence: number, .. }
            | Self::RetireConnectionId { sequence: number, .. }
            | Self::CidsBlocked { next: number, .. } => varint_size(*number),
            Self::NewConnectionId { new, .. } => new.size(),
            Self::MaxPathId(_) | Self::PathsBlocked(_) => 0,
        };
        TYPE_SIZE + varint_size(self.path().into()) + fields
    }

    /// Appends what follows the type.
    pub(super) fn encode_fields(&self, out: &mut BytesMut) {
        write_varint(out, self.path().into());
        match self {
            Self::Abandon { code: number, .. }
            | Self::Status { sequence: number, .. }
            | Self::RetireConnectionId { sequence: number, .. }
            | Self::CidsBlocked { next: number, .. } => write_varint(out, *number),
            Self::NewConnectionId { new, .. } => new.encode(out),
            Self::MaxPathId(_) | Self::PathsBlocked(_) => {}
        }
    }
}

impl NewConnectionId {
    /// Bytes of the fields.
    pub(super) fn size(&self) -> u64 {
        let numbers = varint_size(self.sequence) + varint_size(self.retire_prior_to);
        numbers + 1 + self.id.size() + self.token.0.len() as u64
    }

    /// Appends the fields.
    pub(super) fn encode(&self, out: &mut BytesMut) {
        write_varint(out, self.sequence);
        write_varint(out, self.retire_prior_to);
        out.put_u8(self.id.size() as u8);
        out.put_slice(self.id.as_slice());
        out.put_slice(&self.token.0);
    }
}
