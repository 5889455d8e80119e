//! The packet under construction: its room, and the shares of the streams.

use leobench_base::StreamIndex;
use leobench_base::varint::varint_size;

use crate::buffer::SendBuffer;

/// The room in the packet under construction, and the shares of the streams.
///
/// A stream's first share also costs the header of its STREAM frame (RFC 9000 section 19.8); the frame that fills the
/// packet needs no length field.
#[derive(Debug, Default)]
pub struct PacketShares {
    room: u64,
    costs: FrameCosts,
    shares: Vec<Share>,
}

/// Bytes of one stream that go into a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Stream number within the flow.
    pub stream: StreamIndex,
    /// Application bytes.
    pub bytes: u64,
}

/// The room that a stack needs for STREAM frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameCosts {
    /// The exact size of the frames.
    #[default]
    Exact,
    /// The room that `noq-proto` reserves: it starts no frame in little room, and keeps eight bytes for a length.
    Noq,
}

impl FrameCosts {
    /// No frame starts in this much room or less.
    const fn too_small(self) -> u64 {
        match self {
            Self::Exact => SMALLEST_FRAME - 1,
            Self::Noq => SMALLEST_ROOM,
        }
    }

    /// In more room than this, every stream can start a frame.
    pub(super) const fn most_unusable(self) -> u64 {
        match self {
            Self::Exact => LARGEST_HEADER,
            Self::Noq => SMALLEST_ROOM + LENGTH_RESERVE,
        }
    }
}

/// A STREAM frame with a byte, without an offset and a length.
const SMALLEST_FRAME: u64 = 3;
/// The longest header of a STREAM frame without a length: type, stream number, offset.
pub const LARGEST_HEADER: u64 = 1 + 8 + 8;
/// The stack starts no STREAM frame in this much room or less (`frame::Stream::SIZE_BOUND` of `noq-proto`).
const SMALLEST_ROOM: u64 = 25;
/// Room that the stack reserves for the length field of a frame that does not fill the packet.
pub const LENGTH_RESERVE: u64 = 8;

impl PacketShares {
    /// Starts a packet with `room` bytes for STREAM frames, headers included.
    pub fn start(&mut self, room: u64, costs: FrameCosts) {
        (self.room, self.costs) = (room, costs);
        self.shares.clear();
    }

    /// Bytes left in the packet, after the headers of the frames so far.
    pub fn room(&self) -> u64 {
        self.room
    }

    /// Whether there may be room for another frame.
    pub fn has_room(&self) -> bool {
        self.room > self.costs.too_small()
    }

    /// Whether there is room for a frame of any stream.
    pub(super) fn has_ample_room(&self) -> bool {
        self.room > self.costs.most_unusable()
    }

    /// The shares so far, in the order of their frames in the packet.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Gives up to `want` bytes of the packet to `stream`, limited by its waiting bytes and the room, and returns how
    /// many it got.
    pub fn give(&mut self, streams: &SendBuffer, stream: StreamIndex, want: u64) -> u64 {
        let buffer = &streams.streams()[stream];
        let held = self.shares.iter().position(|share| share.stream == stream);
        let given = held.map_or(0, |index| self.shares[index].bytes);
        let want = want.min(buffer.backlog().saturating_sub(given));
        if let Some(index) = held {
            return self.enlarge(index, want);
        }
        self.give_first(stream, frame_header(stream, buffer.taken()), want)
    }

    /// Fills an empty packet with frames of streams, headers of frames, and bytes, of which more are waiting: their lengths take
    /// two bytes, but the last frame has none, and together they take all the room.
    #[inline]
    pub(super) fn fill(&mut self, frames: impl ExactSizeIterator<Item = (StreamIndex, u64, u64)>) {
        if self.costs == FrameCosts::Exact {
            self.shares.extend(frames.map(|(stream, _, bytes)| Share { stream, bytes }));
            self.room = 0;
            return;
        }
        let last = frames.len() - 1;
        for (index, (stream, header, bytes)) in frames.enumerate() {
            let want = if index == last { self.room } else { bytes };
            self.give_first(stream, header, want);
        }
    }

    /// The same as [`give`](Self::give) for a stream that has no share yet, at least `want` bytes waiting, and a frame whose header takes `header`
    /// bytes.
    #[inline]
    fn give_first(&mut self, stream: StreamIndex, header: u64, want: u64) -> u64 {
        if !self.has_room() {
            return 0;
        }
        let room = self.room.saturating_sub(header);
        let bytes = match self.costs {
            _ if want >= room => room,
            FrameCosts::Exact => fit_with_length(want, room),
            FrameCosts::Noq => want.min(room.saturating_sub(LENGTH_RESERVE)),
        };
        if bytes > 0 {
            let length = if bytes == room { 0 } else { varint_size(bytes) };
            self.room = room - bytes - length;
            self.shares.push(Share { stream, bytes });
        }
        bytes
    }

