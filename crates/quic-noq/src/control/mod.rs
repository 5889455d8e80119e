//! Our congestion control behind the stack's controller interface.
//!
//! The stack builds one controller per path and is told nothing but acknowledgements and losses; ours is one object
//! per connection. Every controller handed to the stack is therefore a handle on the same [`Control`], knowing its
//! path. The handle also carries the gate by which the endpoint paces: a shut gate is a window of zero.
//!
//! The stack reports acknowledged packets before the losses that the acknowledgement reveals, and marks last; controllers
//! are told losses and marks first ([`CongestionControl`]). Acknowledgements therefore wait until the stack has handled
//! what it received ([`Control::flush`]). Two of its deviations from RFC 9002 remain: the smoothed and the smallest
//! round-trip time told with an acknowledgement are those before it, and losses come before marks.
//!
//! All of this runs on one thread at a time. The numbers looked at for every packet are atomics, because the stack
//! wants its controllers shareable; relaxed loads and stores of them cost nothing.

mod waiting;

use std::any::Any;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use leobench_base::{BitRate, Bytes, LogHistogram, SimDuration, SimTime};
use leobench_transport::congestion::{
    Acked, Congestion, CongestionControl, Lost, PhaseWatch, Rtt, Sent,
};
use leobench_transport::endpoint::{
    EndpointError, Event, Evidence, LossVerdict, LossVerdictKind, PathId,
};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use self::waiting::Waiting;
use super::clock::{Clock, span};
use super::tap::Tap;

/// The congestion control of one connection, shared by the endpoint and the stack.
#[derive(Debug)]
pub(super) struct Control {
    clock: Clock,
    tap: Arc<Tap>,
    /// Name of the algorithm.
    name: Box<str>,
    state: Mutex<ControlState>,
    pub(super) live: Live,
    paths: AtomicU32,
}

/// The values that are read for every packet.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// The window of the only path, as the stack will be told unless the gate is shut.
    window: AtomicU64,
    /// The algorithm's own pacing rate in bits per second; zero if it has none.
    pacing_bps: AtomicU64,
    gate_shut: AtomicBool,
    /// Whether the application leaves room in the window, as the endpoint sees it.
    app_limited: AtomicBool,
    /// Whether neither it nor flow control does (RFC 9002 section 7.8).
    cwnd_limited: AtomicBool,
    /// Bytes sent and neither acknowledged nor declared lost.
    in_flight: AtomicU64,
    /// Packets that count towards the window, sent so far.
    sent_packets: AtomicU64,
    largest_acked: AtomicU64,
    /// Number of the last packet that counts towards the window.
    last_packet: AtomicU64,
    /// Number of the first packet that the last probe timeout sent.
    probed_from: AtomicU64,
    has_events: AtomicBool,
    has_losses: AtomicBool,
    pub(super) has_waiting: AtomicBool,
}

/// The algorithm and what its path has been through.
pub(super) struct ControlState {
    pub(super) algorithm: Box<dyn CongestionControl>,
    /// Round-trip times as of the last acknowledgement; the latest is that of its last packet.
    pub(super) rtt: Option<Rtt>,
    /// All samples, one for every acknowledgement, in nanoseconds.
    pub(super) rtts: LogHistogram,
    pub(super) acked_bytes: Bytes,
    pub(super) lost_packets: u64,
    pub(super) lost_bytes: Bytes,
    pub(super) congestion_events: u64,
    pub(super) undos: u64,
    pub(super) ecn_marks: u64,
    phase: PhaseWatch,
    /// When the last recovery period began (RFC 9002 section 7.3.2), and whether with persistent congestion.
    congested: Option<(SimTime, bool)>,
    /// Number of the packet that carries the last request about acknowledgements, if one was made.
    ack_request: Option<u64>,
    /// Whether the next packet carries it.
    asks: bool,
    events: Vec<Event>,
    verdicts: Vec<LossVerdict>,
    /// Acknowledgements to be told once the losses that they reveal have been.
    waiting: Vec<Waiting>,
}

impl std::fmt::Debug for ControlState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControlState").field("rtt", &self.rtt).finish_non_exhaustive()
    }
}

