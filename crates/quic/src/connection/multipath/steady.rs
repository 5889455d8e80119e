//! The common case of several paths, without what it never needs: all of those in use stay where they are and can take data, and
//! of no other one is anything left to do. All of it decides what the general code would decide.

use leobench_base::{Packet as IpPacket, SimTime};
use leobench_transport::endpoint::{EndpointError, PathId};
use leobench_transport::path_scheduler::PathViews;

use super::super::Connection;
use super::super::draft::Draft;
use super::super::transmit::{ACK_DELAY_EXPONENT, SMALLEST_SAMPLED, WORTHWHILE};
use crate::carried::Carried;
use crate::path::{Path, Stage};
use crate::spec::AckPath;
use crate::wire::{Frame, Packet, Space, TAG_SIZE};

/// The contents for which a packet is built in the common case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Acks,
    Content,
}

impl Connection {
    /// Sends over several paths what may be sent now, as long as the connection is in the common case. Returns whether it is to
    /// the end; otherwise the rest is up to [`transmit`](Self::transmit).
    ///
    /// # Errors
    /// If the stream scheduler misbehaved.
    #[inline(never)]
    pub(in crate::connection) fn send_over_settled(
        &mut self,
        now: SimTime,
        packets: &mut Vec<IpPacket>,
    ) -> Result<bool, EndpointError> {
        if self.settled.is_empty() && !self.settle_paths() {
            return Ok(false);
        }
        loop {
            if !self.is_open() {
                return Ok(false);
            }
            self.look_after_keys(now);
            if !self.can_send(Space::Data) {
                return Ok(false);
            }
            let content = self.has_content(Space::Data);
            let Some(draft) = self.draft_over_settled(now, content)? else {
                self.rest(now, content);
                return Ok(true);
            };
            #[cfg(test)]
            super::super::steady::count_packet();
            packets.push(self.dispatch_steadily(now, draft));
        }
    }

    /// Notes which paths are in use, if all of them are settled and the others need no attention. Returns whether they are.
    #[cold]
    fn settle_paths(&mut self) -> bool {
        let Some(multipath) = &self.multipath else { return false };
        #[cfg(test)]
        if super::super::steady::is_general_only() {
            return false;
        }
        let settled = |path: &Path| match path.stage {
            Stage::Open => {
                path.is_settled()
                    && path.is_usable()
                    && path.recovery.is_settled()
                    && path.dues.probes == 0
            }
            Stage::Unused | Stage::Gone => path.dues.received.owes_nothing(),
            Stage::Abandoned { .. } => false,
        };
        let is_steady = multipath.open.len() > 1
            && multipath.offer.acks == AckPath::SamePath
            && self.confirmed
            && self.complete
            && !self.as_bytes
            && !self.leaves_initial
            && !self.provisional
            && self.paths.iter().all(settled);
        if is_steady {
            self.settled.extend_from_slice(&multipath.open);
        }
        is_steady
    }

    /// The next packet, if one may be sent now.
    fn draft_over_settled(
        &mut self,
        now: SimTime,
        content: bool,
    ) -> Result<Option<Draft>, EndpointError> {
        let chosen = if content { self.choose_settled(now) } else { None };
        let is_due = |at: &&usize| self.paths[**at].dues.received.is_due(now);
        let owing = self.settled.iter().find(is_due).copied();
        if let Some(at) = owing.filter(|at| chosen != Some(*at))
            && let Some(draft) = self.draft_on(now, at, Load::Acks)?
        {
            return Ok(Some(draft));
        }
        let Some(at) = chosen else { return Ok(None) };
        let draft = self.draft_on(now, at, Load::Content)?;
        if draft.is_some() {
            let id = self.path().id;
            if let Some(multipath) = &mut self.multipath {
                multipath.scheduler.on_sent(id);
            }
        }
        Ok(draft)
    }

    /// The path that the scheduler chooses for the next packet, as in [`choose_path`](Self::choose_path).
    fn choose_settled(&mut self, now: SimTime) -> Option<usize> {
        let mut views = PathViews::new();
        let mut least = u8::MAX;
        for at in &self.settled {
            let path = &self.paths[*at];
            let reserve = Self::reserve(path);
            if reserve > least {
                continue;
            }
            if reserve < least {
                least = reserve;
                views.clear();
            }
            views.extend(self.view(now, path));
        }
        self.ask_scheduler(now, &views)
    }

