//! The end of a connection (RFC 9000 section 10).

use bytes::Bytes as Payload;
use leobench_base::{SimDuration, SimTime};
use leobench_transport::endpoint::{Loss, PathId};

use super::Connection;
use super::transmit::{Builders, Departure, Output, SMALLEST_SAMPLED, pad};
use crate::paths::Path;
use crate::qlog::Ending;
use crate::wire::{Close, ErrorCode, Frame, Packet, Space, TransportError};

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

impl State {
    /// Whether the connection neither closes nor is closed.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    /// A packet of a path arrived, and `closes` if it has a `CONNECTION_CLOSE`.
    fn on_packet(&mut self, path: PathId, closes: bool) {
        let Self::Closing(closing) = self else { return };
        if closes {
            // RFC 9000 section 10.2.2: "the draining state ends when the closing state would have ended".
            *self = Self::Draining { until: closing.until };
            return;
        }
        closing.path = path;
        closing.received += 1;
        if closing.received >= closing.patience {
            (closing.received, closing.due) = (0, true);
            closing.patience = closing.patience.saturating_mul(2);
        }
    }

    /// When closing or draining ends.
    pub(super) fn timer(&self) -> Option<SimTime> {
        match self {
            Self::Open | Self::Closed => None,
            Self::Closing(Closing { until, .. }) | Self::Draining { until } => Some(*until),
        }
    }

    /// The reason of a close that is to be sent now.
    fn due(&mut self) -> Option<&mut Closing> {
        match self {
            Self::Closing(closing) if closing.due => Some(closing),
            _ => None,
        }
    }
}

impl Connection {
    /// Whether it neither closes nor is closed.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.state.is_open()
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// The application closes the connection.
    pub(crate) fn close(&mut self, now: SimTime, code: u64, reason: &str) {
        let close =
            Close { code, frame_type: None, reason: Payload::copy_from_slice(reason.as_bytes()) };
        self.begin_close(now, self.paths.current(), close, "closed by the application");
    }

    /// The peer broke the protocol in a packet of a path, or this end cannot go on there.
    #[cold]
    pub(super) fn fail(&mut self, now: SimTime, id: PathId, error: &TransportError) {
        let end = if error.code.blames_this_end() { "this end" } else { "the other end" };
        let reason = format!("closed by an error of {end}: {error}");
        self.begin_close(now, id, error.close(), &reason);
    }

    fn begin_close(&mut self, now: SimTime, path: PathId, close: Close, reason: &str) {
        if self.is_open() {
            self.end(now, Ending::Local(&close), reason);
            let until = now + self.linger();
            let closing = Closing { close, path, until, due: true, received: 0, patience: 1 };
            self.state = State::Closing(closing);
        }
    }

    /// A packet of a path arrived while the connection closes.
    pub(super) fn on_packet_while_closing(&mut self, id: PathId, packet: &Packet) {
        let closes = packet.frames.iter().any(|it| matches!(it, Frame::ConnectionClose(_)));
        self.state.on_packet(id, closes);
    }

    /// The peer closed the connection.
    pub(super) fn on_close(&mut self, now: SimTime, close: &Close) {
        let text = String::from_utf8_lossy(&close.reason);
        let kind = if close.frame_type.is_some() { "error" } else { "application error" };
        let reason = format!("closed by the peer: {kind} {:#x} {text}", close.code);
        self.reports.peer_close = Some(close.clone());
        self.drain(now, Ending::Remote(close), reason.trim_end());
    }

    /// The peer ended the connection: nothing is sent any more.
    pub(super) fn drain(&mut self, now: SimTime, ending: Ending<'_>, reason: &str) {
        self.end(now, ending, reason);
        self.state = State::Draining { until: now + self.linger() };
    }

    /// The connection ends at once: after an idle time, or before there is anybody to tell. `trigger` is qlog's name for it.
    pub(super) fn abandon(&mut self, now: SimTime, reason: &str, trigger: &'static str) {
        if self.is_open() {
            self.end(now, Ending::Trigger(trigger), reason);
        }
        self.state = State::Closed;
    }

    /// Logs and reports the end of the connection.
    fn end(&mut self, now: SimTime, ending: Ending<'_>, reason: &str) {
        self.qlog.closed(now, ending, reason);
        self.reports.lost = Some(Loss { at: now, reason: reason.to_owned() });
    }

    fn linger(&self) -> SimDuration {
        self.paths.longest_probe_timeout() * LINGER
    }

    /// The frame with the reason of a close in `space`. An application's reason is not shown before the handshake is complete
    /// (RFC 9000 section 10.2.3).
    fn close_frame(&self, close: &Close, space: Space) -> Option<Frame> {
        if !self.keys.can_send(space) || space == Space::Data && !self.handshake.complete {
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

    /// Sends the datagram that closes the connection, if it is due, and an unvalidated address does not hold it back. Returns
    /// whether it was sent.
    #[cold]
    pub(super) fn transmit_close(&mut self, now: SimTime, out: &mut Output<'_>) -> bool {
        let Some(Closing { close, path, .. }) = self.state.due() else { return false };
        let (close, path) = (close.clone(), *path);
        let is_open = self.paths.get(path).is_some_and(Path::is_open);
        let id = if is_open { path } else { self.paths.current() };
        let limit = self.paths[id].datagram_limit();
        let mut left = limit;
        let mut builders = Builders::new();
        for space in Space::ALL {
            let Some(frame) = self.close_frame(&close, space) else { continue };
            let least = frame.size().max(SMALLEST_SAMPLED);
            let Some(mut builder) = self.begin_packet(id, space, left, least, None) else {
                return false;
            };
            builder.push(frame, None);
            builder.pad_to_sample();
            left -= builder.size();
            builders.push(builder);
        }
        if builders.is_empty() {
            return false;
        }
        if let Some(closing) = self.state.due() {
            closing.due = false;
        }
        pad(self.role, &mut builders, limit, left);
        // Nobody acknowledges it.
        builders.iter_mut().for_each(|builder| builder.in_flight = false);
        self.commit_all(now, Departure::new(id, false), builders, out);
        true
    }
}
