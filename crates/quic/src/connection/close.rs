//! The end of a connection (RFC 9000 section 10).

use bytes::Bytes as Payload;
use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::{Loss, PathId};
use smallvec::SmallVec;

use super::transmit::{Departure, Output, Packets};
use super::{Connection, SPACES};
use crate::MINIMUM_DATAGRAM;
use crate::paths::Path;
use crate::qlog::Ending;
use crate::recovery::SentPacket;
use crate::sent_frame::SentFrames;
use crate::wire::{
    Close, Datagram, ErrorCode, Frame, Frames, Level, Packet, Space, TransportError,
};

/// Probe timeouts that a connection stays closing or draining (RFC 9000 section 10.2).
const LINGER: u64 = 3;

/// Whether the connection goes on.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// It does.
    Open,
    /// This end closes it, and answers packets with the reason until then (section 10.2.1).
    Closing(Closing),
    /// The peer closed it: nothing is sent any more (section 10.2.2).
    Draining {
        /// When it is forgotten.
        until: SimTime,
    },
    /// It is forgotten.
    Closed,
}

/// The reason of a close, and when it is repeated.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    close: Close,
    /// The path to close on: the one of the packet that was wrong or, later, that arrived last.
    path: PathId,
    until: SimTime,
    /// Whether it is to be sent now.
    due: bool,
    /// Packets received since it was sent, and how many make it due again: twice as many each time.
    received: u32,
    patience: u32,
}

impl Connection {
    /// Whether it neither closes nor is closed.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// The application closes the connection.
    pub(crate) fn close(&mut self, now: SimTime, code: u64, reason: &str) {
        let close =
            Close { code, frame_type: None, reason: Payload::copy_from_slice(reason.as_bytes()) };
        self.begin_close(now, self.paths.current(), close, "closed by the application".to_owned());
    }

    /// The peer broke the protocol in a packet of a path, or this end cannot go on there.
    #[cold]
    pub(super) fn fail(&mut self, now: SimTime, id: PathId, error: &TransportError) {
        let end = if error.code.blames_this_end() { "this end" } else { "the other end" };
        let reason = format!("closed by an error of {end}: {error}");
        self.begin_close(now, id, error.close(), reason);
    }

    fn begin_close(&mut self, now: SimTime, path: PathId, close: Close, reason: String) {
        if !self.is_open() {
            return;
        }
        let until = now + self.linger();
        self.log_end(now, Ending::Local(&close), &reason);
        let closing = Closing { close, path, until, due: true, received: 0, patience: 1 };
        self.state = State::Closing(closing);
        self.reports.lost = Some(Loss { at: now, reason });
    }

    /// The peer closed the connection.
    pub(super) fn on_close(&mut self, now: SimTime, close: &Close) {
        if self.is_open() {
            let text = String::from_utf8_lossy(&close.reason);
            let kind = if close.frame_type.is_some() { "error" } else { "application error" };
            let reason = format!("closed by the peer: {kind} {:#x} {text}", close.code);
            self.reports.peer_close = Some(close.clone());
            self.log_end(now, Ending::Remote(close), reason.trim_end());
            self.drain(now, reason.trim_end().to_owned());
        } else if let State::Closing(Closing { until, .. }) = self.state {
            // RFC 9000 section 10.2.2: "the draining state ends when the closing state would have ended".
            self.state = State::Draining { until };
        }
    }

    /// The peer ended the connection: nothing is sent any more.
    pub(super) fn drain(&mut self, now: SimTime, reason: String) {
        self.reports.lost = Some(Loss { at: now, reason });
        self.state = State::Draining { until: now + self.linger() };
    }

    /// The connection ends at once: after an idle time, or before there is anybody to tell. `trigger` is qlog's name for it.
    pub(super) fn abandon(&mut self, now: SimTime, reason: &str, trigger: &'static str) {
        if self.is_open() {
            self.log_end(now, Ending::Trigger(trigger), reason);
            self.reports.lost = Some(Loss { at: now, reason: reason.to_owned() });
        }
        self.state = State::Closed;
    }

