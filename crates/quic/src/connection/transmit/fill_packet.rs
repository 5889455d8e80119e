//! The frames of a packet under construction.

use bytes::Bytes as Payload;
use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::EndpointError;

use super::builder::PacketBuilder;
use super::plan::{Contents, Plan};
use crate::MINIMUM_DATAGRAM;
use crate::connection::Connection;
use crate::paths::{FourTuple, Ids, Path};
use crate::sent_frame::SentFrame;
use crate::wire::{Frame, Header, LongHeader, Number, Space};

/// A packet number and the payload after it have at least four bytes, so that header protection has a sample (RFC 9001
/// section 5.4.2).
const SMALLEST_SAMPLED: u64 = 4;
/// The exponent of the ACK Delay field, left at its default (RFC 9000 section 18.2).
pub(in crate::connection) const ACK_DELAY_EXPONENT: u8 = 3;
/// Bytes of a path challenge or response (RFC 9000 section 19.17).
const ROUTE_PROBE: u64 = 9;

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
            Contents::Probes => self.add_probes(now, builder),
            Contents::Copies => self.add_copies(builder),
            Contents::Everything => self.add_content(now, builder)?,
        }
        if plan.probe {
            Self::add_ping(builder);
        }
        if builder.is_empty() {
            return Ok(());
        }
        if self.has_many_ranges() {
            self.ask_for_ack(now, builder);
        }
        let sampled = u64::from(builder.number.len) + builder.payload;
        builder.pad(SMALLEST_SAMPLED.saturating_sub(sampled));
        Ok(())
    }

    /// Makes sure that the peer acknowledges a probe. A server follows its client to a new address only by what does more than
    /// probe a path (RFC 9000 section 9.3).
    #[cold]
    fn add_ping(builder: &mut PacketBuilder) {
        let idle = !builder.ack_eliciting || builder.frames().iter().all(Frame::is_probing);
        if idle && builder.room > 0 {
            builder.push(Frame::Ping, Some(SentFrame::Ping));
        }
    }

    pub(in crate::connection) fn header(
        &self,
        path: &Path,
        space: Space,
        number: Number,
    ) -> Header {
        let Ids { local, remote } = &path.ids;
        let (destination, source) = (remote.current(), local.first());
        match space {
            Space::Initial => {
                let token = self.handshake.token.clone();
                Header::Initial(Box::new(LongHeader { destination, source, token, number }))
            }
            Space::Handshake => {
                let token = Payload::new();
                Header::Handshake(Box::new(LongHeader { destination, source, token, number }))
            }
            Space::Data if self.sends_early() => {
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
        if builder.space == Space::Data && self.multipath.is_some() {
            return self.add_path_acks(now, builder);
        }
        let received = &mut self.acks_mut(builder.path, builder.space).received;
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
                let again = &mut self.paths[builder.path].retransmitted;
                again.0 += after.retransmitted - before.retransmitted;
                again.1 += after.retransmitted_packets - before.retransmitted_packets;
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
        self.add_probes(now, builder);
        if let Some(frame) = self.ack_frequency_frame().filter(|frame| builder.fits(frame)) {
            self.ack_control.request.pending = false;
            builder.push(frame, Some(SentFrame::AckFrequency(self.ack_control.request.sequence)));
        }
        if let Some(multipath) = &self.multipath {
            if multipath.pending {
                self.add_path_frames(builder);
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
    fn add_probes(&mut self, now: SimTime, builder: &mut PacketBuilder) {
        let path = &self.paths[builder.path];
        if !path.route.wants_probe() {
            return;
        }
        let moves = self.role == Role::Client && path.route.wants_challenge();
        let (tuple, proven) = (path.route.tuple, path.proven);
        self.add_route_probes(now, builder, tuple);
        if !proven {
            self.add_path_status(builder);
        } else if moves && builder.fits(&Frame::Ping) {
            // The server follows a packet that does more than probe (RFC 9000 section 9.2).
            builder.push(Frame::Ping, Some(SentFrame::Ping));
        }
    }

    /// Adds challenges and responses for a route.
    pub(super) fn add_route_probes(
        &mut self,
        now: SimTime,
        builder: &mut PacketBuilder,
        tuple: FourTuple,
    ) {
        let data = self.mobility.challenges.bits();
        let path = &mut self.paths[builder.path];
        let wait = path.recovery.probe_timeout(Space::Data);
        let Some(route) = path.find(tuple) else { return };
        while builder.room >= ROUTE_PROBE
            && let Some(data) = route.take_response()
        {
            builder.push(Frame::PathResponse(data), Some(SentFrame::PathResponse));
            builder.probes_route = true;
        }
        if builder.room >= ROUTE_PROBE && route.wants_challenge() {
            route.on_challenge_sent(now, data, wait);
            builder.push(Frame::PathChallenge(data), Some(SentFrame::PathChallenge));
            builder.probes_route = true;
        }
    }

    /// Pads datagrams that carry Initial packets (RFC 9000 section 14.1): all of a client, and of a server those that ask
    /// for an acknowledgement. And those that probe a route, as far as an unvalidated address lets them (section 8.2.1).
    pub(super) fn pad(&self, builders: &mut [PacketBuilder], limit: u64, left: u64) {
        let padded = builders.iter().any(|builder| {
            let is_initial = builder.space == Space::Initial;
            builder.probes_route
                || is_initial && (self.role == Role::Client || builder.ack_eliciting)
        });
        let Some(last) = builders.last_mut().filter(|_| padded) else { return };
        let missing = MINIMUM_DATAGRAM.min(limit).saturating_sub(limit - left);
        // The padding may lengthen the Length field of a long header by a byte.
        let header = last.header();
        let grown = header.size(last.payload + missing) - header.size(last.payload);
        last.pad(missing.saturating_sub(grown));
    }
}
