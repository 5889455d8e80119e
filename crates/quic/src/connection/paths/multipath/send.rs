//! Which path carries what (draft-ietf-quic-multipath sections 5.5 to 5.7).

use leobench_base::SimTime;
use leobench_transport::endpoint::EndpointError;
use leobench_transport::endpoint::PathId;
use leobench_transport::path_scheduler::Choice;
use smallvec::SmallVec;

use super::Blocked;
use crate::connection::Connection;
use crate::connection::transmit::{ACK_DELAY_EXPONENT, Output, PacketBuilder};
use crate::paths::{Path, Stage};
use crate::sent_frame::SentFrame;
use crate::spec::AckPath;
use crate::wire::{Frame, PathFrame, Space};

/// The contents for which a packet is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::connection) enum Cargo {
    /// Contents that only this path can carry: challenges, responses and probes.
    Probes,
    /// Acknowledgements.
    Acks,
    /// Whatever there is, on the path that the scheduler chose.
    Content,
    /// Data that other paths have sent.
    Copies,
}

impl Connection {
    /// Sends the next datagram of several paths. Returns whether one could be sent.
    pub(in crate::connection) fn transmit_over_paths(
        &mut self,
        now: SimTime,
        out: &mut Output<'_>,
    ) -> Result<bool, EndpointError> {
        let open = self.open_paths();
        for id in open.iter().copied() {
            let path = &self.paths[id];
            let wants = path.acks.probes > 0 || path.route.wants_probe() || !path.others.is_empty();
            if !wants || !path.ids.remote.is_in_use() {
                continue;
            }
            if self.probe_other_route(now, id, out)
                || self.transmit_cargo(now, id, Cargo::Probes, out)?
            {
                return Ok(true);
            }
        }
        let may_copy = self.multipath.as_ref().is_some_and(|multipath| multipath.has_copies);
        if may_copy && self.transmit_copies(now, &open, out)? {
            return Ok(true);
        }
        let has_content = self.has_content(self.paths.first(), Space::Data);
        let choice = if has_content { self.choose_path(now)? } else { Choice::Wait };
        let chosen = choice.first();
        let owing = open.iter().copied().find(|id| self.owes_ack(now, *id));
        if let Some(id) = owing.filter(|id| chosen != Some(*id))
            && self.transmit_cargo(now, id, Cargo::Acks, out)?
        {
            return Ok(true);
        }
        if let Some(id) = chosen
            && self.transmit_content(now, id, &choice, out)?
        {
            return Ok(true);
        }
        if !has_content && open.iter().any(|id| self.reinject(now, *id)) {
            return self.transmit_copies(now, &open, out);
        }
        for id in open {
            let path = &self.paths[id];
            let wanted = has_content || may_copy && self.has_copies(id);
            let limits = self.limits_if(path, wanted);
            self.on_sent_all(now, id, limits);
        }
        Ok(false)
    }

    /// Sends data that other paths have sent, on a path that is to repeat it and has room. Returns whether there was any.
    fn transmit_copies(
        &mut self,
        now: SimTime,
        open: &[PathId],
        out: &mut Output<'_>,
    ) -> Result<bool, EndpointError> {
        let mut waits = false;
        for id in open.iter().copied() {
            let has_copies = self.prune_copies(id);
            waits |= has_copies;
            if has_copies
                && self.has_room_for_data(now, id)
                && self.transmit_cargo(now, id, Cargo::Copies, out)?
            {
                return Ok(true);
            }
        }
        if let Some(multipath) = &mut self.multipath {
            multipath.has_copies = waits;
        }
        Ok(false)
    }

    /// Sends whatever there is on the path chosen. Returns whether there was anything.
    fn transmit_content(
        &mut self,
        now: SimTime,
        id: PathId,
        choice: &Choice,
        out: &mut Output<'_>,
    ) -> Result<bool, EndpointError> {
        let again = self.streams.totals().retransmitted;
        if !self.transmit_cargo(now, id, Cargo::Content, out)? {
            return Ok(false);
        }
        if let Some(multipath) = &mut self.multipath {
            let told = multipath.scheduler.on_sent(id);
            told.map_err(|problem| multipath.scheduler_error(now, problem))?;
        }
        // What was sent before is on other paths already.
        if let Choice::Several(paths) = choice
            && self.streams.totals().retransmitted == again
        {
            self.copy_latest(paths);
        }
        Ok(true)
    }

