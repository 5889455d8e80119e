//! A packet under construction.

use leobench_transport::endpoint::PathId;
use smallvec::SmallVec;

use crate::sent_frame::{SentFrame, SentFrames};
use crate::wire::{Datagram, Frame, Frames, Header, Number, Packet, Space, TAG_SIZE};

/// The packets of a datagram.
pub(in crate::connection) type Packets = SmallVec<[Packet; 1]>;

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
    pub(super) probes_route: bool,
}

impl PacketBuilder {
    /// An empty packet with `room` for frames, in a box that another datagram has come in, if there is one.
    #[expect(
        clippy::inline_always,
        reason = "every packet takes this step, from one place that matters"
    )]
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
            probes_route: false,
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

    pub(in crate::connection) fn size(&self) -> u64 {
        self.header().size(self.payload) + self.payload + TAG_SIZE
    }

    /// Whether it has no frames.
    #[inline]
    pub(in crate::connection) fn is_empty(&self) -> bool {
        self.payload == 0
    }
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