    /// Adds up to `want` bytes to a share.
    fn enlarge(&mut self, index: usize, want: u64) -> u64 {
        let given = self.shares[index].bytes;
        let bytes = match self.costs {
            FrameCosts::Noq => want.min(self.room),
            // A frame without a length has used up the room.
            FrameCosts::Exact if self.room == 0 => 0,
            FrameCosts::Exact => {
                let room = given + varint_size(given) + self.room;
                fit_with_length(given + want, room) - given
            }
        };
        let longer = match self.costs {
            FrameCosts::Noq => 0,
            FrameCosts::Exact => varint_size(given + bytes) - varint_size(given),
        };
        self.shares[index].bytes += bytes;
        self.room -= bytes + longer;
        bytes
    }
}

/// The most of `want` bytes that fit into `room` together with their length field.
pub const fn fit_with_length(want: u64, room: u64) -> u64 {
    // A length field of the room's own size is long enough, and perhaps one too long.
    let length = varint_size(room.saturating_sub(varint_size(room)));
    let (rest, largest) = (room.saturating_sub(length), (1 << (8 * length - 2)) - 1);
    let bytes = if rest < largest { rest } else { largest };
    if want < bytes { want } else { bytes }
}

/// Bytes of a STREAM frame's header without its length: type, stream number, offset.
pub(super) fn frame_header(stream: StreamIndex, offset: u64) -> u64 {
    stream_header(stream.index() as u64 * 4 + 3, offset)
}

/// Bytes of a STREAM frame's header without its length, by the stream's ID.
pub const fn stream_header(id: u64, offset: u64) -> u64 {
    1 + varint_size(id) + if offset == 0 { 0 } else { varint_size(offset) }
}

/// Bytes of a STREAM frame that does not fill its packet.
pub fn frame_size(stream: StreamIndex, offset: u64, bytes: u64) -> u64 {
    frame_header(stream, offset) + varint_size(bytes) + bytes
}

#[cfg(test)]
mod tests {
    use leobench_base::{Bytes, SimTime};
    use proptest::prelude::*;

    use super::*;
    use crate::buffer::{Attributes, Message};

    /// Byte by byte from the definition.
    fn fit(want: u64, room: u64) -> u64 {
        (0..=want.min(room)).rev().find(|bytes| bytes + varint_size(*bytes) <= room).unwrap_or(0)
    }

    #[test]
    fn as_much_as_can_be_fits_behind_a_length() {
        for room in (0..200).chain(16_300..16_500) {
            for want in [0, 1, 62, 63, 64, 65, 66, 100, 16_382, 16_383, 16_384, 16_385, 20_000] {
                assert_eq!(fit_with_length(want, room), fit(want, room), "{want} in {room}");
            }
        }
        // 63 bytes and a length of one; 64 need two.
        assert_eq!([64, 65, 66].map(|room| fit_with_length(1_000, room)), [63, 63, 64]);
    }

    proptest! {
        /// However a packet is shared out, its frames take what they are accounted for.
        #[test]
        fn the_room_is_what_the_frames_leave(
            room in 0u64..1_500,
            gives in prop::collection::vec((0usize..6, 0u64..400), 1..12),
        ) {
            let mut buffer = SendBuffer::new(&[Attributes::default(); 6]);
            for (number, taken) in [0, 10, 100, 20_000, 0, 70].into_iter().enumerate() {
                let (stream, size) = (number.into(), Bytes::new(100_000));
                buffer.push(stream, Message { size, created: SimTime::ZERO });
                buffer.take(stream, taken);
            }
            let mut packet = PacketShares::default();
            packet.start(room, FrameCosts::Exact);
            for (stream, want) in gives {
                let (stream, before) = (StreamIndex::from(stream), packet.room());
                let header = frame_header(stream, buffer.streams()[stream].taken());
                let known = packet.shares().iter().any(|share| share.stream == stream);
                let given = packet.give(&buffer, stream, want);
                prop_assert!(given <= want);
                // Nothing is refused without need.
                let could = known || before <= header || want == 0;
                prop_assert!(given > 0 || could || before - header < 2, "{before} {header} {want}");
                let frames = packet.shares();
                let last = frames.len().saturating_sub(1);
                let mut used = 0;
                for (index, share) in frames.iter().enumerate() {
                    let offset = buffer.streams()[share.stream].taken();
                    used += frame_header(share.stream, offset) + share.bytes;
                    let fills = index == last && used == room;
                    used += if fills { 0 } else { varint_size(share.bytes) };
                }
                prop_assert_eq!(used + packet.room(), room);
            }
        }
    }
}
