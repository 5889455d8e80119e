//! The order in which a connection sends: whoever has a rare interest first, then the data of a path. A datagram is planned
//! (`plan`), its packets are filled (`fill_packet`), and then committed (`commit`).

mod builder;
mod commit;
mod fill_packet;
mod interests;
mod plan;

use leobench_base::SimTime;
use leobench_transport::endpoint::{EndpointError, PathId};
use smallvec::smallvec;

pub(super) use self::builder::{Builders, PacketBuilder, SMALLEST_SAMPLED, pad};
pub(super) use self::commit::Departure;
pub(super) use self::fill_packet::ACK_DELAY_EXPONENT;
use self::fill_packet::CHALLENGE_SIZE;
use self::interests::Interests;
use self::plan::Plan;
use super::Connection;
use crate::MINIMUM_DATAGRAM;
use crate::paths::PathSet;
use crate::wire::{ConnectionId, Content, Datagram, Space, TAG_SIZE};

/// The least that a route must let pass for a challenge to be worth a datagram.
const SMALLEST_CHALLENGE: u64 = 64;
/// Less room than this starts no packet.
const WORTHWHILE: u64 = 40;
/// Boxes of datagrams that are kept for the next ones to send.
const MOST_SPARES: usize = 4;

/// The datagrams of an endpoint, and what is needed to make them.
pub(crate) struct Output<'a> {
    /// The content of streams, for packets that leave as bytes.
    pub(crate) content: &'a dyn Content,
    pub(crate) packets: &'a mut Vec<leobench_base::Packet>,
}

/// Whether a datagram was sent, or the failure of a scheduler.
pub(super) type Sent = Result<bool, EndpointError>;

impl Connection {
    /// Sends the next datagram. Returns whether one could be sent, and so there may be another.
    ///
    /// # Errors
    /// If the stream scheduler misbehaved.
    #[inline]
    pub(crate) fn transmit(&mut self, now: SimTime, out: &mut Output<'_>) -> Sent {
        let interests = self.interests();
        if interests.is_empty() {
            return self.transmit_data(now, PathSet::FIRST, out);
        }
        self.transmit_rare(now, interests, out)
    }

    /// Sends the next datagram, if anybody has a rare interest.
    #[cold]
    fn transmit_rare(&mut self, now: SimTime, interests: Interests, out: &mut Output<'_>) -> Sent {
        if interests.has(Interests::CLOSE) {
            return Ok(self.transmit_close(now, out));
        }
        if std::mem::take(&mut self.handshake.leaves_initial) {
            self.discard(now, Space::Initial);
        }
        if self.keys.needs_care() {
            self.look_after_keys(now);
        }
        if self.paths.has_several_open() {
            return self.transmit_over_paths(now, out);
        }
        let id = self.paths.current();
        if self.validate_other_route(now, id, out) {
            return Ok(true);
        }
        if interests.has(Interests::HANDSHAKE) {
            return self.transmit_handshake(now, id, out);
        }
        self.transmit_data(now, id, out)
    }

    /// Sends a 1-RTT packet on the only path.
    #[inline]
    fn transmit_data(&mut self, now: SimTime, id: PathId, out: &mut Output<'_>) -> Sent {
        let (plan, limits) = self.plan_data(now, id);
        if plan.is_empty() {
            self.report_send_limits(now, id, limits);
            return Ok(false);
        }
        let sent = self.transmit_packet(now, id, plan, out)?;
        if !sent {
            let path = &self.paths[id];
            let limits = self.limits(path, self.has_content(path, Space::Data));
            self.report_send_limits(now, id, limits);
        }
        Ok(sent)
    }

