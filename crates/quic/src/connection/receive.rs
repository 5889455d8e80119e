//! Taking packets in.

use std::net::SocketAddr;

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::{Connection, violation};
use crate::MINIMUM_DATAGRAM;
use crate::paths::{PathSet, RecvMeta};
use crate::qlog::Ending;
use crate::wire::{
    Ack, ConnectionId, Datagram, Frame, Header, Number, Packet, ResetToken, Space, TransportError,
};

impl Connection {
    /// A datagram of `size` bytes arrived over `tuple`; its packets follow, the first of which goes to `destination`, if it has a
    /// short header.
    pub(crate) fn on_datagram(
        &mut self,
        now: SimTime,
        meta: &RecvMeta,
        destination: Option<ConnectionId>,
    ) {
        let id = self.receiving_path(destination);
        let path = &mut self.paths[id];
        path.on_received(meta.tuple, meta.size);
        if !path.is_unlimited() {
            self.update_handshake_state(now, id);
        }
    }

    /// The path of a datagram whose first packet goes to `destination`, if that has a short header. Long headers, and IDs that
    /// nobody has issued, belong to the first path.
    #[inline]
    pub(super) fn receiving_path(&self, destination: Option<ConnectionId>) -> PathId {
        let destination = destination.filter(|_| self.multipath.is_some());
        destination.and_then(|id| self.path_of(id)).unwrap_or(PathSet::FIRST)
    }

    /// A packet of the datagram arrived as a struct. Returns whether it is addressed to this connection.
    pub(crate) fn on_packet(&mut self, now: SimTime, meta: &RecvMeta, packet: &Packet) -> bool {
        let Some(id) = self.path_of(packet.header.destination()) else { return false };
        if !self.can_expand(id, &packet.header) {
            return true;
        }
        let is_readable = self.keys.protection.on_usual(id, &packet.header)
            || match self.read_unusual(now, id, &packet.header) {
                Ok(is_readable) => is_readable,
                Err(error) => {
                    self.fail(now, id, &error);
                    false
                }
            };
        if is_readable {
            self.on_authentic(now, id, meta, packet);
        }
        true
    }

    /// Whether the keys of a packet are available that is not of the present key phase, or not of the last level.
    #[cold]
    fn read_unusual(
        &mut self,
        now: SimTime,
        id: PathId,
        header: &Header,
    ) -> Result<bool, TransportError> {
        let pto = self.paths.longest_probe_timeout();
        self.keys.protection.on_received(now, pto, id, header)
    }

    /// Whether the packet number is still the one that its truncated form is expanded to (RFC 9000 appendix A.3). After too many
    /// larger ones it is not, and the packet as bytes would not be authentic: the number is in the nonce (RFC 9001 section 5.3).
    #[inline]
    pub(super) fn can_expand(&self, id: PathId, header: &Header) -> bool {
        let number = header.number();
        let largest =
            self.handshake.acks(&self.paths, id, header.level().space()).received.largest();
        // Any truncated form that fits expands to the next number.
        largest.is_some_and(|largest| number.value == largest + 1)
            || Number::expanded(number.on_wire(), number.len, largest) == number
    }

    /// Whether a datagram from this address is ignored: a server's does not change (RFC 9000 section 9).
    pub(crate) fn ignores(&self, source: SocketAddr) -> bool {
        self.role == Role::Client
            && self.paths.iter().all(|path| source != path.route.tuple.remote)
            && !self.mobility.is_known_server_address(source)
    }

    /// Whether a packet of the handshake is to be discarded: its source is not the peer's connection ID (RFC 9000 section 7.2),
    /// a server's Initial packet has a token (section 17.2.2), or a client's came in too small a datagram (section 14.1).
    fn is_discarded(&self, meta: &RecvMeta, header: &Header) -> bool {
        let (source, is_misplaced) = match header {
            Header::OneRtt { .. } => return false,
            Header::Handshake(long) | Header::ZeroRtt(long) => (long.source, false),
            Header::Initial(long) => match self.role {
                Role::Client => (long.source, !long.token.is_empty()),
                Role::Server => (long.source, meta.size < MINIMUM_DATAGRAM),
            },
        };
        is_misplaced || self.handshake.heard && source != self.paths.first().ids.remote.first()
    }

