//! Plans of packets: what the next one carries, by what is wanted and what window, pacing and forecasts allow.

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use crate::connection::Connection;
use crate::connection::paths::Cargo;
use crate::paths::Path;
use crate::wire::Space;

/// The contents of the next packet of a space on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::connection) struct Plan {
    /// Whether an acknowledgement is due.
    pub(super) ack: bool,
    /// Whether the packet probes: the peer has to acknowledge it (RFC 9002 section 6.2.4).
    pub(super) probe: bool,
    /// Other frames.
    pub(super) contents: Contents,
}

/// Frames other than acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::connection) enum Contents {
    Nothing,
    /// Challenges and responses only.
    Validation,
    /// Data that other paths have sent.
    Copies,
    /// Whatever there is.
    Everything,
}

impl Plan {
    /// Whether there is no reason for a packet.
    #[inline]
    pub(in crate::connection) fn is_empty(self) -> bool {
        !self.ack && self.contents == Contents::Nothing
    }
}

/// The limits on content of 1-RTT packets on a path.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct Limits {
    /// Whether content waits.
    wanted: bool,
    window: u64,
    /// Whether the window has room for a full packet.
    has_window: bool,
    /// When pacing and forecasts let the next packet go, if content waits that the window lets go.
    ready: SimTime,
}

impl Connection {
    /// The next packet of the only path: its contents, and the limits on them.
    #[inline(always)]
    pub(super) fn plan_data(&self, now: SimTime, id: PathId) -> (Plan, Limits) {
        let path = &self.paths[id];
        let limits = self.limits(path, self.has_content(path, Space::Data));
        let probe = path.acks.probes > 0;
        let allowed = limits.wanted && limits.has_window && limits.ready <= now;
        let content = probe || path.route.wants_validation() || allowed;
        let contents = if content { Contents::Everything } else { Contents::Nothing };
        (Plan { ack: self.owes_ack(now, path), probe, contents }, limits)
    }

    /// Whether an acknowledgement is due that a path is to carry.
    #[inline]
    pub(in crate::connection) fn owes_ack(&self, now: SimTime, path: &Path) -> bool {
        match &self.multipath {
            None => path.acks.received.is_due(now),
            Some(multipath) => multipath.owes_ack(&self.paths, now, path.id),
        }
    }

    /// The next packet of a space before the handshake is confirmed.
    pub(super) fn plan_handshake(&self, now: SimTime, id: PathId, space: Space) -> Plan {
        if space == Space::Data {
            return self.plan_data(now, id).0;
        }
        let acks = self.handshake.acks(&self.paths, id, space);
        let path = &self.paths[id];
        let probe = acks.probes > 0;
        let is_ready = || path.ready(self.control.window(path.id), &self.control) <= now;
        let may_send = || self.has_room(path, space) && is_ready();
        let content = probe || self.has_content(path, space) && may_send();
        let contents = if content { Contents::Everything } else { Contents::Nothing };
        Plan { ack: acks.received.is_due(now), probe, contents }
    }

    /// The next packet of one of several paths, for a cargo.
    pub(in crate::connection) fn plan_cargo(&self, now: SimTime, id: PathId, cargo: Cargo) -> Plan {
        let path = &self.paths[id];
        let probe = path.acks.probes > 0;
        let contents = match cargo {
            Cargo::Content => Contents::Everything,
            Cargo::Copies => Contents::Copies,
            Cargo::Probes if probe && !self.paths.has_other_usable(id) => Contents::Everything,
            Cargo::Probes if probe || path.route.wants_validation() => Contents::Validation,
            Cargo::Probes | Cargo::Acks => Contents::Nothing,
        };
        Plan { ack: self.owes_ack(now, path), probe, contents }
    }

    /// The limits on content of 1-RTT packets on a path, where content waits if it is `wanted`.
    #[inline(always)]
    pub(in crate::connection) fn limits(&self, path: &Path, wanted: bool) -> Limits {
        let window = self.control.window(path.id);
        let has_window = path.has_window(window);
        let waits = wanted && has_window;
        let ready = if waits { path.ready(window, &self.control) } else { SimTime::ZERO };
        Limits { wanted, window, has_window, ready }
    }