impl Control {
    pub(super) fn new(
        clock: Clock,
        tap: Arc<Tap>,
        name: &str,
        algorithm: Box<dyn CongestionControl>,
    ) -> Arc<Self> {
        let state = ControlState {
            algorithm,
            rtt: None,
            rtts: LogHistogram::new(),
            acked_bytes: Bytes::ZERO,
            lost_packets: 0,
            lost_bytes: Bytes::ZERO,
            congestion_events: 0,
            undos: 0,
            ecn_marks: 0,
            phase: PhaseWatch::default(),
            congested: None,
            ack_request: None,
            asks: false,
            events: Vec::new(),
            verdicts: Vec::new(),
            waiting: Vec::new(),
        };
        let live = Live { cwnd_limited: AtomicBool::new(true), ..Live::default() };
        let paths = AtomicU32::new(0);
        Arc::new(Self { clock, tap, name: name.into(), state: Mutex::new(state), live, paths })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ControlState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes all paths: the connection ends.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        for path in 0..self.paths.load(Relaxed) {
            state.algorithm.close(PathId(path));
        }
    }

    /// Fails if the controller cannot go on at `now`.
    ///
    /// # Errors
    /// The controller's failure.
    pub(super) fn check(&self, now: SimTime) -> Result<(), EndpointError> {
        EndpointError::check_controller(&mut *self.lock().algorithm, &self.name, now)
    }

    /// Opens or shuts the gate: through a shut gate leave only acknowledgements and loss probes.
    pub(super) fn set_gate(&self, open: bool) {
        self.live.gate_shut.store(!open, Relaxed);
    }

    /// Sets whether the application leaves room in the window, and whether the window is what limits the sender.
    pub(super) fn set_limits(&self, app_limited: bool, cwnd_limited: bool) {
        self.live.app_limited.store(app_limited, Relaxed);
        self.live.cwnd_limited.store(cwnd_limited, Relaxed);
    }

    /// The window, whatever the gate.
    pub(super) fn window(&self) -> Bytes {
        Bytes::new(self.live.window.load(Relaxed))
    }

    /// The pacing rate of the algorithm's own, if it has one.
    pub(super) fn pacing_rate(&self) -> Option<BitRate> {
        let rate = BitRate::from_bps(self.live.pacing_bps.load(Relaxed));
        (!rate.is_zero()).then_some(rate)
    }

    /// Bytes sent and neither acknowledged nor declared lost.
    pub(super) fn in_flight(&self) -> Bytes {
        Bytes::new(self.live.in_flight.load(Relaxed))
    }

    /// Packets that count towards the window, sent so far.
    pub(super) fn sent_packets(&self) -> u64 {
        self.live.sent_packets.load(Relaxed)
    }

    /// Largest packet number acknowledged.
    pub(super) fn largest_acked(&self) -> u64 {
        self.live.largest_acked.load(Relaxed)
    }

    /// Appends the events since the last call.
    pub(super) fn take_events(&self, events: &mut Vec<Event>) {
        if self.live.has_events.load(Relaxed) {
            self.live.has_events.store(false, Relaxed);
            events.append(&mut self.lock().events);
        }
    }