    /// Sends a datagram with this cargo on a path. Returns whether there was any.
    fn transmit_cargo(
        &mut self,
        now: SimTime,
        id: PathId,
        cargo: Cargo,
        out: &mut Output<'_>,
    ) -> Result<bool, EndpointError> {
        let plan = self.plan_cargo(now, id, cargo);
        if plan.is_empty() { Ok(false) } else { self.transmit_packet(now, id, plan, out) }
    }

    /// Whether a path has to carry content itself if it is to probe with any: no other one can.
    pub(in crate::connection) fn is_alone(&self, id: PathId) -> bool {
        !self.has_usable_path_but(id)
    }

    /// Whether an acknowledgement is due that path `id` is to carry.
    #[inline]
    pub(in crate::connection) fn owes_ack(&self, now: SimTime, id: PathId) -> bool {
        let due =
            |path: &Path| path.acks.received.is_due(now) && self.ack_path(path.id) == Some(id);
        self.paths.iter().any(due)
    }

    /// The path that acknowledges packets of path `of`.
    fn ack_path(&self, of: PathId) -> Option<PathId> {
        let multipath = self.multipath.as_ref()?;
        let can_send = |path: &Path| path.is_open() && path.ids.remote.is_in_use();
        if let [only] = multipath.open[..] {
            return Some(only);
        }
        let usable = || multipath.open.iter().copied().filter(|id| self.paths[*id].is_usable());
        match multipath.offer.acks {
            AckPath::SamePath if can_send(&self.paths[of]) => Some(of),
            AckPath::RoundRobin => {
                let count = usable().count();
                usable().nth(multipath.turn.checked_rem(count)?)
            }
            AckPath::SamePath | AckPath::Fastest => usable().min_by_key(|id| {
                let path = &self.paths[*id];
                (path.recovery.pto_count() > 0, path.recovery.rtt().smoothed())
            }),
        }
    }

    /// Adds the acknowledgements that the packet's path is to carry, if one is due, or if something is sent anyway.
    pub(in crate::connection) fn add_path_acks(
        &mut self,
        now: SimTime,
        builder: &mut PacketBuilder,
    ) {
        let wanted = |path: &Path| {
            let received = &path.acks.received;
            received.is_due(now) || received.is_pending()
        };
        let owing = self.paths.iter().filter(|path| wanted(path)).map(|path| path.id);
        let owing: SmallVec<[PathId; 8]> = owing.collect();
        for of in owing {
            if self.ack_path(of) == Some(builder.path) {
                self.add_ack_of(now, of, builder);
            }
        }
    }

    /// Adds the acknowledgement of packets of path `of`, if there is room for it.
    fn add_ack_of(&mut self, now: SimTime, of: PathId, builder: &mut PacketBuilder) {
        let PathId(path) = of;
        let room = builder.room.saturating_sub(leobench_base::varint::varint_size(path.into()));
        let received = &mut self.paths[of].acks.received;
        if let Some(ack) = received.ack_frame(now, room, ACK_DELAY_EXPONENT) {
            received.on_ack_sent();
            let largest = ack.largest();
            builder.push(Frame::PathAck { path, ack }, Some(SentFrame::PathAck { path, largest }));
            if let Some(multipath) = &mut self.multipath {
                multipath.turn = multipath.turn.wrapping_add(1);
            }
        }
    }

    /// Whether acknowledgements have become so long that the next packet is to ask for one of them.
    pub(in crate::connection) fn has_many_ranges(&self) -> bool {
        match self.multipath {
            None => self.paths.first().acks.received.has_many_ranges(),
            Some(_) => self.paths.iter().any(|path| path.acks.received.has_many_ranges()),
        }
    }

    /// Adds the status of the packet's path, if it is to be told.
    pub(in crate::connection) fn add_path_status(&mut self, builder: &mut PacketBuilder) {
        let path = &mut self.paths[builder.path];
        let (id, sequence, backup) = (path.id.0, path.status.sequence, path.status.backup);
        let frame = Frame::Path(PathFrame::Status { path: id, sequence, backup });
        if path.status.pending && builder.fits(&frame) {
            path.status.pending = false;
            path.status.sequence += 1;
            builder.push(frame, Some(SentFrame::PathStatus { path: id, sequence }));
        }
    }

