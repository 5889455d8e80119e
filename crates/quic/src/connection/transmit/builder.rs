//! A packet under construction.

use leobench_transport::Role;
use leobench_transport::endpoint::PathId;
use smallvec::SmallVec;

use crate::MINIMUM_DATAGRAM;
use crate::sent_frame::{SentFrame, SentFrames};
use crate::wire::{Datagram, Frame, Frames, Header, Number, Packet, Space, TAG_SIZE};

/// The packets of a datagram.
type Packets = SmallVec<[Packet; 1]>;

/// Packets under construction that will share a datagram.
pub(in crate::connection) type Builders = SmallVec<[PacketBuilder; 3]>;

/// A packet number and the payload after it have at least four bytes, so that header protection has a sample (RFC 9001
/// section 5.4.2).
pub(in crate::connection) const SMALLEST_SAMPLED: u64 = 4;

/// A packet under construction, in the datagram that it will travel in if it is the first one there.
pub(in crate::connection) struct PacketBuilder {
    /// The path that it leaves on.
    pub(in crate::connection) path: PathId,
    pub(in crate::connection) space: Space,
    pub(in crate::connection) number: Number,
    pub(super) datagram: Box<Datagram>,
    pub(in crate::connection) carried: SentFrames,
    /// Bytes of the frames.
    pub(super) payload: u64,
    /// Room left for frames.
    pub(in crate::connection) room: u64,
    pub(in crate::connection) ack_eliciting: bool,
    /// Whether it counts towards the window (RFC 9002 section 2).
    pub(in crate::connection) in_flight: bool,
    /// Whether it has a path challenge or response, and so wants a large datagram (RFC 9000 section 8.2.1).
    pub(super) validates: bool,
}

impl PacketBuilder {
    /// An empty packet with `room` for frames, in a box that another datagram has come in, if there is one.
    #[inline(always)]
    pub(in crate::connection) fn new(
        used: Option<Box<Datagram>>,
        path: PathId,
        space: Space,
        header: Header,
        room: u64,
    ) -> Self {
        let number = header.number();
        let datagram = match used {
            Some(mut used) => {
                match &mut *used {
                    Datagram::Packets(packets) if packets.len() == 1 => {
                        packets[0].header = header;
                        packets[0].frames.clear();
                    }
                    other => *other = single(header),
                }
                used
            }
            None => Box::new(single(header)),
        };
        Self {
            path,
            space,
            number,
            datagram,
            carried: SentFrames::new(),
            payload: 0,
            room,
            ack_eliciting: false,
            in_flight: false,
            validates: false,
        }
    }

    pub(in crate::connection) fn header(&self) -> &Header {
        &packet(&self.datagram).header
    }

    pub(super) fn frames(&self) -> &Frames {
        &packet(&self.datagram).frames
    }

    /// The frames to write, and beside them what they carry.
    pub(in crate::connection) fn frames_mut(&mut self) -> (&mut Frames, &mut SentFrames) {
        (&mut packet_mut(&mut self.datagram).frames, &mut self.carried)
    }

    /// Frames of streams were put in, which take so many bytes.
    #[inline]
    pub(in crate::connection) fn on_streams(&mut self, used: u64) {
        self.room -= used;
        self.payload += used;
        self.ack_eliciting |= used > 0;
        self.in_flight |= used > 0;
    }

    pub(in crate::connection) fn push(&mut self, frame: Frame, carried: Option<SentFrame>) {
        let size = frame.size();
        debug_assert!(size <= self.room, "{frame:?} in {} bytes", self.room);
        self.payload += size;
        self.room -= size;
        self.ack_eliciting |= frame.is_ack_eliciting();
        self.in_flight |= frame.is_in_flight();
        let (frames, contents) = self.frames_mut();
        frames.push(frame);
        contents.extend(carried);
    }

    pub(in crate::connection) fn fits(&self, frame: &Frame) -> bool {
        frame.size() <= self.room
    }

    #[inline(never)]
    pub(super) fn pad(&mut self, bytes: u64) {
        if bytes > 0 {
            self.payload += bytes;
            self.room = self.room.saturating_sub(bytes);
            self.in_flight = true;
            let frames = self.frames_mut().0;
            match frames.last_mut() {
                Some(Frame::Padding(padding)) => *padding += bytes,
                _ => frames.push(Frame::Padding(bytes)),
            }
        }
    }

    /// Pads the packet so that header protection has a sample.
    pub(in crate::connection) fn pad_to_sample(&mut self) {
        let sampled = u64::from(self.number.len) + self.payload;
        self.pad(SMALLEST_SAMPLED.saturating_sub(sampled));
    }

    /// Makes sure that the peer acknowledges a probe. A server follows its client to a new address only by what does more than
    /// probe a path (RFC 9000 section 9.3).
    #[cold]
    pub(super) fn add_ping(&mut self) {
        let idle = !self.ack_eliciting || self.frames().iter().all(Frame::is_probing);
        if idle && self.room > 0 {
            self.push(Frame::Ping, Some(SentFrame::Ping));
        }
    }

    pub(in crate::connection) fn size(&self) -> u64 {
        self.header().size(self.payload) + self.payload + TAG_SIZE
    }

    /// Whether it has no frames.
    #[inline]
    pub(in crate::connection) fn is_empty(&self) -> bool {
        self.payload == 0
    }
}

/// Pads datagrams of three kinds as far as `limit` lets them: all of a client with Initial packets, those of a server whose
/// Initial packet asks for an acknowledgement (RFC 9000 section 14.1), and those that validate a route (section 8.2.1).
pub(in crate::connection) fn pad(
    role: Role,
    builders: &mut [PacketBuilder],
    limit: u64,
    left: u64,
) {
    let padded = builders.iter().any(|builder| {
        let is_initial = builder.space == Space::Initial;
        builder.validates || is_initial && (role == Role::Client || builder.ack_eliciting)
    });
    let Some(last) = builders.last_mut().filter(|_| padded) else { return };
    let missing = MINIMUM_DATAGRAM.min(limit).saturating_sub(limit - left);
    // The padding may lengthen the Length field of a long header.
    let header = last.header();
    let grown = header.size(last.payload + missing) - header.size(last.payload);
    last.pad(missing.saturating_sub(grown));
}

/// A datagram of one packet, without frames.
fn single(header: Header) -> Datagram {
    Datagram::Packets(Packets::from_buf([Packet { header, frames: Frames::new() }]))
}

/// The only packet of a datagram under construction.
pub(in crate::connection) fn packet(datagram: &Datagram) -> &Packet {
    match datagram {
        Datagram::Packets(packets) => &packets[0],
        _ => unreachable!("a datagram under construction has a packet"),
    }
}

/// Mutable access to the same packet as `packet`.
fn packet_mut(datagram: &mut Datagram) -> &mut Packet {
    match datagram {
        Datagram::Packets(packets) => &mut packets[0],
        _ => unreachable!("a datagram under construction has a packet"),
    }
}

/// Puts the packet of `next` behind those of `whole`, if there are any.
#[expect(clippy::unnecessary_box_returns, reason = "it is boxes that leave, and are used again")]
pub(super) fn coalesce(whole: Option<Box<Datagram>>, mut next: Box<Datagram>) -> Box<Datagram> {
    let Some(mut whole) = whole else { return next };
    if let (Datagram::Packets(packets), Datagram::Packets(more)) = (&mut *whole, &mut *next) {
        packets.append(more);
    }
    whole
}
