//! Building datagrams.

use std::net::SocketAddr;
use std::num::NonZeroU64;

use bytes::Bytes as Payload;
use leobench_base::{Ecn, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, PathId};

use super::draft::{Draft, Packets, coalesce, packet};
use super::{Cargo, Connection};
use crate::MINIMUM_DATAGRAM;
use crate::carried::Carried;
use crate::path::Ids;
use crate::recovery::SentPacket;
use crate::route::FourTuple;
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
        let mut drafts = std::mem::take(&mut self.buffers.drafts);
        let mut left = limit;
        for space in self.spaces() {
            let unpaddable = *space == Space::Initial && limit < MINIMUM_DATAGRAM;
            if !self.can_send(*space) || !self.may_write(*space) || unpaddable {
                continue;
            }
            left -= self.draft(now, *space, left, &mut drafts, Cargo::Any)?;
        }
        let transmit = if drafts.is_empty() {
            self.update_limits(now);
            None
        } else {
            self.pad(&mut drafts, limit, left);
            let tuple = self.path().route.tuple;
            Some(self.dispatch(now, tuple, &mut drafts))
        };
        self.buffers.drafts = drafts;
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
        let mut draft = Draft::new(self.buffers.spares.pop(), Space::Data, header, limit);
        self.add_route_probes(now, &mut draft, route);
        draft.pad(draft.room);
        Some(self.dispatch(now, route, &mut vec![draft]))
    }

    /// Adds challenges and responses for a route.
    fn add_route_probes(&mut self, now: SimTime, draft: &mut Draft, tuple: FourTuple) {
        let data = self.mobility.challenges.bits();
        let path = &mut self.paths[self.active];
        let wait = path.recovery.probe_timeout(Space::Data);
        let Some(route) = path.find(tuple) else { return };
        while draft.room >= ROUTE_PROBE
            && let Some(data) = route.take_response()
        {
            draft.push(Frame::PathResponse(data), Some(Carried::PathResponse));
            draft.probes_route = true;
        }
        if draft.room >= ROUTE_PROBE && route.wants_challenge() {
            route.on_challenge_sent(now, data, wait);
            draft.push(Frame::PathChallenge(data), Some(Carried::PathChallenge));
            draft.probes_route = true;
        }
    }

    /// A server sends no 1-RTT data before the handshake is complete, for the client is not authenticated and its keys are
    /// not in place.
    fn may_write(&self, space: Space) -> bool {
        space != Space::Data || self.handshake.complete
    }

    /// Adds a packet of a space to `drafts`, if one may be sent now; its bytes, or zero.
    pub(super) fn draft(
        &mut self,
        now: SimTime,
        space: Space,
        room: u64,
        drafts: &mut Vec<Draft>,
        cargo: Cargo,
    ) -> Result<u64, EndpointError> {
        let dues = self.dues(space);
        let probing = dues.probes > 0;
        let ack_due = match (&self.multipath, space) {
            (Some(_), Space::Data) => self.owes_ack(now, self.active),
            _ => dues.received.is_due(now),
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
        drafts.push(Draft::new(self.buffers.spares.pop(), space, header, room));
        let Some(draft) = drafts.last_mut() else { return Ok(0) };
        self.add_ack(now, draft, ack_due);
        if cargo == Cargo::Probes && !(probing && self.is_alone()) {
            self.add_probes(now, draft);
        } else if content {
            self.add_content(now, draft)?;
        }
        // A server follows its client to a new address only by what does more than probe a path (RFC 9000 section 9.3).
        let idle = !draft.ack_eliciting || draft.frames().iter().all(Frame::is_probing);
        if probing && idle && draft.room > 0 {
            draft.push(Frame::Ping, Some(Carried::Ping));
        }
        if draft.frames().is_empty() {
            drafts.pop();
            return Ok(0);
        }
        if self.has_many_ranges() {
            self.ask_for_ack(now, draft);
        }
        let sampled = u64::from(number.len) + draft.payload;
        draft.pad(SMALLEST_SAMPLED.saturating_sub(sampled));
        Ok(draft.size())
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
    pub(super) fn add_ack(&mut self, now: SimTime, draft: &mut Draft, due: bool) {
        if draft.space == Space::Data && self.multipath.is_some() {
            return self.add_path_acks(now, draft);
        }
        let received = &mut self.dues_mut(draft.space).received;
        if !due && !received.is_pending() {
            return;
        }
        if let Some(ack) = received.ack(now, draft.room, ACK_DELAY_EXPONENT) {
            received.on_ack_sent();
            let largest = ack.largest();
            draft.push(Frame::Ack(ack), Some(Carried::Ack { largest }));
        }
    }

    /// Asks for an acknowledgement of acknowledgements that have become long, once a round trip (RFC 9000 section 13.2.4).
    #[cold]
    pub(super) fn ask_for_ack(&mut self, now: SimTime, draft: &mut Draft) {
        if draft.space != Space::Data
            || draft.ack_eliciting
            || draft.room == 0
            || now < self.acks.next_ask
        {
            return;
        }
        draft.push(Frame::Ping, Some(Carried::Ping));
        self.acks.next_ask = now + self.path().recovery.rtt().smoothed();
    }

    pub(super) fn add_content(
        &mut self,
        now: SimTime,
        draft: &mut Draft,
    ) -> Result<(), EndpointError> {
        while let Some((frame, carried)) =
            self.handshake.streams[draft.space as usize].frame(draft.room)
        {
            draft.push(frame, Some(carried));
        }
        if draft.space != Space::Data {
            return Ok(());
        }
        if self.has_control() {
            self.add_control(now, draft);
            self.add_datagrams(draft);
        }
        if draft.room > 0 && self.streams.has_pending() {
            let before = self.multipath.is_some().then(|| self.streams.totals());
            let room = draft.room;
            let (frames, carried) = draft.frames_mut();
            let used = self.streams.fill(now, room, frames, carried)?;
            if let Some(before) = before {
                let after = self.streams.totals();
                let again = &mut self.paths[self.active].retransmitted;
                again.0 += after.retransmitted - before.retransmitted;
                again.1 += after.retransmitted_packets - before.retransmitted_packets;
            }
            draft.room -= used;
            draft.payload += used;
            draft.ack_eliciting |= used > 0;
        }
        Ok(())
    }

    /// Adds the frames of the connection itself.
    #[inline(never)]
    fn add_control(&mut self, now: SimTime, draft: &mut Draft) {
        if self.handshake.announces_confirmation && draft.fits(&Frame::HandshakeDone) {
            self.handshake.announces_confirmation = false;
            draft.push(Frame::HandshakeDone, Some(Carried::HandshakeDone));
        }
        self.add_probes(now, draft);
        if let Some(frame) = self.ack_frequency_frame().filter(|frame| draft.fits(frame)) {
            self.acks.request.pending = false;
            draft.push(frame, Some(Carried::AckFrequency(self.acks.request.sequence)));
        }
        if let Some(multipath) = &self.multipath {
            if multipath.pending {
                self.add_path_frames(draft);
            }
            return;
        }
        while let Some(new) = self.path().ids.local.announcement() {
            let frame = Frame::NewConnectionId(Box::new(new));
            if !draft.fits(&frame) {
                return;
            }
            self.path_mut().ids.local.on_announced();
            draft.push(frame, Some(Carried::NewConnectionId(new.sequence)));
        }
        while let Some(sequence) = self.path().ids.remote.retirement() {
            let frame = Frame::RetireConnectionId(sequence);
            if !draft.fits(&frame) {
                return;
            }
            self.path_mut().ids.remote.on_retirement_sent();
            draft.push(frame, Some(Carried::RetireConnectionId(sequence)));
        }
    }

    /// Adds challenges and responses for the route in use.
    fn add_probes(&mut self, now: SimTime, draft: &mut Draft) {
        if !self.path().route.wants_probe() {
            return;
        }
        let moves = self.role == Role::Client && self.path().route.wants_challenge();
        self.add_route_probes(now, draft, self.path().route.tuple);
        if !self.path().proven {
            self.add_path_status(draft);
        } else if moves && draft.fits(&Frame::Ping) {
            // The server follows a packet that does more than probe (RFC 9000 section 9.2).
            draft.push(Frame::Ping, Some(Carried::Ping));
        }
    }

    /// Pads datagrams that carry Initial packets (RFC 9000 section 14.1): all of a client, and of a server those that ask
    /// for an acknowledgement. And those that probe a route, as far as an unvalidated address lets them (section 8.2.1).
    pub(super) fn pad(&self, drafts: &mut [Draft], limit: u64, left: u64) {
        let padded = drafts.iter().any(|draft| {
            let is_initial = draft.space == Space::Initial;
            draft.probes_route || is_initial && (self.role == Role::Client || draft.ack_eliciting)
        });
        let Some(last) = drafts.last_mut().filter(|_| padded) else { return };
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
        drafts: &mut Vec<Draft>,
    ) -> Transmit {
        let elsewhere = tuple != self.path().route.tuple;
        let challenges = drafts.iter().any(|draft| draft.probes_route);
        let marks = !elsewhere && self.path_mut().recovery.marks_ecn(now);
        let ecn = if marks { Ecn::Ect0 } else { Ecn::NotEct };
        let (mut size, mut paced, mut transmission) = (0, 0, None);
        let mut whole = None;
        for draft in drafts.drain(..) {
            let (space, bytes, in_flight) =
                (draft.space, draft.size(), draft.is_in_flight() && !elsewhere);
            let ack_eliciting = draft.ack_eliciting;
            let number = draft.header().number().value;
            size += bytes;
            if in_flight {
                paced += bytes;
            }
            if ack_eliciting && space == Space::Data {
                transmission = transmission_of(self.path().id, number);
            }
            if ack_eliciting {
                let dues = self.dues_mut(space);
                dues.probes = dues.probes.saturating_sub(1);
                self.on_eliciting_sent(now);
            }
            let Draft { datagram, carried, .. } = draft;
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