    /// An authentic packet arrived on a path.
    pub(super) fn on_authentic(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
        packet: &Packet,
    ) {
        if self.is_discarded(meta, &packet.header) {
            return;
        }
        if !self.is_open() {
            return self.on_packet_while_closing(id, packet);
        }
        if let Err(error) = self.take_in(now, id, meta, packet) {
            self.fail(now, id, &error);
        }
    }

    fn take_in(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
        packet: &Packet,
    ) -> Result<(), TransportError> {
        let space = packet.header.level().space();
        let number = packet.header.number().value;
        if self.multipath.is_some() && !self.takes_on_path(now, id, meta) {
            return Ok(());
        }
        let acks = self.handshake.acks_mut(&mut self.paths, id, space);
        if acks.received.is_duplicate(number) || space == Space::Data && self.lineage.awaits_streams
        {
            return Ok(());
        }
        if packet.frames.is_empty() {
            return Err(violation("a packet without frames"));
        }
        let eliciting = packet.frames.iter().any(Frame::is_ack_eliciting);
        let frequency = &self.ack_control.frequency.current;
        acks.received.on_packet(now, number, eliciting, meta.ecn, frequency);
        self.qlog.received(now, id, packet, &self.handshake);
        self.idle.on_arrival(now);
        match &packet.header {
            Header::OneRtt { spin, .. } => {
                self.paths[id].on_spin(self.role, number, *spin);
            }
            Header::ZeroRtt(_) => {}
            header => {
                self.follow_handshake(now, meta);
                self.on_long_header(now, space, header);
            }
        }
        for frame in &packet.frames {
            if !frame.is_allowed_in(packet.header.level()) {
                return Err(violation("a frame of another encryption level"));
            }
            self.on_frame(now, id, meta, packet, frame)?;
            if !self.is_open() {
                return Ok(());
            }
        }
        let stream = self.handshake.stream_mut(space);
        if stream.has_arrived() || space != Space::Data || !self.handshake.confirmed {
            self.advance_handshake(now, id)?;
        }
        if matches!(packet.header, Header::OneRtt { .. }) {
            self.follow(now, id, meta, packet);
        }
        Ok(())
    }

    #[cold]
    fn on_long_header(&mut self, now: SimTime, space: Space, header: &Header) {
        let (Header::Initial(long) | Header::Handshake(long)) = header else { return };
        if !self.handshake.heard {
            self.paths.first_mut().ids.remote.replace_first(long.source);
            self.handshake.heard = true;
        }
        // Only somebody who received our Initial packets can have Handshake keys (RFC 9000 section 8.1).
        if space == Space::Handshake && self.role == Role::Server {
            self.paths.first_mut().validate();
            self.discard(now, Space::Initial);
            self.update_handshake_state(now, PathSet::FIRST);
        }
    }

    #[inline]
    fn on_frame(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
        packet: &Packet,
        frame: &Frame,
    ) -> Result<(), TransportError> {
        match frame {
            Frame::Stream { .. } => self.streams.on_frame(now, frame),
            Frame::Ack(ack) => self.on_ack(now, PathSet::FIRST, packet, ack),
            Frame::PathAck { path, ack } => self.on_path_ack(now, packet, *path, ack),
            _ => self.on_rare_frame(now, id, meta, packet, frame),
        }
    }

