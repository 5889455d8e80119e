//! Which path carries what (draft-ietf-quic-multipath sections 5.5 to 5.7).

use leobench_base::SimTime;
use leobench_transport::endpoint::PathId;
use leobench_transport::path_scheduler::Choice;

use crate::connection::Connection;
use crate::connection::transmit::{Output, Sent};
use crate::wire::Space;

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
    pub(crate) fn transmit_over_paths(&mut self, now: SimTime, out: &mut Output<'_>) -> Sent {
        let open = self.paths.open().clone();
        for id in open.iter().copied() {
            let path = &self.paths[id];
            let wants =
                path.acks.probes > 0 || path.route.wants_validation() || !path.others.is_empty();
            if !wants || !path.ids.remote.is_in_use() {
                continue;
            }
            if self.validate_other_route(now, id, out)
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
        let owing = open.iter().copied().find(|id| self.owes_ack(now, &self.paths[*id]));
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
            let wanted = has_content || may_copy && path.has_copies();
            let limits = self.limits(path, wanted);
            self.report_send_limits(now, id, limits);
        }
        Ok(false)
    }

    /// Sends data that other paths have sent, on a path that is to repeat it and has room. Returns whether there was any.
    fn transmit_copies(&mut self, now: SimTime, open: &[PathId], out: &mut Output<'_>) -> Sent {
        let mut waits = false;
        for id in open.iter().copied() {
            let is_unacked = |range: &_| self.streams.is_unacked(range);
            let member = self.paths[id].member.as_mut();
            let has_copies = member.is_some_and(|member| member.prune_copies(is_unacked));
            waits |= has_copies;
            if has_copies
                && self.paths.has_room_for_data(now, id, &self.control)
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
    ) -> Sent {
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
    ) -> Sent {
        let plan = self.plan_cargo(now, id, cargo);
        if plan.is_empty() { Ok(false) } else { self.transmit_packet(now, id, plan, out) }
    }
}