    /// Adds the frames about paths.
    #[cold]
    pub(in crate::connection) fn add_path_frames(&mut self, builder: &mut PacketBuilder) {
        let mut all = true;
        while let Some((frame, carried)) = self.next_path_frame() {
            let frame = Frame::Path(frame);
            if !builder.fits(&frame) {
                all = false;
                break;
            }
            self.on_path_frame_sent(carried);
            builder.push(frame, Some(carried));
        }
        if all && let Some(multipath) = &mut self.multipath {
            multipath.pending = false;
        }
    }

    /// The next frame about paths to send, and what stands for it.
    fn next_path_frame(&self) -> Option<(PathFrame, SentFrame)> {
        let multipath = self.multipath.as_ref()?;
        if multipath.announces_max {
            let max = multipath.local_max;
            return Some((PathFrame::MaxPathId(max), SentFrame::MaxPathId(max)));
        }
        if multipath.tells_blocked {
            let frame = match multipath.blocked? {
                Blocked::Limit(limit) => PathFrame::PathsBlocked(limit),
                Blocked::Ids(id) => {
                    let next = self.paths[id].ids.remote.next_expected();
                    PathFrame::CidsBlocked { path: id.0, next }
                }
            };
            return Some((frame, SentFrame::PathsBlocked));
        }
        self.paths.iter().find_map(|known| {
            let path = known.id.0;
            if let (code, true) = known.farewell {
                return Some((PathFrame::Abandon { path, code }, SentFrame::PathAbandon(path)));
            }
            if known.status.pending && known.is_established() {
                let (sequence, backup) = (known.status.sequence, known.status.backup);
                let frame = PathFrame::Status { path, sequence, backup };
                return Some((frame, SentFrame::PathStatus { path, sequence }));
            }
            if !matches!(known.stage, Stage::Unused | Stage::Open) {
                return None;
            }
            if let Some(new) = known.ids.local.announcement() {
                let sequence = new.sequence;
                let frame = PathFrame::NewConnectionId { path, new: Box::new(new) };
                return Some((frame, SentFrame::PathNewConnectionId { path, sequence }));
            }
            let sequence = known.ids.remote.retirement()?;
            let frame = PathFrame::RetireConnectionId { path, sequence };
            Some((frame, SentFrame::PathRetireConnectionId { path, sequence }))
        })
    }

    /// The frame that `carried` stands for was put into a packet.
    fn on_path_frame_sent(&mut self, carried: SentFrame) {
        let Some(multipath) = &mut self.multipath else { return };
        match carried {
            SentFrame::MaxPathId(_) => multipath.announces_max = false,
            SentFrame::PathsBlocked => multipath.tells_blocked = false,
            SentFrame::PathAbandon(path) => self.paths[PathId(path)].farewell.1 = false,
            SentFrame::PathStatus { path, .. } => {
                let status = &mut self.paths[PathId(path)].status;
                status.pending = false;
                status.sequence += 1;
            }
            SentFrame::PathNewConnectionId { path, .. } => {
                self.paths[PathId(path)].ids.local.on_announced();
            }
            SentFrame::PathRetireConnectionId { path, .. } => {
                self.paths[PathId(path)].ids.remote.on_retirement_sent();
            }
            _ => {}
        }
    }

    /// A packet with a frame about paths was lost, which is sent again if it still tells anything.
    #[cold]
    pub(in crate::connection) fn requeue_path_frame(&mut self, carried: &SentFrame) {
        let Some(multipath) = &mut self.multipath else { return };
        multipath.pending = true;
        let number = match *carried {
            SentFrame::MaxPathId(max) => {
                multipath.announces_max |= max == multipath.local_max;
                return;
            }
            SentFrame::PathAbandon(path)
            | SentFrame::PathStatus { path, .. }
            | SentFrame::PathNewConnectionId { path, .. }
            | SentFrame::PathRetireConnectionId { path, .. } => path,
            _ => return,
        };
        // Of a path that is gone there is nothing to tell.
        let Some(path) = self.paths.get_mut(PathId(number)) else { return };
        match *carried {
            SentFrame::PathAbandon(_) => {
                path.farewell.1 = matches!(path.stage, Stage::Abandoned { .. });
            }
            SentFrame::PathStatus { sequence, .. } => {
                path.status.pending |= sequence + 1 == path.status.sequence;
            }
            SentFrame::PathNewConnectionId { sequence, .. } => path.ids.local.on_lost(sequence),
            SentFrame::PathRetireConnectionId { sequence, .. } if path.is_open() => {
                path.ids.remote.on_retirement_lost(sequence);
            }
            _ => {}
        }
    }
}
