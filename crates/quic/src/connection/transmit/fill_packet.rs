//! The frames of a packet under construction.

use bytes::Bytes as Payload;
use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::EndpointError;

use super::builder::PacketBuilder;
use super::plan::{Contents, Plan};
use crate::connection::Connection;
use crate::paths::{FourTuple, Ids, Path};
use crate::sent_frame::SentFrame;
use crate::wire::{ConnectionId, Frame, Header, LongHeader, Space};

/// The exponent of the ACK Delay field, left at its default (RFC 9000 section 18.2).
pub(in crate::connection) const ACK_DELAY_EXPONENT: u8 = 3;
/// Bytes of a path challenge or response (RFC 9000 section 19.17).
pub(super) const CHALLENGE_SIZE: u64 = 9;

impl Connection {
    /// Adds the frames of a plan. There may be none after all, if flow control or the scheduler holds back what waits.
    ///
    /// # Errors
    /// If the stream scheduler misbehaved.
    #[inline]
    pub(super) fn fill_packet(
        &mut self,
        now: SimTime,
        builder: &mut PacketBuilder,
        plan: Plan,
    ) -> Result<(), EndpointError> {
        self.add_ack(now, builder, plan.ack);
        match plan.contents {
            Contents::Nothing => {}
            Contents::Validation => self.add_validation(now, builder),
            Contents::Copies => self.add_copies(builder),
            Contents::Everything => self.add_content(now, builder)?,
        }
        if plan.probe {
            builder.add_ping();
        }
        if builder.is_empty() {
            return Ok(());
        }
        if self.paths.iter().any(|path| path.acks.received.has_many_ranges()) {
            self.ask_for_ack(now, builder);
        }
        builder.pad_to_sample();
        Ok(())
    }

    /// The header of the next packet of a path.
    #[inline]
    pub(super) fn header(&self, path: &Path, space: Space, destination: ConnectionId) -> Header {
        let (source, number) = (path.ids.local.first(), path.recovery.next_number(space));
        match space {
            Space::Initial => {
                let token = self.handshake.token.clone();
                Header::Initial(Box::new(LongHeader { destination, source, token, number }))
            }
            Space::Handshake => {
                let token = Payload::new();
                Header::Handshake(Box::new(LongHeader { destination, source, token, number }))
            }
            Space::Data if self.handshake.sends_early() => {
                let token = Payload::new();
                Header::ZeroRtt(Box::new(LongHeader { destination, source, token, number }))
            }
            Space::Data => Header::OneRtt {
                destination,
                spin: path.spin,
                key_phase: self.keys.protection.key_phase(),
                number,
            },
        }
    }

    /// Adds an acknowledgement if it is due, or if something is sent anyway.
    pub(super) fn add_ack(&mut self, now: SimTime, builder: &mut PacketBuilder, due: bool) {
        if builder.space == Space::Data
            && let Some(multipath) = &mut self.multipath
        {
            return multipath.add_acks(&mut self.paths, now, builder);
        }
        let (id, space) = (builder.path, builder.space);
        let received = &mut self.handshake.acks_mut(&mut self.paths, id, space).received;
        if !due && !received.is_pending() {
            return;
        }
        if let Some(ack) = received.ack_frame(now, builder.room, ACK_DELAY_EXPONENT) {
            received.on_ack_sent();
            let largest = ack.largest();
            builder.push(Frame::Ack(ack), Some(SentFrame::Ack { largest }));
        }
    }

    /// Asks for an acknowledgement of acknowledgements that have become long, once a round trip (RFC 9000 section 13.2.4).
    #[cold]
    pub(super) fn ask_for_ack(&mut self, now: SimTime, builder: &mut PacketBuilder) {
        if builder.space != Space::Data
            || builder.ack_eliciting
            || builder.room == 0
            || now < self.ack_control.next_ask
        {
            return;
        }
        builder.push(Frame::Ping, Some(SentFrame::Ping));
        self.ack_control.next_ask = now + self.paths[builder.path].recovery.rtt().smoothed();
    }

