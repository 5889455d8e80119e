//! A controller that cannot go on after some call.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use leobench_base::{Bytes, SimTime};

use super::newreno;
use crate::congestion::{AckEnd, Acked, Congestion, CongestionControl, Lost, Sent};
use crate::endpoint::{AccessReport, Forecast, PathId};

/// The calls in which a controller may fail.
pub(super) const CALLS: [&str; 12] = [
    "open",
    "close",
    "on_sent",
    "on_ack",
    "on_ack_end",
    "on_packet_lost",
    "on_loss",
    "on_ecn",
    "on_spurious_loss",
    "on_forecast",
    "on_access",
    "window",
];

/// NewReno, until the third time of a call, or the first of those that happen once.
pub(super) struct Failing {
    inner: Box<dyn CongestionControl>,
    call: &'static str,
    times: Cell<usize>,
    /// Paths closed.
    closed: Arc<AtomicUsize>,
}

impl Failing {
    /// A controller that fails in `call`, and where it counts the paths closed.
    pub(super) fn in_call(call: &'static str) -> (Box<dyn CongestionControl>, Arc<AtomicUsize>) {
        let closed = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&closed);
        let inner = newreno();
        (Box::new(Self { inner, call, times: Cell::new(0), closed }), counter)
    }

    fn called(&self, call: &str) {
        self.times.set(self.times.get() + usize::from(call == self.call));
    }
}

impl CongestionControl for Failing {
    fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes) {
        self.called("open");
        self.inner.open(path, now, datagram);
    }

    fn close(&mut self, path: PathId) {
        self.called("close");
        self.closed.fetch_add(1, Relaxed);
        self.inner.close(path);
    }

    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        self.called("on_sent");
        self.inner.on_sent(path, sent);
    }

    fn on_ack(&mut self, path: PathId, acked: &Acked) {
        self.called("on_ack");
        self.inner.on_ack(path, acked);
    }

    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        self.called("on_ack_end");
        self.inner.on_ack_end(path, end);
    }

    fn on_packet_lost(&mut self, path: PathId, lost: &Lost) {
        self.called("on_packet_lost");
        self.inner.on_packet_lost(path, lost);
    }

    fn on_loss(&mut self, path: PathId, congestion: &Congestion) {
        self.called("on_loss");
        self.inner.on_loss(path, congestion);
    }

    fn on_ecn(&mut self, path: PathId, congestion: &Congestion) {
        self.called("on_ecn");
        self.inner.on_ecn(path, congestion);
    }

    fn on_spurious_loss(&mut self, path: PathId) {
        self.called("on_spurious_loss");
        self.inner.on_spurious_loss(path);
    }

    fn on_forecast(&mut self, path: PathId, forecast: &Forecast) {
        self.called("on_forecast");
        self.inner.on_forecast(path, forecast);
    }

    fn on_access(&mut self, path: PathId, report: &AccessReport) {
        self.called("on_access");
        self.inner.on_access(path, report);
    }

    fn window(&self, path: PathId) -> Bytes {
        self.called("window");
        self.inner.window(path)
    }

    fn phase(&self, path: PathId) -> &'static str {
        self.inner.phase(path)
    }

    fn fault(&mut self) -> Option<String> {
        let once =
            ["open", "close", "on_forecast", "on_access", "on_spurious_loss", "on_loss", "on_ecn"];
        let fails = self.times.get() >= if once.contains(&self.call) { 1 } else { 3 };
        fails.then(|| format!("raised in {}\nTraceback", self.call))
    }
}
