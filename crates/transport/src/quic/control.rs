//! Our congestion control behind the stack's controller interface.
//!
//! The stack builds one controller per path and is told nothing but acknowledgements and losses; ours is one object
//! per connection. Every controller handed to the stack is therefore a handle on the same [`Control`], knowing its
//! path. The handle also carries the gate by which the endpoint paces: a shut gate is a window of zero.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use leobench_base::{Bytes, SimDuration};
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use noq_proto::RttEstimator;

use super::clock::{Clock, span};
use crate::congestion::{Acked, Congestion, CongestionControl, Rtt, Sent};
use crate::endpoint::{Event, PathId};

/// The congestion control of one connection, shared by the endpoint and the stack.
#[derive(Debug)]
pub(super) struct Control {
    clock: Clock,
    state: Mutex<ControlState>,
    /// The window of the only path, as the stack will be told unless the gate is shut.
    window: AtomicU64,
    gate_open: AtomicBool,
    /// Whether the application leaves room in the window (RFC 9002 section 7.8), as the endpoint sees it.
    app_limited: AtomicBool,
    paths: AtomicU32,
    /// Whether the stack keeps a qlog, which wants the true window.
    qlog: bool,
}

/// What the endpoint and the stack's calls work on.
pub(super) struct ControlState {
    pub(super) algorithm: Box<dyn CongestionControl>,
    /// Bytes sent and neither acknowledged nor declared lost.
    pub(super) in_flight: u64,
    /// Packets that count towards the window, sent so far.
    pub(super) sent_packets: u64,
    /// Largest packet number acknowledged.
    pub(super) largest_acked: u64,
    /// Latest round-trip time sample: of the last packet of the last acknowledgement.
    pub(super) latest_rtt: Option<SimDuration>,
    pub(super) acked_bytes: u64,
    pub(super) lost_packets: u64,
    pub(super) lost_bytes: u64,
    pub(super) congestion_events: u64,
    pub(super) spurious_losses: u64,
    pub(super) ecn_marks: u64,
    pub(super) events: Vec<Event>,
}

impl std::fmt::Debug for ControlState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControlState").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

impl Control {
    pub(super) fn new(
        clock: Clock,
        algorithm: Box<dyn CongestionControl>,
        qlog: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            clock,
            state: Mutex::new(ControlState {
                algorithm,
                in_flight: 0,
                sent_packets: 0,
                largest_acked: 0,
                latest_rtt: None,
                acked_bytes: 0,
                lost_packets: 0,
                lost_bytes: 0,
                congestion_events: 0,
                spurious_losses: 0,
                ecn_marks: 0,
                events: Vec::new(),
            }),
            window: AtomicU64::new(0),
            gate_open: AtomicBool::new(true),
            app_limited: AtomicBool::new(false),
            paths: AtomicU32::new(0),
            qlog,
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ControlState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens or shuts the gate: through a shut gate leave only acknowledgements and loss probes.
    pub(super) fn set_gate(&self, open: bool) {
        self.gate_open.store(open, Ordering::Relaxed);
    }

    /// Says whether the application leaves room in the window.
    pub(super) fn set_app_limited(&self, limited: bool) {
        self.app_limited.store(limited, Ordering::Relaxed);
    }

    fn publish(&self, state: &ControlState, path: PathId) {
        self.window.store(state.algorithm.window(path).get(), Ordering::Relaxed);
    }
}

/// Builds the handles of one connection.
#[derive(Debug)]
pub(super) struct HandleFactory(pub(super) Arc<Control>);

impl ControllerFactory for HandleFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let control = Arc::clone(&self.0);
        let path = PathId(control.paths.fetch_add(1, Ordering::Relaxed));
        let mut state = control.lock();
        state.algorithm.open(path, control.clock.time(now), Bytes::new(mtu.into()));
        control.publish(&state, path);
        drop(state);
        Box::new(Handle { control, path })
    }
}

/// What the stack holds of the congestion control: one path's view.
#[derive(Clone, Debug)]
struct Handle {
    control: Arc<Control>,
    path: PathId,
}

impl Handle {
    fn congestion(&self, now: Instant, sent: Instant, lost: u64, persistent: bool) -> Congestion {
        let clock = self.control.clock;
        Congestion::new(clock.time(now), clock.time(sent), Bytes::new(lost), persistent)
    }
}

impl Controller for Handle {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let now = self.control.clock.time(now);
        let mut state = self.control.lock();
        state.in_flight += u64::from(bytes);
        state.sent_packets += 1;
        let sent = Sent::new(now, Bytes::new(bytes.into()), Bytes::new(state.in_flight), pn);
        state.algorithm.on_sent(self.path, &sent);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let mut state = self.control.lock();
        let latest = span(now.saturating_duration_since(sent));
        let acked = Acked {
            now: self.control.clock.time(now),
            sent: self.control.clock.time(sent),
            size: Bytes::new(bytes),
            packet_number: pn,
            in_flight: Bytes::new(state.in_flight),
            app_limited: self.control.app_limited.load(Ordering::Relaxed),
            rtt: Rtt { latest, smoothed: span(rtt.get()), min: span(rtt.min()) },
        };
        state.in_flight = state.in_flight.saturating_sub(bytes);
        state.acked_bytes += bytes;
        if pn >= state.largest_acked {
            state.largest_acked = pn;
            state.latest_rtt = Some(latest);
        }
        state.algorithm.on_ack(self.path, &acked);
        self.control.publish(&state, self.path);
    }

    fn on_end_acks(&mut self, _now: Instant, in_flight: u64, _app_limited: bool, _: Option<u64>) {
        self.control.lock().in_flight = in_flight;
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, _pn: u64, _now: Instant) {
        let mut state = self.control.lock();
        state.in_flight = state.in_flight.saturating_sub(lost_bytes.into());
        state.lost_packets += 1;
        state.lost_bytes += u64::from(lost_bytes);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let congestion = self.congestion(now, sent, lost_bytes, is_persistent_congestion);
        let mut state = self.control.lock();
        let before = state.algorithm.window(self.path);
        if is_ecn {
            state.ecn_marks += 1;
            state.algorithm.on_ecn(self.path, &congestion);
        } else {
            state.algorithm.on_loss(self.path, &congestion);
        }
        let after = state.algorithm.window(self.path);
        if after < before {
            state.congestion_events += 1;
            let kind = if is_persistent_congestion { "persistent-congestion" } else { "congestion" };
            let cause = if is_ecn { "ECN" } else { "loss" };
            let detail = format!("{cause}: window {before} -> {after}");
            state.events.push(Event { kind, detail });
        }
        self.control.publish(&state, self.path);
    }

    fn on_spurious_congestion_event(&mut self) {
        let mut state = self.control.lock();
        state.spurious_losses += 1;
        state.algorithm.on_spurious_loss(self.path);
        self.control.publish(&state, self.path);
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        if self.control.gate_open.load(Ordering::Relaxed) {
            self.control.window.load(Ordering::Relaxed)
        } else {
            0
        }
    }

    /// Switches the stack's own pacer off, because the endpoint paces: by a window too large for it, or, where a qlog
    /// is to show the true window, by a rate without bound (which costs a little more per packet).
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = u64::MAX;
        if self.control.qlog {
            let state = self.control.lock();
            metrics.congestion_window = state.algorithm.window(self.path).get();
            metrics.ssthresh = state.algorithm.ssthresh(self.path).map(Bytes::get);
            metrics.pacing_rate = Some(u64::MAX >> 8);
        }
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.control.window.load(Ordering::Relaxed)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