    /// The number of the transmission of the last packet that counts towards the window, which was a 1-RTT packet.
    pub(super) fn last_transmission(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.live.last_packet.load(Relaxed) + 1)
    }

    /// A probe timeout has sent packets, of which this number was the first that may be declared lost later.
    pub(super) fn probed(&self, first: u64) {
        self.live.probed_from.store(first, Relaxed);
    }

    /// Whether packets were declared lost since [`take_losses`](Self::take_losses).
    pub(super) fn has_losses(&self) -> bool {
        self.live.has_losses.load(Relaxed)
    }

    /// Appends what was concluded about packets since the last call.
    pub(super) fn take_verdicts(&self, verdicts: &mut Vec<LossVerdict>) {
        verdicts.append(&mut self.lock().verdicts);
    }

    /// Whether packets were declared lost since the last call.
    pub(super) fn take_losses(&self) -> bool {
        let lost = self.live.has_losses.load(Relaxed);
        self.live.has_losses.store(false, Relaxed);
        lost
    }

    pub(super) fn publish(&self, state: &ControlState, path: PathId) {
        self.live.window.store(state.algorithm.window(path).get(), Relaxed);
        let pacing = state.algorithm.pacing_rate(path).map_or(0, BitRate::bps);
        self.live.pacing_bps.store(pacing, Relaxed);
    }

    pub(super) fn record_phase(&self, state: &mut ControlState, path: PathId) {
        if let Some(event) = state.phase.look(&*state.algorithm, path) {
            self.push(state, event);
            self.tap.qlog(|qlog| qlog.phase(state.algorithm.phase(path)));
        }
    }

    fn push(&self, state: &mut ControlState, event: Event) {
        state.events.push(event);
        self.live.has_events.store(true, Relaxed);
    }

    pub(super) fn leave_flight(&self, bytes: u64) {
        let rest = self.live.in_flight.load(Relaxed).saturating_sub(bytes);
        self.live.in_flight.store(rest, Relaxed);
    }

    pub(super) fn log_metrics(&self, state: &ControlState, path: PathId) {
        self.tap.qlog(|qlog| {
            let ssthresh = state.algorithm.ssthresh(path);
            qlog.metrics(self.window(), ssthresh, self.in_flight().get(), state.rtt);
        });
    }
}

/// Builds the handles of one connection.
#[derive(Debug)]
pub(super) struct HandleFactory(pub(super) Arc<Control>);

impl ControllerFactory for HandleFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let control = Arc::clone(&self.0);
        let path = PathId(control.paths.fetch_add(1, Relaxed));
        let mut state = control.lock();
        state.algorithm.open(path, control.clock.time(now), Bytes::new(mtu.into()));
        control.publish(&state, path);
        control.record_phase(&mut state, path);
        drop(state);
        Box::new(Handle { control, path })
    }
}

/// The controller that the stack holds: one path's view of the congestion control.
#[derive(Clone, Debug)]
struct Handle {
    control: Arc<Control>,
    path: PathId,
}