    /// Nothing more is sent on a path at this instant, because of these limits. Tells the controller whether the application leaves
    /// the window unfilled, and whether the window is what limits the sender (RFC 9002 section 7.8). Waiting for the pacer does not
    /// count, unless it hides that data was waiting: pacing spreads a window over a round trip, and so leaves more than half of it
    /// in flight. A rate of the algorithm's own does not tell. Nor is it the application's doing if flow control blocks, or if a
    /// scheduler prefers another path.
    #[inline]
    pub(in crate::connection) fn report_send_limits(
        &mut self,
        now: SimTime,
        id: PathId,
        limits: Limits,
    ) {
        let Limits { wanted, window, has_window, ready } = limits;
        let is_declined = self.paths.has_several_open() && has_window && ready <= now;
        let path = &mut self.paths[id];
        path.next_send = (wanted && has_window && ready > now).then_some(ready);
        if !has_window {
            return self.control.set_limits(id, false, true);
        }
        let wanted = wanted && !is_declined;
        let sparse =
            2 * path.recovery.in_flight() < window && self.control.pacing_rate(id).is_none();
        let app_limited = sparse || !wanted && !self.streams.is_blocked();
        self.control.set_limits(id, app_limited, wanted && !sparse);
    }

    /// The same before the handshake is confirmed, when content of other spaces may wait for the pacer as well.
    #[cold]
    pub(super) fn report_send_limits_of_handshake(&mut self, now: SimTime, id: PathId) {
        let path = &self.paths[id];
        let limits = self.limits(path, self.has_content(path, Space::Data));
        self.report_send_limits(now, id, limits);
        let path = &self.paths[id];
        let ready = path.ready(limits.window, &self.control);
        let waits = ready > now
            && self.handshake.spaces().iter().any(|space| {
                self.keys.can_send(*space)
                    && self.has_content(path, *space)
                    && self.has_room(path, *space)
            });
        self.paths[id].next_send = waits.then_some(ready);
    }

    /// Whether there is anything to send in `space` on a path but acknowledgements.
    #[inline]
    pub(in crate::connection) fn has_content(&self, path: &Path, space: Space) -> bool {
        match space {
            Space::Data => {
                self.handshake.writes_data && (self.streams.has_pending() || self.has_control(path))
                    || self.handshake.streams[Space::Data as usize].is_pending()
            }
            space => self.handshake.streams[space as usize].is_pending(),
        }
    }

    /// Whether frames of the connection itself are to be sent.
    #[inline]
    pub(super) fn has_control(&self, path: &Path) -> bool {
        let wants = self.handshake.announces_confirmation
            || self.ack_control.pending
            || self.has_path_control(path)
            || !self.datagrams.is_empty();
        wants && !self.handshake.sends_early()
    }

    /// Whether anything about connection IDs, routes or paths is to be sent.
    #[inline]
    fn has_path_control(&self, path: &Path) -> bool {
        match &self.multipath {
            None => {
                path.ids.local.is_pending()
                    || path.ids.remote.has_retirement()
                    || path.route.wants_validation()
            }
            Some(multipath) => {
                multipath.pending || path.route.wants_validation() && !self.paths.has_several_open()
            }
        }
    }

    /// Whether the window lets a packet go that counts.
    ///
    /// The handshake passes a full window if nothing of its space is outstanding: 1-RTT packets fill the window that the peer
    /// cannot read before the handshake is complete, and no timer runs for them until then (RFC 9002 section 6.2.1).
    fn has_room(&self, path: &Path, space: Space) -> bool {
        let has_window = path.has_window(self.control.window(path.id));
        let stuck = || space != Space::Data && !path.recovery.is_ack_eliciting_in_flight(space);
        has_window || stuck()
    }

    /// Whether this end has to repeat the client's first flight in a probe. Both probes of it carry it: whichever arrives first, a
    /// server can start with it, while it may take an Initial packet without CRYPTO frames for a violation there (RFC 9000
    /// section 17.2.2).
    pub(super) fn probes_first_flight(&self, space: Space) -> bool {
        space == Space::Initial
            && self.role == Role::Client
            && self.handshake.acks[space as usize].probes > 0
    }
}
