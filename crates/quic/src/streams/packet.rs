//! The payload of a packet under construction.

use leobench_transport::scheduler::{fit_with_length, stream_header};

use crate::sent_frame::{SentFrame, SentFrames};
use crate::wire::{Frame, Frames, StreamId, varint_size};

/// Frames, what they stand for, and the room left for more.
pub(super) struct Payload<'a> {
    pub(super) room: u64,
    pub(super) frames: &'a mut Frames,
    pub(super) carried: &'a mut SentFrames,
}

impl Payload<'_> {
    /// Puts in a frame, if there is room.
    pub(super) fn add(&mut self, frame: Frame, carried: SentFrame) -> bool {
        let size = frame.size();
        if size > self.room {
            return false;
        }
        self.room -= size;
        self.frames.push(frame);
        self.carried.push(carried);
        true
    }

    /// Puts in up to `want` bytes of a stream from `offset` on, and if they are all of them and `ends`, its end; returns how
    /// many bytes, and whether the end. The frame that fills the packet has no length.
    #[inline]
    pub(super) fn add_stream(
        &mut self,
        id: StreamId,
        offset: u64,
        want: u64,
        ends: bool,
    ) -> Option<(u64, bool)> {
        let room = self.room.checked_sub(stream_header(id.0, offset))?;
        let explicit_len = want < room;
        let len = if explicit_len { fit_with_length(want, room) } else { room };
        if len == 0 && want > 0 {
            return None;
        }
        let fin = ends && len == want;
        self.room = if explicit_len { room - len - varint_size(len) } else { 0 };
        // Made where it stays: a copy would wait until its small fields are written.
        let frame = || Frame::Stream { id, offset, len, fin, explicit_len };
        self.frames.extend(std::iter::once_with(frame));
        self.carried.push(SentFrame::Stream { id, start: offset, len: len as u32, fin });
        Some((len, fin))
    }
}
