//! Taking packets in.

use std::net::SocketAddr;

use leobench_base::{SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::{Connection, violation};
use crate::MINIMUM_DATAGRAM;
use crate::paths::{PathSet, RecvMeta};
use crate::qlog::Ending;
use crate::wire::{
    Ack, ConnectionId, Frame, Header, Number, Packet, ResetToken, Space, TransportError,
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
        let pto = self.longest_probe_timeout();
        self.keys.protection.on_received(now, pto, id, header)
    }

    /// Whether the packet number is still the one that its truncated form is expanded to (RFC 9000 appendix A.3). After too many
    /// larger ones it is not, and the packet as bytes would not be authentic: the number is in the nonce (RFC 9001 section 5.3).
    #[inline]
    pub(super) fn can_expand(&self, id: PathId, header: &Header) -> bool {
        let number = header.number();
        let largest = self.acks(id, header.level().space()).received.largest();
        // The next number is what every truncated one is expanded to that fits.
        largest.is_some_and(|largest| number.value == largest + 1)
            || Number::expanded(number.on_wire(), number.len, largest) == number
    }

    /// Whether a datagram from this address is ignored: a server's does not change (RFC 9000 section 9).
    pub(crate) fn ignores(&self, source: SocketAddr) -> bool {
        self.role == Role::Client
            && self.paths.iter().all(|path| source != path.route.tuple.remote)
            && !self.is_told_by_server(source)
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

    /// A packet of a path arrived that the peer has sent.
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
            self.on_packet_while_closing(id);
            if let Some(Frame::ConnectionClose(close)) =
                packet.frames.iter().find(|frame| matches!(frame, Frame::ConnectionClose(_)))
            {
                self.on_close(now, close);
            }
            return;
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
        if self.acks(id, space).received.is_duplicate(number)
            || space == Space::Data && self.lineage.awaits_streams
        {
            return Ok(());
        }
        if packet.frames.is_empty() {
            return Err(violation("a packet without frames"));
        }
        let eliciting = packet.frames.iter().any(Frame::is_ack_eliciting);
        let acks = match space {
            Space::Data => &mut self.paths[id].acks,
            space => &mut self.handshake.acks[space as usize],
        };
        let frequency = &self.ack_control.frequency.current;
        acks.received.on_packet(now, number, eliciting, meta.ecn, frequency);
        self.log_received(now, id, packet);
        self.on_alive(now);
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
        if space != Space::Data || !self.handshake.confirmed || self.crypto_mut(space).has_arrived()
        {
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
            Frame::Stream { .. } => self.streams.on_frame(now, frame).map(|_| ()),
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
            Frame::Padding(_) | Frame::Ping => Ok(()),
            Frame::Datagram { data, .. } => {
                let taken = self.datagrams.on_frame(data, frame.size());
                taken.map_err(|error| error.in_frame(frame.frame_type()))?;
                if !self.streams.keeps_events() {
                    self.streams.on_datagram(data);
                }
                Ok(())
            }
            Frame::Ack(ack) => self.on_ack(now, PathSet::FIRST, packet, ack),
            Frame::PathAck { path, ack } => self.on_path_ack(now, packet, *path, ack),
            Frame::Path(frame) => self.on_path_frame(now, packet, frame),
            Frame::Crypto { offset, data } => {
                let space = packet.header.level().space();
                self.crypto_mut(space).receive(*offset, data)
            }
            Frame::ConnectionClose(close) => {
                self.on_close(now, close);
                Ok(())
            }
            Frame::HandshakeDone => self.on_handshake_done(now),
            Frame::NewConnectionId(new) => self.paths.first_mut().ids.remote.on_new(new),
            Frame::RetireConnectionId(sequence) => {
                self.paths.first_mut().ids.local.on_retired(*sequence, packet.header.destination())
            }
            Frame::NewToken(token) => self.on_new_token(token),
            Frame::PathChallenge(data) => {
                self.on_path_challenge(now, id, meta, *data);
                Ok(())
            }
            Frame::PathResponse(data) => {
                self.on_path_response(now, id, *data);
                Ok(())
            }
            Frame::AckFrequency { sequence, threshold, max_ack_delay, reordering } => {
                let asked = self.ack_control.frequency.on_frame(
                    *sequence,
                    *threshold,
                    *max_ack_delay,
                    *reordering,
                );
                asked.map_err(|problem| violation(problem.0))
            }
            Frame::ImmediateAck => {
                self.paths[id].acks.received.on_immediate_ack();
                Ok(())
            }
            Frame::ResetStream { .. }
            | Frame::StopSending { .. }
            | Frame::Stream { .. }
            | Frame::MaxData(_)
            | Frame::MaxStreamData { .. }
            | Frame::MaxStreams { .. }
            | Frame::DataBlocked(_)
            | Frame::StreamDataBlocked { .. }
            | Frame::StreamsBlocked { .. } => self.streams.on_frame(now, frame).map(|_| ()),
        }
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
            self.check_early_ack(id, ack)?;
            self.keys.protection.on_ack(id, ack.largest(), key_phase)?;
        }
        let delay = self.ack_delay(space, ack.delay);
        let recovery = &mut self.paths[id].recovery;
        recovery
            .on_ack(now, space, ack, delay, &mut self.control, &mut self.outcome)
            .map_err(|problem| violation(problem.0))?;
        if let Some(rtt) = recovery.rtt().latest() {
            let rtt = if self.multipath.is_some() { self.longest_rtt(rtt) } else { rtt };
            self.streams.set_rtt(rtt);
        }
        self.log_losses(now, id);
        self.settle_outcome(id);
        Ok(())
    }

    /// The peer's delay of an acknowledgement (RFC 9002 section 5.3).
    fn ack_delay(&self, space: Space, encoded: u64) -> SimDuration {
        let Some(peer) = self.handshake.peer.as_ref().filter(|_| space == Space::Data) else {
            return SimDuration::ZERO;
        };
        let micros = encoded.checked_shl(peer.ack_delay_exponent as u32).unwrap_or(u64::MAX);
        SimDuration::from_micros(micros.min(u64::MAX / 1_000))
    }

    /// A datagram ends with this token: it resets the connection if the peer announced it (RFC 9000 section 10.3.1).
    pub(crate) fn on_stateless_reset(&mut self, now: SimTime, token: ResetToken) -> bool {
        let ours = self.paths.iter().any(|path| path.ids.remote.is_reset(token));
        if ours && self.is_open() {
            let reason = "reset by the peer";
            self.log_end(now, Ending::Trigger("stateless_reset"), reason);
            self.drain(now, reason.to_owned());
        }
        ours
    }
}
