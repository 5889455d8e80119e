//! When a connection has something to do by itself.

use leobench_base::{SimDuration, SimTime};
use leobench_transport::endpoint::PathId;

use super::Connection;
use super::close::State;
use crate::paths::PathSet;
use crate::timers::earliest;
use crate::wire::Space;

/// The idle timeout is at least this many probe timeouts (RFC 9000 section 10.1).
const IDLE_PROBES: u64 = 3;

impl Connection {
    /// When to call [`on_timer`](Self::on_timer) or [`transmit`](Self::transmit) next if nothing arrives before.
    pub(crate) fn timer(&mut self, now: SimTime) -> Option<SimTime> {
        if !self.is_open() {
            return self.close_timer();
        }
        let mut first = match self.multipath {
            None => earliest(self.paths.first().timer(), self.ack_timer(now)),
            Some(_) => self.timer_of_paths(now),
        };
        first = earliest(first, self.streams.cancellation());
        if !self.handshake.confirmed {
            first = earliest(first, self.handshake_ack_timer(now));
        }
        match (first, self.idle.timeout) {
            // The deadline is never before the timeout that was agreed on: most often it need not be worked out.
            (Some(first), Some(timeout)) if first <= self.idle.since + timeout => Some(first),
            _ => earliest(first, self.idle_deadline()),
        }
    }

    /// When an acknowledgement of 1-RTT packets of the only path is due. One that is due by now cannot be sent: an arrival from
    /// the peer will change that.
    #[inline]
    fn ack_timer(&self, now: SimTime) -> Option<SimTime> {
        let due = self.paths.first().acks.received.timer().filter(|due| *due > now);
        due.filter(|_| self.can_send(Space::Data))
    }

    /// The same for the packets of the handshake.
    #[cold]
    fn handshake_ack_timer(&self, now: SimTime) -> Option<SimTime> {
        let spaces = [Space::Initial, Space::Handshake].into_iter();
        let due = spaces
            .filter(|space| self.can_send(*space))
            .filter_map(|space| self.handshake.acks[space as usize].received.timer());
        due.filter(|due| *due > now).min()
    }

    /// When something is due on one of several paths.
    fn timer_of_paths(&self, now: SimTime) -> Option<SimTime> {
        let acks = self.paths.iter().filter_map(|path| path.acks.received.timer());
        let acks = acks.filter(|due| *due > now).min();
        let open = self.open_paths();
        let paths = open.iter().filter_map(|id| self.paths[*id].timer()).min();
        earliest(self.paths_timer(), earliest(acks, paths))
    }

    /// Does what is due.
    pub(crate) fn on_timer(&mut self, now: SimTime) {
        if !self.is_open() {
            if self.close_timer().is_some_and(|until| until <= now) {
                self.state = State::Closed;
            }
            return;
        }
        // The timeout is never shorter than what was agreed on.
        let is_idle = self.idle.timeout.is_some_and(|timeout| self.idle.since + timeout <= now);
        if is_idle && self.idle_deadline().is_some_and(|deadline| deadline <= now) {
            self.abandon(now, "timed out", "idle_timeout");
            return;
        }
        self.streams.cancel_due(now);
        if self.multipath.is_none() {
            return self.on_path_timer(now, PathSet::FIRST);
        }
        if self.paths_timer().is_some_and(|due| due <= now) {
            self.on_paths_timer(now);
        }
        for id in self.open_paths() {
            if self.paths[id].is_open() && self.is_open() {
                self.on_path_timer(now, id);
            }
        }
    }

    /// Does what is due on a path.
    fn on_path_timer(&mut self, now: SimTime, id: PathId) {
        if !self.paths[id].is_settled() {
            self.on_route_timer(now, id);
            if !self.paths[id].is_open() {
                return;
            }
        }
        let path = &mut self.paths[id];
        if path.recovery.timer().is_none_or(|timer| timer > now) {
            return;
        }
        let probe = path.recovery.on_timeout(now, &mut self.control, &mut self.outcome);
        self.log_losses(now, id);
        self.settle_outcome(id);
        if let Some(probe) = probe {
            let path = &mut self.paths[id];
            path.probed_from = path.recovery.next_number(Space::Data).value;
            self.acks_mut(id, probe.space).probes = probe.packets;
            if self.is_alone(id) || self.never_reinjects() {
                self.refill_probe(id, probe.space);
            } else {
                self.repeat_elsewhere(id);
            }
            if probe.space != Space::Data && (self.handshake.complete || self.sends_early()) {
                // A server that has confirmed the handshake has no keys for the rest of it, but knows 1-RTT packets (RFC 9002
                // section 6.2.4: probes of other spaces too). A client's first flight is repeated with its 0-RTT data.
                self.paths[id].acks.probes = 1;
                self.refill_probe(id, Space::Data);
            }
            self.look_elsewhere(now, id);
        }
    }

    /// Gives a probe of a path something to carry: what the oldest packet in flight carried, if there is nothing else (RFC 9002
    /// section 6.2.4).
    #[cold]
    pub(super) fn refill_probe(&mut self, id: PathId, space: Space) {
        let path = &self.paths[id];
        if self.has_content(path, space) {
            return;
        }
        let Some(oldest) = path.recovery.oldest_unacked(space) else { return };
        let contents = oldest.carried.clone();
        for carried in &contents {
            self.requeue(space, carried);
        }
    }

    /// When the connection times out (RFC 9000 section 10.1).
    pub(super) fn idle_deadline(&self) -> Option<SimTime> {
        let timeout = self.idle.timeout?;
        let least: SimDuration = self.longest_probe_timeout() * IDLE_PROBES;
        Some(self.idle.since + timeout.max(least))
    }

    /// An arrival restarts the idle timer.
    #[inline]
    pub(super) fn on_alive(&mut self, now: SimTime) {
        (self.idle.since, self.idle.sent) = (now, false);
    }

    /// So does the first ack-eliciting packet sent since.
    #[inline]
    pub(super) fn on_eliciting_sent(&mut self, now: SimTime) {
        if !self.idle.sent {
            (self.idle.since, self.idle.sent) = (now, true);
        }
    }
}