impl Controller for Handle {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let live = &self.control.live;
        let in_flight = live.in_flight.load(Relaxed) + u64::from(bytes);
        live.in_flight.store(in_flight, Relaxed);
        live.sent_packets.store(self.control.sent_packets() + 1, Relaxed);
        live.last_packet.store(pn, Relaxed);
        let now = self.control.clock.time(now);
        let sent = Sent::new(now, Bytes::new(bytes.into()), Bytes::new(in_flight), pn)
            .app_limited(live.app_limited.load(Relaxed));
        let mut state = self.control.lock();
        if std::mem::take(&mut state.asks) {
            state.ack_request = Some(pn);
        }
        state.algorithm.on_sent(self.path, &sent);
        self.control.publish(&state, self.path);
        self.control.record_phase(&mut state, self.path);
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
        self.control.flush_ended();
        let latest = span(now.saturating_duration_since(sent));
        let rtt = Rtt { latest, smoothed: span(rtt.get()), min: span(rtt.min()) };
        let acked = Acked {
            now: self.control.clock.time(now),
            sent: self.control.clock.time(sent),
            size: Bytes::new(bytes),
            packet_number: pn,
            in_flight: self.control.in_flight(),
            app_limited: self.control.live.app_limited.load(Relaxed),
            cwnd_limited: self.control.live.cwnd_limited.load(Relaxed),
            recovering: false,
            ambiguous: false,
            rtt,
        };
        let mut state = self.control.lock();
        state.acked_bytes += Bytes::new(bytes);
        if pn >= self.control.largest_acked() {
            self.control.live.largest_acked.store(pn, Relaxed);
            state.rtt = Some(rtt);
        }
        self.control.wait(&mut state, Waiting::Acked(self.path, acked));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, _app_limited: bool, _: Option<u64>) {
        let now = self.control.clock.time(now);
        let mut state = self.control.lock();
        // What left flight with discarded keys has not been told.
        let waiting: u64 = state.waiting.iter().map(Waiting::size).sum();
        self.control.live.in_flight.store(in_flight + waiting, Relaxed);
        self.control.wait(&mut state, Waiting::End(self.path, now));
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.control.leave_flight(lost_bytes.into());
        self.control.live.has_losses.store(true, Relaxed);
        let mut state = self.control.lock();
        state.lost_packets += 1;
        state.lost_bytes += Bytes::new(lost_bytes.into());
        let lost = Lost::new(self.control.clock.time(now), Bytes::new(lost_bytes.into()), pn);
        state.algorithm.on_packet_lost(self.path, &lost);
        if state.ack_request == Some(pn) {
            state.ack_request = None;
            let detail = "the request was lost, and the stack does not repeat it".to_owned();
            self.control.push(&mut state, Event { kind: "ack-frequency", detail });
        }
        if self.control.tap.on_lost(pn) {
            state.declare_lost(pn, lost_bytes, pn < self.control.live.probed_from.load(Relaxed));
        }
        self.control.tap.qlog(|qlog| qlog.packet_lost(pn));
    }

    fn on_ack_frequency_update(&mut self, ack_eliciting_threshold: u64, max_ack_delay: Duration) {
        let mut state = self.control.lock();
        state.asks = true;
        let delay = span(max_ack_delay);
        let detail = format!(
            "asks for an acknowledgement after {} packets, or {delay}",
            ack_eliciting_threshold + 1
        );
        self.control.push(&mut state, Event { kind: "ack-frequency", detail });
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
        let (now, sent) = (self.control.clock.time(now), self.control.clock.time(sent));
        let lost = Bytes::new(lost_bytes);
        let congestion = Congestion::new(now, sent, lost, is_persistent_congestion);
        let mut state = self.control.lock();
        let before = state.algorithm.window(self.path);
        if is_ecn {
            state.ecn_marks += 1;
            state.algorithm.on_ecn(self.path, &congestion);
        } else {
            state.algorithm.on_loss(self.path, &congestion);
        }
        let after = state.algorithm.window(self.path);
        self.control.publish(&state, self.path);
        if state.is_new(&congestion) {
            state.congested = Some((now, is_persistent_congestion));
            state.congestion_events += 1;
            let kind =
                if is_persistent_congestion { "persistent-congestion" } else { "congestion" };
            let cause = if is_ecn { "ECN" } else { "loss" };
            let detail = format!("{cause}: window {before} -> {after}");
            self.control.push(&mut state, Event { kind, detail });
        }
        self.control.record_phase(&mut state, self.path);
        self.control.log_metrics(&state, self.path);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.control.flush_ended();
        let mut state = self.control.lock();
        state.undos += 1;
        state.algorithm.on_spurious_loss(self.path);
        self.control.publish(&state, self.path);
        self.control.record_phase(&mut state, self.path);
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        if self.control.live.gate_shut.load(Relaxed) { 0 } else { self.control.window().get() }
    }

    /// Says a window too large for the stack's own pacer, which is thereby switched off: the endpoint paces.
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = u64::MAX;
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.control.window().get()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControlState {
    /// Whether it begins a recovery period (RFC 9002 section 7.3.2), or turns one into persistent congestion, whatever the
    /// algorithm makes of it.
    fn is_new(&self, congestion: &Congestion) -> bool {
        self.congested.is_none_or(|(start, persistent)| {
            congestion.sent > start || congestion.persistent && !persistent
        })
    }

    /// The packet was declared lost, `probed` if a probe timeout came first; the stack sends again what it carried.
    fn declare_lost(&mut self, packet: u64, bytes: u16, probed: bool) {
        // Nobody waits for a packet that is not acknowledged.
        let transmission = NonZeroU64::new(packet + 1).filter(|_| bytes > 0);
        let Some(transmission) = transmission else { return };
        let evidence = if probed { Evidence::Probe } else { Evidence::Acks };
        let repeated = LossVerdictKind::Repeated(Bytes::new(bytes.into()));
        for kind in [LossVerdictKind::Lost(evidence), repeated] {
            self.verdicts.push(LossVerdict { transmission, kind });
        }
    }

    /// Latest round-trip time sample.
    pub(super) fn latest_rtt(&self) -> Option<SimDuration> {
        self.rtt.map(|rtt| rtt.latest)
    }
}
