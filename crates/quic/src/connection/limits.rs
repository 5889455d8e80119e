//! Tests for pending frames, and the limits on sending them: window, pacer, flow control, holds.

use leobench_base::SimTime;
use leobench_transport::endpoint::Forecast;

use super::Connection;
use crate::wire::Space;

impl Connection {
    /// Whether there is anything to send in `space` but acknowledgements.
    #[inline]
    pub(super) fn has_content(&self, space: Space) -> bool {
        let crypto = self.handshake.streams[space as usize].is_pending();
        crypto
            || space == Space::Data
                && self.handshake.complete
                && (self.streams.has_pending() || self.has_control())
    }

    pub(super) fn has_control(&self) -> bool {
        self.handshake.announces_confirmation
            || self.ack_control.request.pending
            || self.has_path_control()
            || !self.datagrams.is_empty()
    }

    /// Whether anything about connection IDs, routes or paths is to be sent.
    fn has_path_control(&self) -> bool {
        let path = self.path();
        let ids = || path.ids.local.is_pending() || path.ids.remote.retirement().is_some();
        match &self.multipath {
            None => ids() || path.route.wants_probe(),
            Some(multipath) => {
                multipath.pending || path.route.wants_probe() && !self.has_several_paths()
            }
        }
    }

    /// The sender is told what will become of a path.
    pub(crate) fn on_forecast(&mut self, now: SimTime, forecast: &Forecast) {
        self.control.on_forecast(forecast);
        let path = self.paths.get_mut(forecast.path.0 as usize);
        if let Some((path, before)) = path.zip(self.settings.hold) {
            path.hold.plan(now, before, forecast);
        }
    }

    /// Leaves those paths alone from now on whose forecast handovers are near.
    #[inline]
    pub(crate) fn begin_holds(&mut self, now: SimTime) {
        if self.settings.hold.is_some() {
            self.paths.iter_mut().for_each(|path| path.hold.begin(now));
        }
    }

    /// Whether window and pacing let a packet go that counts.
    ///
    /// The handshake passes a full window if nothing of its space is outstanding: 1-RTT packets fill the window that the peer
    /// cannot read before the handshake is complete, and no timer runs for them until then (RFC 9002 section 6.2.1).
    #[inline]
    pub(super) fn may_send(&self, now: SimTime, space: Space) -> bool {
        self.has_room(space) && self.path().ready(&self.control) <= now
    }

    /// Whether the window lets a packet go that counts.
    #[inline]
    fn has_room(&self, space: Space) -> bool {
        let stuck =
            || space != Space::Data && !self.path().recovery.is_ack_eliciting_in_flight(space);
        self.has_window() || stuck()
    }

    /// Whether the window has room for a full packet.
    #[inline]
    fn has_window(&self) -> bool {
        let path = self.path();
        path.recovery.in_flight() + path.mtu <= self.control.window(path.id)
    }

    /// When pacing lets the next packet go, if that alone keeps it back.
    pub(super) fn paced_until(&self, now: SimTime) -> Option<SimTime> {
        let ready = self.path().ready(&self.control);
        let waits = ready > now
            && self.spaces().iter().any(|space| {
                self.can_send(*space) && self.has_content(*space) && self.has_room(*space)
            });
        waits.then_some(ready)
    }

    /// Tells the controller whether the application leaves the window unfilled, and whether the window is what limits the
    /// sender (RFC 9002 section 7.8). Waiting for the pacer does not count, unless it hides want: pacing spreads a window
    /// over a round trip, and so leaves more than half of it in flight. A rate of the algorithm's own says nothing of the
    /// kind. Nor is it the application's doing if flow control blocks.
    pub(super) fn update_limits(&mut self, now: SimTime) {
        let has_window = self.has_window();
        let wanted = self.has_content(Space::Data) && !(has_window && self.is_declined(now));
        let path = self.path();
        let (id, in_flight) = (path.id, path.recovery.in_flight());
        if !has_window {
            return self.control.set_limits(id, false, true);
        }
        let sparse =
            self.control.pacing_rate(id).is_none() && 2 * in_flight < self.control.window(id);
        let app_limited = sparse || !wanted && !self.streams.is_blocked();
        self.control.set_limits(id, app_limited, wanted && !sparse);
    }
}