    /// Sends a datagram with one 1-RTT packet of this plan, if there is room for it.
    pub(super) fn transmit_packet(
        &mut self,
        now: SimTime,
        id: PathId,
        plan: Plan,
        out: &mut Output<'_>,
    ) -> Sent {
        let limit = self.paths[id].datagram_limit();
        let Some(mut builder) = self.begin_packet(id, Space::Data, limit, WORTHWHILE, None) else {
            return Ok(false);
        };
        self.fill_packet(now, &mut builder, plan)?;
        if builder.is_empty() {
            self.keep_box(builder.datagram);
            return Ok(false);
        }
        if builder.validates {
            let left = limit - builder.size();
            pad(self.role, std::slice::from_mut(&mut builder), limit, left);
        }
        self.commit(now, builder, out);
        Ok(true)
    }

    /// Sends a datagram with packets of all spaces that may be in use before the handshake is confirmed.
    fn transmit_handshake(&mut self, now: SimTime, id: PathId, out: &mut Output<'_>) -> Sent {
        let limit = self.paths[id].datagram_limit();
        let mut builders = Builders::new();
        let mut left = limit;
        for space in self.handshake.spaces().iter().copied() {
            let unpaddable = space == Space::Initial && limit < MINIMUM_DATAGRAM;
            if !self.keys.can_send(space) || !self.handshake.may_write(space) || unpaddable {
                continue;
            }
            if self.probes_first_flight(space) {
                self.refill_probe(id, space);
            }
            let plan = self.plan_handshake(now, id, space);
            if plan.is_empty() {
                continue;
            }
            let Some(mut builder) = self.begin_packet(id, space, left, WORTHWHILE, None) else {
                continue;
            };
            self.fill_packet(now, &mut builder, plan)?;
            if !builder.is_empty() {
                left -= builder.size();
                builders.push(builder);
            }
        }
        if builders.is_empty() {
            self.report_send_limits_of_handshake(now, id);
            return Ok(false);
        }
        pad(self.role, &mut builders, limit, left);
        let departure = Departure::new(id, self.paths[id].recovery.marks_ecn(now));
        self.commit_all(now, departure, builders, out);
        Ok(true)
    }

    /// An empty packet of at most `room` bytes on a path, with room for `least` bytes of frames, to the connection ID in use or
    /// another one.
    #[inline(always)]
    pub(super) fn begin_packet(
        &mut self,
        id: PathId,
        space: Space,
        room: u64,
        least: u64,
        destination: Option<ConnectionId>,
    ) -> Option<PacketBuilder> {
        let path = &self.paths[id];
        let destination = destination.unwrap_or_else(|| path.ids.remote.current());
        let header = self.header(path, space, destination);
        let overhead = header.size(room) + TAG_SIZE;
        let room = room.checked_sub(overhead).filter(|room| *room >= least)?;
        Some(PacketBuilder::new(self.buffers.spares.pop(), id, space, header, room))
    }

    /// A datagram was taken in, or has become bytes: the next one may travel in its box.
    #[inline]
    pub(crate) fn keep_box(&mut self, datagram: Box<Datagram>) {
        if self.buffers.spares.len() < MOST_SPARES {
            self.buffers.spares.push(datagram);
        }
    }

    /// Sends challenges and responses for a route of a path that is not in use. Returns whether there were any.
    pub(super) fn validate_other_route(
        &mut self,
        now: SimTime,
        id: PathId,
        out: &mut Output<'_>,
    ) -> bool {
        let path = &self.paths[id];
        if path.others.is_empty() || !self.keys.can_send(Space::Data) || !self.handshake.complete {
            return false;
        }
        let wanted = path.others.iter().find_map(|route| {
            let limit = route.datagram_limit(path.mtu).min(MINIMUM_DATAGRAM);
            let wants = route.wants_validation() && limit >= SMALLEST_CHALLENGE;
            wants.then_some((route.tuple, limit))
        });
        let Some((route, limit)) = wanted else { return false };
        let is_candidate = self.mobility.candidate == Some(route);
        let destination = path.ids.remote.probing().filter(|_| is_candidate);
        let begun = self.begin_packet(id, Space::Data, limit, CHALLENGE_SIZE, destination);
        let Some(mut builder) = begun else { return false };
        self.add_validation_of(now, &mut builder, route);
        builder.pad(builder.room);
        self.commit_all(now, Departure::over(id, route), smallvec![builder], out);
        true
    }
}
