//! Building datagrams.

use std::net::SocketAddr;
use std::num::NonZeroU64;

use bytes::Bytes as Payload;
use leobench_base::{Ecn, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, PathId};

use super::builder::{PacketBuilder, Packets, coalesce, packet};
use super::{Cargo, Connection};
use crate::MINIMUM_DATAGRAM;
use crate::path::Ids;
use crate::recovery::SentPacket;
use crate::route::FourTuple;
use crate::sent_frame::SentFrame;
use crate::wire::{Datagram, Frame, Header, LongHeader, Number, Packet, Space, TAG_SIZE};

/// A packet number and the payload after it have at least four bytes, so that header protection has a sample (RFC 9001
/// section 5.4.2).
pub(super) const SMALLEST_SAMPLED: u64 = 4;
/// The exponent of the ACK Delay field, left at its default (RFC 9000 section 18.2).
pub(super) const ACK_DELAY_EXPONENT: u8 = 3;
/// Bytes of a path challenge or response (RFC 9000 section 19.17).
const ROUTE_PROBE: u64 = 9;
/// The least that a route must let pass for a probe of it to be worth a datagram.
const SMALLEST_ROUTE_PROBE: u64 = 64;
/// Bits of a packet number in the name of a transmission; the path's number is above them.
const NUMBER_BITS: u32 = 40;
/// Less room than this starts no packet.
pub(super) const WORTHWHILE: u64 = 40;

/// Boxes of datagrams that are kept for the next ones to send.
const MOST_SPARES: usize = 4;

/// A datagram to send.
#[derive(Debug)]
pub(crate) struct Transmit {
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) ecn: Ecn,
    /// Bytes of the UDP payload.
    pub(crate) size: u64,
    /// The number of its 1-RTT packet in verdicts, if the packet may be declared lost.
    pub(crate) transmission: Option<NonZeroU64>,
    /// Its packets, in the box in which they travel.
    pub(crate) datagram: Box<Datagram>,
}

impl Transmit {
    /// Its packets.
    pub(crate) fn packets(&self) -> &[Packet] {
        match &*self.datagram {
            Datagram::Packets(packets) => packets,
            _ => &[],
        }
    }
}

/// The number of a 1-RTT packet in verdicts, unique over all paths.
pub(super) fn transmission_of(path: PathId, number: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(u64::from(path.0) << NUMBER_BITS | (number + 1))
}

impl Connection {
    /// The next datagram, if one may be sent now.
    ///
    /// # Errors
    /// If the stream scheduler misbehaved.
    pub(crate) fn transmit(&mut self, now: SimTime) -> Result<Option<Transmit>, EndpointError> {
        if !self.is_open() {
            return Ok(self.transmit_close(now));
        }
        if std::mem::take(&mut self.handshake.leaves_initial) {
            self.discard(now, Space::Initial);
        }
        self.look_after_keys(now);
        if self.has_several_paths() {
            return self.transmit_over_paths(now);
        }
        if self.multipath.is_some() {
            self.turn_to_open();
        }
        if let Some(transmit) = self.probe_other_route(now) {
            return Ok(Some(transmit));
        }
        let limit = self.path().datagram_limit();
        let mut builders = std::mem::take(&mut self.buffers.builders);
        let mut left = limit;
        for space in self.spaces() {
            let unpaddable = *space == Space::Initial && limit < MINIMUM_DATAGRAM;
            if !self.can_send(*space) || !self.may_write(*space) || unpaddable {
                continue;
            }
            left -= self.build_packet(now, *space, left, &mut builders, Cargo::Any)?;
        }
        let transmit = if builders.is_empty() {
            self.update_limits(now);
            None
        } else {
            self.pad(&mut builders, limit, left);
            let tuple = self.path().route.tuple;
            Some(self.dispatch(now, tuple, &mut builders))
        };
        self.buffers.builders = builders;
        Ok(transmit)
    }

    /// A datagram was taken in: the next one may travel in its box.
    #[inline]
    pub(crate) fn keep_box(&mut self, datagram: Box<Datagram>) {
        if self.buffers.spares.len() < MOST_SPARES {
            self.buffers.spares.push(datagram);
        }
    }