    /// A packet of a path arrived while closing.
    pub(super) fn on_packet_while_closing(&mut self, id: PathId) {
        let State::Closing(closing) = &mut self.state else { return };
        closing.path = id;
        closing.received += 1;
        if closing.received >= closing.patience {
            (closing.received, closing.due) = (0, true);
            closing.patience = closing.patience.saturating_mul(2);
        }
    }

    /// When closing or draining ends.
    pub(super) fn close_timer(&self) -> Option<SimTime> {
        match &self.state {
            State::Open | State::Closed => None,
            State::Closing(Closing { until, .. }) | State::Draining { until } => Some(*until),
        }
    }

    /// The frame to close with in `space`, if it is due. An application's reason is not shown before the handshake is
    /// complete (RFC 9000 section 10.2.3).
    pub(super) fn close_frame(&self, space: Space) -> Option<Frame> {
        let State::Closing(Closing { close, due: true, .. }) = &self.state else { return None };
        if !self.can_send(space) || space == Space::Data && !self.handshake.complete {
            return None;
        }
        let hidden = space != Space::Data && close.frame_type.is_none();
        let close = if hidden {
            TransportError::new(ErrorCode::APPLICATION_ERROR, "").close()
        } else {
            close.clone()
        };
        Some(Frame::ConnectionClose(Box::new(close)))
    }

    /// The close was sent.
    pub(super) fn on_close_sent(&mut self) {
        if let State::Closing(closing) = &mut self.state {
            closing.due = false;
        }
    }

    /// The path to send the close on, if it is still open, or another one.
    fn closing_path(&self) -> Option<PathId> {
        let State::Closing(Closing { path, due: true, .. }) = self.state else { return None };
        let is_open = self.paths.get(path).is_some_and(Path::is_open);
        Some(if is_open { path } else { self.paths.current() })
    }

    fn linger(&self) -> leobench_base::SimDuration {
        self.longest_probe_timeout() * LINGER
    }

    /// The packet that closes the connection in `space`, if there is to be one.
    fn close_packet(&self, path: &Path, space: Space) -> Option<Packet> {
        let frame = self.close_frame(space)?;
        let header = self.header(path, space, path.recovery.next_number(space));
        let mut packet = Packet { header, frames: Frames::new() };
        packet.frames.push(frame);
        let missing = packet.missing_padding();
        if missing > 0 {
            packet.frames.push(Frame::Padding(missing));
        }
        Some(packet)
    }

    /// Sends the datagram that closes the connection, if it is due, and an unvalidated address does not hold it back. Returns
    /// whether it was sent.
    #[cold]
    pub(super) fn transmit_close(&mut self, now: SimTime, out: &mut Output<'_>) -> bool {
        let Some(id) = self.closing_path() else { return false };
        let path = &self.paths[id];
        let mut packets: Packets =
            SPACES.into_iter().filter_map(|space| self.close_packet(path, space)).collect();
        let sizes: SmallVec<[u64; 3]> = packets.iter().map(Packet::size).collect();
        let mut size: u64 = sizes.iter().sum();
        let limit = path.datagram_limit();
        if packets.is_empty() || size > limit {
            return false;
        }
        self.on_close_sent();
        for (packet, size) in packets.iter().zip(sizes) {
            let number = packet.header.number().value;
            let mut sent = SentPacket::new(number, now, size, SentFrames::new());
            (sent.ack_eliciting, sent.in_flight) = (false, false);
            let space = packet.header.level().space();
            self.paths[id].recovery.on_sent(now, space, sent, &mut self.control);
        }
        let short = MINIMUM_DATAGRAM.min(limit).saturating_sub(size);
        if self.role == Role::Client
            && packets[0].header.level() == Level::Initial
            && short > 0
            && let Some(last) = packets.last_mut()
        {
            last.frames.push(Frame::Padding(short));
            size += short;
        }
        for packet in &packets {
            self.log_sent(now, id, &packet.header, &packet.frames, packet.size());
        }
        self.paths[id].on_sent(None, size);
        let departure = Departure::of_size(id, size);
        self.hand_out(now, &departure, Box::new(Datagram::Packets(packets)), out);
        true
    }
}
