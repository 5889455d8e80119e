//! An adapter that runs an algorithm for a single path on every path of a connection independently.

use leobench_base::{BitRate, Bytes, RngTree, SimRng, SimTime};

use super::{AckEnd, Acked, Congestion, CongestionControl, Lost, Sent};
use crate::endpoint::{AccessReport, Forecast, PathId};
use crate::path_map::PathMap;

/// Congestion control of one path. The calls and their order are those of [`CongestionControl`], without the path.
pub trait SinglePath: Send {
    /// Whether it can fail, as a plug-in can. Otherwise nobody asks.
    const CAN_FAIL: bool = false;

    /// A packet was sent.
    fn on_sent(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// A packet was acknowledged.
    fn on_ack(&mut self, acked: &Acked);

    /// All packets of an acknowledgement have been reported.
    fn on_ack_end(&mut self, end: &AckEnd) {
        let _ = end;
    }

    /// A packet was declared lost.
    fn on_packet_lost(&mut self, lost: &Lost) {
        let _ = lost;
    }

    /// The packets declared lost since the last call, taken together.
    fn on_loss(&mut self, congestion: &Congestion);

    /// The peer reports new CE marks.
    fn on_ecn(&mut self, congestion: &Congestion);

    /// The losses behind the last reduction were spurious.
    fn on_spurious_loss(&mut self) {}

    /// A forecast of a path from outside the connection.
    fn on_forecast(&mut self, forecast: &Forecast) {
        let _ = forecast;
    }

    /// A report of the link layer on the access link of the path.
    fn on_access(&mut self, report: &AccessReport) {
        let _ = report;
    }

    /// Bytes that may be in flight.
    fn window(&self) -> Bytes;

    /// Pacing rate, if the algorithm sets one.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }

    /// Slow-start threshold, if there is one yet.
    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    /// Whether its window holds in recovery and after idle times too ([`CongestionControl::bypasses_recovery`]).
    fn bypasses_recovery(&self) -> bool {
        false
    }

    /// Sets the window ([`CongestionControl::set_window`]).
    fn set_window(&mut self, window: Bytes, ssthresh: Option<Bytes>) -> bool {
        let _ = (window, ssthresh);
        false
    }

    /// Name of the phase, such as `slow-start`.
    fn phase(&self) -> &'static str;

    /// Takes the failure after which it cannot go on ([`CongestionControl::fault`]).
    fn fault(&mut self) -> Option<String> {
        None
    }
}

/// Independent controllers, one for every open path.
///
/// A path that is not open has a window of zero, and late reports about its packets are ignored. Reopening a path starts
/// it afresh.
pub struct PerPath<C> {
    paths: PathMap<C>,
    build: Box<dyn FnMut(SimTime, Bytes) -> C + Send>,
}

impl<C: SinglePath> PerPath<C> {
    /// No path yet; `build(now, datagram)` makes the controller of a path that opens at `now` with packets of
    /// `datagram` bytes.
    pub fn new(build: impl FnMut(SimTime, Bytes) -> C + Send + 'static) -> Self {
        Self { build: Box::new(build), paths: PathMap::default() }
    }

    /// The same, where every path opened has a random stream of its own.
    pub(super) fn seeded(
        rng: &RngTree,
        mut build: impl FnMut(SimTime, Bytes, SimRng) -> C + Send + 'static,
    ) -> Self {
        let mut rng = rng.clone();
        Self::new(move |now, datagram| {
            rng = rng.child("path");
            build(now, datagram, rng.rng())
        })
    }

    pub(super) fn get(&self, path: PathId) -> Option<&C> {
        self.paths.get(path)
    }

    fn get_mut(&mut self, path: PathId) -> Option<&mut C> {
        self.paths.get_mut(path)
    }
}

impl<C: SinglePath> CongestionControl for PerPath<C> {
    fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes) {
        let controller = (self.build)(now, datagram);
        self.paths.insert(path, controller);
    }

    fn close(&mut self, path: PathId) {
        self.paths.remove(path);
    }

    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_sent(sent);
        }
    }

    fn on_ack(&mut self, path: PathId, acked: &Acked) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_ack(acked);
        }
    }

    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_ack_end(end);
        }
    }

    fn on_packet_lost(&mut self, path: PathId, lost: &Lost) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_packet_lost(lost);
        }
    }

    fn on_loss(&mut self, path: PathId, congestion: &Congestion) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_loss(congestion);
        }
    }

    fn on_ecn(&mut self, path: PathId, congestion: &Congestion) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_ecn(congestion);
        }
    }

    fn on_spurious_loss(&mut self, path: PathId) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_spurious_loss();
        }
    }

    fn on_forecast(&mut self, path: PathId, forecast: &Forecast) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_forecast(forecast);
        }
    }

    fn on_access(&mut self, path: PathId, report: &AccessReport) {
        if let Some(controller) = self.get_mut(path) {
            controller.on_access(report);
        }
    }

    fn window(&self, path: PathId) -> Bytes {
        self.get(path).map_or(Bytes::ZERO, SinglePath::window)
    }

    fn pacing_rate(&self, path: PathId) -> Option<BitRate> {
        self.get(path)?.pacing_rate()
    }

    fn ssthresh(&self, path: PathId) -> Option<Bytes> {
        self.get(path)?.ssthresh()
    }

    fn bypasses_recovery(&self, path: PathId) -> bool {
        self.get(path).is_some_and(SinglePath::bypasses_recovery)
    }

    fn set_window(&mut self, path: PathId, window: Bytes, ssthresh: Option<Bytes>) -> bool {
        self.get_mut(path).is_some_and(|controller| controller.set_window(window, ssthresh))
    }

    fn phase(&self, path: PathId) -> &'static str {
        self.get(path).map_or("closed", SinglePath::phase)
    }

    fn fault(&mut self) -> Option<String> {
        if C::CAN_FAIL { self.paths.values_mut().find_map(SinglePath::fault) } else { None }
    }
}