    /// Adds whatever there is to send in the space.
    #[inline]
    fn add_content(
        &mut self,
        now: SimTime,
        builder: &mut PacketBuilder,
    ) -> Result<(), EndpointError> {
        while let Some((frame, carried)) =
            self.handshake.streams[builder.space as usize].frame(builder.room)
        {
            builder.push(frame, Some(carried));
        }
        if builder.space != Space::Data {
            return Ok(());
        }
        if self.has_control(&self.paths[builder.path]) {
            self.add_control(now, builder);
            self.add_datagrams(builder);
        }
        if builder.room > 0 && self.streams.has_pending() {
            let before = self.multipath.is_some().then(|| self.streams.totals());
            let room = builder.room;
            let (frames, carried) = builder.frames_mut();
            let used = self.streams.fill(now, room, frames, carried)?;
            if let Some(before) = before {
                let after = self.streams.totals();
                let path = &mut self.paths[builder.path];
                path.retransmitted_bytes += after.retransmitted - before.retransmitted;
                path.retransmitted_packets +=
                    after.retransmitted_packets - before.retransmitted_packets;
            }
            builder.on_streams(used);
        }
        Ok(())
    }

    /// Adds the frames of the connection itself.
    #[inline(never)]
    fn add_control(&mut self, now: SimTime, builder: &mut PacketBuilder) {
        if self.handshake.announces_confirmation && builder.fits(&Frame::HandshakeDone) {
            self.handshake.announces_confirmation = false;
            builder.push(Frame::HandshakeDone, Some(SentFrame::HandshakeDone));
        }
        self.add_validation(now, builder);
        if let Some(frame) = self.ack_control.frame().filter(|frame| builder.fits(frame)) {
            self.ack_control.pending = false;
            builder.push(frame, Some(SentFrame::AckFrequency));
        }
        if let Some(multipath) = &mut self.multipath {
            if multipath.pending {
                multipath.add_frames(&mut self.paths, builder);
            }
            return;
        }
        let Ids { local, remote } = &mut self.paths[builder.path].ids;
        while let Some(new) = local.announcement() {
            let frame = Frame::NewConnectionId(Box::new(new));
            if !builder.fits(&frame) {
                return;
            }
            local.on_announced();
            builder.push(frame, Some(SentFrame::NewConnectionId(new.sequence)));
        }
        while let Some(sequence) = remote.retirement() {
            let frame = Frame::RetireConnectionId(sequence);
            if !builder.fits(&frame) {
                return;
            }
            remote.on_retirement_sent();
            builder.push(frame, Some(SentFrame::RetireConnectionId(sequence)));
        }
    }

    /// Adds challenges and responses for the route in use.
    fn add_validation(&mut self, now: SimTime, builder: &mut PacketBuilder) {
        let path = &self.paths[builder.path];
        if !path.route.wants_validation() {
            return;
        }
        let moves = self.role == Role::Client && path.route.wants_challenge();
        let (tuple, proven) = (path.route.tuple, path.proven);
        self.add_validation_of(now, builder, tuple);
        if !proven {
            let status = &mut self.paths[builder.path].status;
            let (frame, carried) = status.frame(builder.path);
            let frame = Frame::Path(frame);
            if status.pending && builder.fits(&frame) {
                status.on_sent();
                builder.push(frame, Some(carried));
            }
        } else if moves && builder.fits(&Frame::Ping) {
            // The server follows a packet that does more than probe (RFC 9000 section 9.2).
            builder.push(Frame::Ping, Some(SentFrame::Ping));
        }
    }

    /// Adds challenges and responses for a route.
    pub(super) fn add_validation_of(
        &mut self,
        now: SimTime,
        builder: &mut PacketBuilder,
        tuple: FourTuple,
    ) {
        let data = self.mobility.challenges.bits();
        let path = &mut self.paths[builder.path];
        let wait = path.probe_timeout();
        let Some(route) = path.find(tuple) else { return };
        while builder.room >= CHALLENGE_SIZE
            && let Some(data) = route.take_response()
        {
            builder.push(Frame::PathResponse(data), Some(SentFrame::PathResponse));
            builder.validates = true;
        }
        if builder.room >= CHALLENGE_SIZE && route.wants_challenge() {
            route.on_challenge_sent(now, data, wait);
            builder.push(Frame::PathChallenge(data), Some(SentFrame::PathChallenge));
            builder.validates = true;
        }
    }
}