    /// The path that the scheduler chooses among these.
    pub(super) fn ask_scheduler(&mut self, now: SimTime, views: &PathViews) -> Option<usize> {
        if views.is_empty() {
            return None;
        }
        let scheduler = &mut self.multipath.as_mut()?.scheduler;
        let PathId(chosen) = scheduler.choose(now, views)?;
        let is_there = views.iter().any(|view| view.id.0 == chosen);
        debug_assert!(is_there, "path {chosen} has no room");
        is_there.then_some(chosen as usize)
    }

    /// A packet on path `at`.
    fn draft_on(
        &mut self,
        now: SimTime,
        at: usize,
        load: Load,
    ) -> Result<Option<Draft>, EndpointError> {
        self.active = at;
        let path = self.path();
        let room = path.mtu;
        let number = path.recovery.next_number(Space::Data);
        let header = self.header(Space::Data, number);
        if room < header.size(room) + TAG_SIZE + WORTHWHILE {
            return Ok(None);
        }
        let mut draft = Draft::within(self.spares.pop(), header, room);
        let received = &self.path().dues.received;
        if received.is_due(now) || received.is_pending() {
            self.add_ack_of(now, at, &mut draft);
        }
        if load == Load::Content {
            self.add_content(now, &mut draft)?;
        }
        if draft.frames().is_empty() {
            return Ok(None);
        }
        let has_many = |at: &usize| self.paths[*at].dues.received.has_many_ranges();
        if !draft.ack_eliciting && self.settled.iter().any(has_many) {
            self.ask_for_ack(now, &mut draft);
        }
        let sampled = u64::from(number.len) + draft.payload;
        draft.pad(SMALLEST_SAMPLED.saturating_sub(sampled));
        Ok(Some(draft))
    }

    /// Adds the acknowledgement of packets of path `of`, if there is room for it.
    pub(super) fn add_ack_of(&mut self, now: SimTime, of: usize, draft: &mut Draft) {
        let path = self.paths[of].id.0;
        let room = draft.room.saturating_sub(leobench_base::varint::varint_size(path.into()));
        let received = &mut self.paths[of].dues.received;
        if let Some(ack) = received.ack(now, room, ACK_DELAY_EXPONENT) {
            received.on_ack_sent();
            let largest = ack.largest();
            draft.push(Frame::PathAck { path, ack }, Some(Carried::PathAck { path, largest }));
            if let Some(multipath) = &mut self.multipath {
                multipath.turn = multipath.turn.wrapping_add(1);
            }
        }
    }

    /// Nothing more is sent now: notes what limits each path, and when something is due on one.
    fn rest(&mut self, now: SimTime, content: bool) {
        let idle = self.multipath.as_ref().and_then(|multipath| multipath.offer.idle);
        let mut first = SimTime::MAX;
        for place in 0..self.settled.len() {
            self.active = self.settled[place];
            let path = &self.paths[self.active];
            let has_window = path.recovery.in_flight() + path.mtu <= self.control.window(path.id);
            let mut wanted = content;
            if content && has_window {
                let ready = path.ready(&self.control);
                wanted = ready > now;
                if wanted {
                    first = first.min(ready);
                }
            }
            if let Some(due) = path.dues.received.timer().filter(|due| *due > now) {
                first = first.min(due);
            }
            if let Some(due) = path.recovery.timer() {
                first = first.min(due);
            }
            if let Some(idle) = idle {
                first = first.min(path.heard + idle);
            }
            self.note_limits(wanted, has_window);
        }
        self.next_due = Some(first);
    }

    /// Whether nothing is due on any path in the common case.
    #[inline]
    pub(in crate::connection) fn has_nothing_due(&self, now: SimTime) -> bool {
        let idle = self.multipath.as_ref().and_then(|multipath| multipath.offer.idle);
        let rests = |at: &usize| {
            let path = &self.paths[*at];
            path.recovery.timer().is_none_or(|timer| timer > now)
                && idle.is_none_or(|idle| path.heard + idle > now)
        };
        !self.settled.is_empty() && self.settled.iter().all(rests)
    }

    /// Whether a packet has nothing but data and acknowledgements of paths in use.
    #[inline]
    pub(in crate::connection) fn is_plain_on_paths(&self, packet: &Packet) -> bool {
        packet.frames.iter().all(|frame| match frame {
            Frame::Stream { .. } => true,
            Frame::PathAck { path, .. } => {
                self.paths.get(*path as usize).is_some_and(Path::is_open)
            }
            _ => false,
        })
    }
}