    /// Takes in a frame that is neither data nor an acknowledgement.
    #[cold]
    fn on_rare_frame(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
        packet: &Packet,
        frame: &Frame,
    ) -> Result<(), TransportError> {
        match frame {
            Frame::NewToken(token) if self.role == Role::Server || token.is_empty() => {
                return Err(violation("NEW_TOKEN from a client, or an empty one"));
            }
            // A token is for a later connection, which no flow opens to the same server yet.
            Frame::Padding(_) | Frame::Ping | Frame::NewToken(_) => {}
            Frame::Datagram { data, .. } => {
                let taken = self.datagrams.on_frame(data, frame.size());
                taken.map_err(|error| error.in_frame(frame.frame_type()))?;
                if !self.streams.keeps_events() {
                    self.streams.on_datagram(data);
                }
            }
            Frame::Path(frame) => self.on_path_frame(now, packet, frame)?,
            Frame::Crypto { offset, data } => {
                let space = packet.header.level().space();
                self.handshake.stream_mut(space).receive(*offset, data)?;
            }
            Frame::ConnectionClose(close) => self.on_close(now, close),
            Frame::HandshakeDone => self.on_handshake_done(now)?,
            Frame::NewConnectionId(new) => self.paths.first_mut().ids.remote.on_new(new)?,
            Frame::RetireConnectionId(sequence) => {
                let ids = &mut self.paths.first_mut().ids.local;
                ids.on_retired(*sequence, packet.header.destination())?;
            }
            Frame::PathChallenge(data) => self.on_path_challenge(now, id, meta, *data),
            Frame::PathResponse(data) => self.on_path_response(now, id, *data),
            Frame::AckFrequency { sequence, threshold, max_ack_delay, reordering } => {
                let frequency = &mut self.ack_control.frequency;
                let asked = frequency.on_frame(*sequence, *threshold, *max_ack_delay, *reordering);
                asked.map_err(|problem| violation(problem.0))?;
            }
            Frame::ImmediateAck => self.paths[id].acks.received.on_immediate_ack(),
            Frame::ResetStream { .. }
            | Frame::StopSending { .. }
            | Frame::MaxData(_)
            | Frame::MaxStreamData { .. }
            | Frame::MaxStreams { .. }
            | Frame::DataBlocked(_)
            | Frame::StreamDataBlocked { .. }
            | Frame::StreamsBlocked { .. } => self.streams.on_frame(now, frame)?,
            Frame::Stream { .. } | Frame::Ack(_) | Frame::PathAck { .. } => {
                unreachable!("they are not rare")
            }
        }
        Ok(())
    }

    /// Takes in an acknowledgement of packets that left on a path, in the space that it came in. An ACK frame is about the first
    /// path.
    pub(super) fn on_ack(
        &mut self,
        now: SimTime,
        id: PathId,
        packet: &Packet,
        ack: &Ack,
    ) -> Result<(), TransportError> {
        let space = packet.header.level().space();
        if let Header::OneRtt { key_phase, .. } = packet.header {
            self.handshake.check_early_ack(id, ack)?;
            self.keys.protection.on_ack(id, ack.largest(), key_phase)?;
        }
        let delay = self.handshake.ack_delay(space, ack.delay);
        let recovery = &mut self.paths[id].recovery;
        recovery
            .on_ack(now, space, ack, delay, &mut self.control, &mut self.outcome)
            .map_err(|problem| violation(problem.0))?;
        if let Some(rtt) = recovery.rtt().latest() {
            let several = self.multipath.is_some();
            self.streams.set_rtt(if several { self.paths.longest_rtt(rtt) } else { rtt });
        }
        self.qlog.lost(now, id, &self.outcome, &self.handshake);
        self.settle_outcome(id);
        Ok(())
    }

    /// A datagram ends with this token: it resets the connection if the peer announced it (RFC 9000 section 10.3.1).
    pub(crate) fn on_stateless_reset(&mut self, now: SimTime, token: ResetToken) -> bool {
        let ours = self.paths.iter().any(|path| path.ids.remote.is_reset(token));
        if ours && self.is_open() {
            self.drain(now, Ending::Trigger("stateless_reset"), "reset by the peer");
        }
        ours
    }

    /// A Retry packet arrived as a struct.
    pub(crate) fn on_unprotected_retry(&mut self, now: SimTime, retry: &Datagram) {
        if let Datagram::Retry { destination, source, token, .. } = retry
            && self.keys.protection.is_authentic(retry)
        {
            self.on_retry(now, [*destination, *source], token);
        }
    }
}