    /// A datagram with challenges and responses for a route that is not in use.
    pub(super) fn probe_other_route(&mut self, now: SimTime) -> Option<Transmit> {
        let path = self.path();
        if path.others.is_empty() || !self.can_send(Space::Data) || !self.handshake.complete {
            return None;
        }
        let (route, limit) = path.others.iter().find_map(|route| {
            let limit = route.datagram_limit(path.mtu).min(MINIMUM_DATAGRAM);
            (route.wants_probe() && limit >= SMALLEST_ROUTE_PROBE).then_some((route.tuple, limit))
        })?;
        let number = path.recovery.next_number(Space::Data);
        let mut header = self.header(Space::Data, number);
        if let (Header::OneRtt { destination, .. }, Some(id)) = (
            &mut header,
            self.path().ids.remote.probing().filter(|_| self.mobility.candidate == Some(route)),
        ) {
            *destination = id;
        }
        let mut builder = PacketBuilder::new(self.buffers.spares.pop(), Space::Data, header, limit);
        self.add_route_probes(now, &mut builder, route);
        builder.pad(builder.room);
        Some(self.dispatch(now, route, &mut vec![builder]))
    }

    /// Adds challenges and responses for a route.
    fn add_route_probes(&mut self, now: SimTime, builder: &mut PacketBuilder, tuple: FourTuple) {
        let data = self.mobility.challenges.bits();
        let path = &mut self.paths[self.active];
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

    /// A server sends no 1-RTT data before the handshake is complete, for the client is not authenticated and its keys are
    /// not in place.
    fn may_write(&self, space: Space) -> bool {
        space != Space::Data || self.handshake.complete
    }

    /// Adds a packet of a space to `drafts`, if one may be sent now; its bytes, or zero.
    pub(super) fn build_packet(
        &mut self,
        now: SimTime,
        space: Space,
        room: u64,
        builders: &mut Vec<PacketBuilder>,
        cargo: Cargo,
    ) -> Result<u64, EndpointError> {
        let acks = self.acks(space);
        let probing = acks.probes > 0;
        let ack_due = match (&self.multipath, space) {
            (Some(_), Space::Data) => self.owes_ack(now, self.active),
            _ => acks.received.is_due(now),
        };
        if probing && space == Space::Initial && self.role == Role::Client {
            // Both probes of the first flight carry it: whichever arrives first, a server can start with it, while it may take
            // an Initial packet without CRYPTO frames for a violation there (RFC 9000 section 17.2.2).
            self.refill_probe(space);
        }
        let own = || probing || space == Space::Data && self.path().route.wants_probe();
        let content = match cargo {
            Cargo::Any => own() || self.has_content(space) && self.may_send(now, space),
            Cargo::Probes => own(),
            Cargo::Acks => false,
            Cargo::Content => true,
        };
        if !ack_due && !content {
            return Ok(0);
        }
        let number = self.path().recovery.next_number(space);
        let header = self.header(space, number);
        let overhead = header.size(room) + TAG_SIZE;
        if room < overhead + WORTHWHILE {
            return Ok(0);
        }
        builders.push(PacketBuilder::new(self.buffers.spares.pop(), space, header, room));
        let Some(builder) = builders.last_mut() else { return Ok(0) };
        self.add_ack(now, builder, ack_due);
        if cargo == Cargo::Probes && !(probing && self.is_alone()) {
            self.add_probes(now, builder);
        } else if content {
            self.add_content(now, builder)?;
        }
        // A server follows its client to a new address only by what does more than probe a path (RFC 9000 section 9.3).
        let idle = !builder.ack_eliciting || builder.frames().iter().all(Frame::is_probing);
        if probing && idle && builder.room > 0 {
            builder.push(Frame::Ping, Some(SentFrame::Ping));
        }
        if builder.frames().is_empty() {
            builders.pop();
            return Ok(0);
        }
        if self.has_many_ranges() {
            self.ask_for_ack(now, builder);
        }
        let sampled = u64::from(number.len) + builder.payload;
        builder.pad(SMALLEST_SAMPLED.saturating_sub(sampled));
        Ok(builder.size())
    }

    pub(super) fn header(&self, space: Space, number: Number) -> Header {
        let Ids { local, remote } = &self.path().ids;
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
            Space::Data => Header::OneRtt {
                destination,
                spin: self.path().spin,
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
        let received = &mut self.acks_mut(builder.space).received;
        if !due && !received.is_pending() {
            return;
        }
        if let Some(ack) = received.ack(now, builder.room, ACK_DELAY_EXPONENT) {
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
        self.ack_control.next_ask = now + self.path().recovery.rtt().smoothed();
    }

    pub(super) fn add_content(
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
        if self.has_control() {
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
                let again = &mut self.paths[self.active].retransmitted;
                again.0 += after.retransmitted - before.retransmitted;
                again.1 += after.retransmitted_packets - before.retransmitted_packets;
            }
            builder.room -= used;
            builder.payload += used;
            builder.ack_eliciting |= used > 0;
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
        while let Some(new) = self.path().ids.local.announcement() {
            let frame = Frame::NewConnectionId(Box::new(new));
            if !builder.fits(&frame) {
                return;
            }
            self.path_mut().ids.local.on_announced();
            builder.push(frame, Some(SentFrame::NewConnectionId(new.sequence)));
        }
        while let Some(sequence) = self.path().ids.remote.retirement() {
            let frame = Frame::RetireConnectionId(sequence);
            if !builder.fits(&frame) {
                return;
            }
            self.path_mut().ids.remote.on_retirement_sent();
            builder.push(frame, Some(SentFrame::RetireConnectionId(sequence)));
        }
    }

    /// Adds challenges and responses for the route in use.
    fn add_probes(&mut self, now: SimTime, builder: &mut PacketBuilder) {
        if !self.path().route.wants_probe() {
            return;
        }
        let moves = self.role == Role::Client && self.path().route.wants_challenge();
        self.add_route_probes(now, builder, self.path().route.tuple);
        if !self.path().proven {
            self.add_path_status(builder);
        } else if moves && builder.fits(&Frame::Ping) {
            // The server follows a packet that does more than probe (RFC 9000 section 9.2).
            builder.push(Frame::Ping, Some(SentFrame::Ping));
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

    /// Registers the packets as sent.
    pub(super) fn dispatch(
        &mut self,
        now: SimTime,
        tuple: FourTuple,
        builders: &mut Vec<PacketBuilder>,
    ) -> Transmit {
        let elsewhere = tuple != self.path().route.tuple;
        let challenges = builders.iter().any(|builder| builder.probes_route);
        let marks = !elsewhere && self.path_mut().recovery.marks_ecn(now);
        let ecn = if marks { Ecn::Ect0 } else { Ecn::NotEct };
        let (mut size, mut paced, mut transmission) = (0, 0, None);
        let mut whole = None;
        for builder in builders.drain(..) {
            let (space, bytes, in_flight) =
                (builder.space, builder.size(), builder.is_in_flight() && !elsewhere);
            let ack_eliciting = builder.ack_eliciting;
            let number = builder.header().number().value;
            size += bytes;
            if in_flight {
                paced += bytes;
            }
            if ack_eliciting && space == Space::Data {
                transmission = transmission_of(self.path().id, number);
            }
            if ack_eliciting {
                let acks = self.acks_mut(space);
                acks.probes = acks.probes.saturating_sub(1);
                self.on_eliciting_sent(now);
            }
            let PacketBuilder { datagram, carried, .. } = builder;
            let mut sent = SentPacket::new(number, now, bytes, carried);
            (sent.ack_eliciting, sent.in_flight, sent.ect) = (ack_eliciting, in_flight, marks);
            sent.elsewhere = elsewhere;
            let path = &mut self.paths[self.active];
            path.recovery.on_sent(now, space, sent, &mut self.control);
            let Packet { header, frames } = packet(&datagram);
            self.log_sent(now, header, frames, bytes);
            whole = Some(coalesce(whole, datagram));
            self.handshake.leaves_initial |= space == Space::Handshake && self.role == Role::Client;
        }
        let path = &mut self.paths[self.active];
        if paced > 0 {
            path.pace(now, paced, &self.control);
        }
        path.on_sent(tuple, size);
        if challenges
            && size >= MINIMUM_DATAGRAM
            && let Some(route) = path.find(tuple)
        {
            route.on_large_challenge();
        }
        if !path.route.is_validated() {
            // What may be sent decides whether a probe is due.
            self.update_handshake_state(now);
        }
        let FourTuple { local: source, remote: destination } = tuple;
        let datagram = whole.unwrap_or_else(|| Box::new(Datagram::Packets(Packets::new())));
        Transmit { source, destination, ecn, size, transmission, datagram }
    }
}
