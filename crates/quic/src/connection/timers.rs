//! When a connection has something to do by itself.

use leobench_base::{SimDuration, SimTime};
use leobench_transport::endpoint::PathId;

use super::Connection;
use super::close::State;
use super::paths::Multipath;
use crate::earliest::earliest;
use crate::paths::PathSet;
use crate::wire::Space;

/// The idle timeout is at least this many probe timeouts (RFC 9000 section 10.1).
const IDLE_PROBES: u64 = 3;

/// The idle timeout (RFC 9000 section 10.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    pub(super) timeout: Option<SimDuration>,
    since: SimTime,
    /// Whether an ack-eliciting packet was sent since the last arrival.
    sent: bool,
}

impl Idle {
    pub(super) fn new(now: SimTime, timeout: Option<SimDuration>) -> Self {
        Self { timeout, since: now, sent: false }
    }

    /// An arrival restarts the timer.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: SimTime) {
        (self.since, self.sent) = (now, false);
    }

    /// Restarts the timer at the first ack-eliciting packet sent since the last arrival.
    #[inline]
    pub(super) fn on_eliciting_sent(&mut self, now: SimTime) {
        if !self.sent {
            (self.since, self.sent) = (now, true);
        }
    }

    /// When the connection times out at the earliest.
    fn not_before(&self) -> Option<SimTime> {
        self.timeout.map(|timeout| self.since + timeout)
    }

    /// When the connection times out.
    fn deadline(&self, paths: &PathSet) -> Option<SimTime> {
        let timeout = self.timeout?;
        let least = paths.longest_probe_timeout() * IDLE_PROBES;
        Some(self.since + timeout.max(least))
    }
}

impl Connection {
    /// When to call [`on_timer`](Self::on_timer) or [`transmit`](Self::transmit) next if nothing arrives before.
    pub(crate) fn timer(&mut self, now: SimTime) -> Option<SimTime> {
        if !self.is_open() {
            return self.state.timer();
        }
        let mut first = match &self.multipath {
            None => earliest(self.paths.first().timer(), self.ack_timer(now)),
            Some(multipath) => self.timer_over_paths(multipath, now),
        };
        first = earliest(first, self.streams.cancellation());
        if !self.handshake.confirmed {
            first = earliest(first, self.handshake_ack_timer(now));
        }
        match (first, self.idle.not_before()) {
            // Most often, the deadline need not be worked out.
            (Some(first), Some(idle)) if first <= idle => Some(first),
            _ => earliest(first, self.idle.deadline(&self.paths)),
        }
    }

    /// When an acknowledgement of 1-RTT packets of the only path is due. One that is due by now cannot be sent: an arrival from
    /// the peer will change that.
    #[inline]
    fn ack_timer(&self, now: SimTime) -> Option<SimTime> {
        let due = self.paths.first().acks.received.timer().filter(|due| *due > now);
        due.filter(|_| self.keys.can_send(Space::Data))
    }

    /// The same for the packets of the handshake.
    #[cold]
    fn handshake_ack_timer(&self, now: SimTime) -> Option<SimTime> {
        let spaces = [Space::Initial, Space::Handshake].into_iter();
        let due = spaces
            .filter(|space| self.keys.can_send(*space))
            .filter_map(|space| self.handshake.acks[space as usize].received.timer());
        due.filter(|due| *due > now).min()
    }

    /// When something is due on one of several paths.
    fn timer_over_paths(&self, multipath: &Multipath, now: SimTime) -> Option<SimTime> {
        let acks = self.paths.iter().filter_map(|path| path.acks.received.timer());
        let acks = acks.filter(|due| *due > now).min();
        let paths = self.paths.open().iter().filter_map(|id| self.paths[*id].timer()).min();
        earliest(multipath.timer(&self.paths), earliest(acks, paths))
    }

    /// Does what is due.
    pub(crate) fn on_timer(&mut self, now: SimTime) {
        if !self.is_open() {
            if self.state.timer().is_some_and(|until| until <= now) {
                self.state = State::Closed;
            }
            return;
        }
        let is_due = |time: Option<SimTime>| time.is_some_and(|time| time <= now);
        if is_due(self.idle.not_before()) && is_due(self.idle.deadline(&self.paths)) {
            self.abandon(now, "timed out", "idle_timeout");
            return;
        }
        self.streams.cancel_due(now);
        let Some(multipath) = &self.multipath else {
            return self.on_path_timer(now, PathSet::FIRST);
        };
        if is_due(multipath.timer(&self.paths)) {
            self.on_multipath_timer(now);
        }
        for id in self.paths.open().clone() {
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
        self.qlog.lost(now, id, &self.outcome, &self.handshake);
        self.settle_outcome(id);
        if let Some(probe) = probe {
            let path = &mut self.paths[id];
            path.probed_from = path.recovery.next_number(Space::Data).value;
            self.handshake.acks_mut(&mut self.paths, id, probe.space).probes = probe.packets;
            let never = self.multipath.as_ref().is_some_and(|it| it.never_reinjects());
            if never || !self.paths.has_other_usable(id) {
                self.refill_probe(id, probe.space);
            } else {
                self.repeat_elsewhere(id);
            }
            if probe.space != Space::Data
                && (self.handshake.complete || self.handshake.sends_early())
            {
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
}
