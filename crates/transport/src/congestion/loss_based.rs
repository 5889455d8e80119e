//! The common part of loss-based algorithms: slow start, recovery periods, persistent congestion and undo (RFC 9002 section
//! 7 and appendix B). The algorithms differ in how the window grows, mainly after slow start, and in how far they reduce
//! it. [`super::coupled`] runs the same windows where these two depend on all paths of a connection.

use leobench_base::{Bytes, SimTime};

use super::opening::Opening;
use super::per_path::{PerPath, SinglePath};
use super::slow_start::SlowStart;
use super::{AckEnd, Acked, Congestion, CongestionContext, CongestionControl, Sent};
use crate::endpoint::{AccessReport, Forecast};

/// A window and a threshold to begin slow start with, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QuickStart {
    /// The window.
    pub window: f64,
    /// The slow-start threshold; the present one stays without it.
    pub threshold: Option<f64>,
}

/// Congestion avoidance on one path. Windows are in bytes.
pub(super) trait Avoidance: Clone + Send {
    /// The surroundings that growth and reduction depend on: none (`()`), or all paths of the connection
    /// ([`Paths`](super::coupled::Paths)).
    type Paths;

    /// A packet was sent.
    fn sent(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// A packet was acknowledged, in whatever phase, before anything else is asked about it.
    fn acked(&mut self, acked: &Acked) {
        let _ = acked;
    }

    /// The slow-start threshold to begin with, in bytes.
    fn initial_threshold(&self) -> Option<u64> {
        None
    }

    /// Bytes by which an acknowledgement lets the window grow in slow start, if those of plain slow start are
    /// `standard` and the threshold is `room` bytes away.
    fn slow_growth(&mut self, standard: f64, room: f64, acked: &Acked) -> f64 {
        let _ = (room, acked);
        standard
    }

    /// The window with which slow start is over, if this acknowledgement shows that it is.
    fn slow_start_end(&mut self, window: f64, acked: &Acked) -> Option<f64> {
        let _ = (window, acked);
        None
    }

    /// Bytes, or a fraction of one, by which an acknowledgement lets `window` grow, or shrink if negative.
    fn growth(&mut self, window: f64, acked: &Acked, paths: &Self::Paths) -> f64;

    /// The window after congestion at `window`.
    fn reduced(&mut self, window: f64, paths: &Self::Paths) -> f64;

    /// Whether a loss outside recovery is one of congestion, so that the window is reduced. Marks and persistent congestion
    /// always reduce it.
    fn is_congestion(&mut self, congestion: &Congestion) -> bool {
        let _ = congestion;
        true
    }

    /// Bytes by which a loss that is none of congestion lets `window` grow.
    fn other_loss(&mut self, window: f64, congestion: &Congestion, paths: &Self::Paths) -> f64 {
        let _ = (window, congestion, paths);
        0.0
    }

    /// Congestion, by a loss or a mark, at `window`, before that is reduced.
    fn congested(&mut self, window: f64, paths: &mut Self::Paths) {
        let _ = (window, paths);
    }

    /// The slow-start threshold after a reduction; the reduced window if none.
    fn threshold_after(&self) -> Option<f64> {
        None
    }

    /// Persistent congestion, found at `at`, reduced the window to its minimum.
    fn collapsed(&mut self, at: SimTime) {
        let _ = at;
    }

    /// The start after persistent congestion, if not with the minimum window.
    fn restart(&self, paths: &Self::Paths) -> Option<QuickStart> {
        let _ = paths;
        None
    }

    /// An undo put this state of before the reduction in the place of `later`.
    fn restored(&mut self, later: &Self) {
        let _ = later;
    }

    /// The last reduction was undone.
    fn undone(&mut self, paths: &mut Self::Paths) {
        let _ = paths;
    }

    /// A forecast of the path arrived.
    fn forecast(&mut self, forecast: &Forecast) {
        let _ = forecast;
    }

    /// The link layer reports on the access link of the path.
    fn access(&mut self, report: &AccessReport) {
        let _ = report;
    }

    /// The start of the path that the last report causes, if it causes one.
    fn quick_start(&mut self, paths: &mut Self::Paths) -> Option<QuickStart> {
        let _ = paths;
        None
    }

    /// The first slow-start threshold, if a report tells one.
    fn first_threshold(&self) -> Option<f64> {
        None
    }

    /// All packets of an acknowledgement have been reported.
    fn ack_ended(&mut self, end: &AckEnd) {
        let _ = end;
    }

    /// The window was not used up between the last acknowledgement, or call of this, and `now`.
    fn unused_until(&mut self, now: SimTime) {
        let _ = now;
    }
}

/// Bytes by which an acknowledgement lets the window of Reno grow: a packet in a window's worth (RFC 9002 appendix B.5).
pub(super) fn reno_growth(datagram: Bytes, window: f64, acked: &Acked) -> f64 {
    datagram.get() as f64 * acked.size.get() as f64 / window
}

/// A controller of any number of independent paths, each under the algorithm that `avoidance` makes for packets of a
/// size.
pub(super) fn build<A: Avoidance<Paths = ()> + 'static>(
    opening: &Opening,
    context: &CongestionContext<'_>,
    mut avoidance: impl FnMut(Bytes) -> A + Send + 'static,
) -> Box<dyn CongestionControl> {
    let (opening, paced) = (opening.clone(), context.paced);
    Box::new(PerPath::new(move |_, datagram| {
        Independent(LossBased::new(&opening, paced, datagram, avoidance(datagram)))
    }))
}

/// The window of one path under the algorithm `A`.
#[repr(C)]
pub(super) struct LossBased<A> {
    minimum: u64,
    state: State<A>,
    undo: Option<State<A>>,
    /// When the window collapsed since that state, if it did.
    collapsed: Option<SimTime>,
}

/// The state that a reduction changes and an undo restores.
#[derive(Clone)]
struct State<A> {
    window: u64,
    /// Growth not yet in the window: less than a byte.
    fraction: f64,
    ssthresh: Option<u64>,
    /// When the latest recovery period began; losses of packets sent before do not count.
    recovery_start: Option<SimTime>,
    recovering: bool,
    slow_start: SlowStart,
    avoidance: A,
}

impl<A: Avoidance> LossBased<A> {
    pub fn new(opening: &Opening, paced: bool, datagram: Bytes, avoidance: A) -> Self {
        let minimum = opening.minimum(datagram);
        let state = State {
            window: opening.initial(datagram),
            fraction: 0.0,
            ssthresh: avoidance.initial_threshold().map(|bytes| bytes.max(minimum)),
            recovery_start: None,
            recovering: false,
            slow_start: SlowStart::new(opening.slow_start, datagram, paced),
            avoidance,
        };
        Self { minimum, state, undo: None, collapsed: None }
    }

    /// RFC 9002 appendix B.6, `OnCongestionEvent`, for a mark or a loss.
    fn on_congestion(&mut self, congestion: &Congestion, marked: bool, paths: &mut A::Paths) {
        if congestion.answered || self.state.in_recovery(congestion.sent) {
            return;
        }
        let state = &mut self.state;
        let congested = marked || state.avoidance.is_congestion(congestion);
        if !congested && !congestion.persistent {
            let growth = state.avoidance.other_loss(state.exact(), congestion, paths);
            return state.change(growth, self.minimum);
        }
        self.undo = Some(state.clone());
        self.collapsed = None;
        if congested {
            state.avoidance.congested(state.exact(), paths);
        }
        let reduced = state.avoidance.reduced(state.exact(), paths) as u64;
        state.set_window(reduced.max(self.minimum));
        let threshold = state.avoidance.threshold_after().map(|bytes| bytes as u64);
        state.ssthresh = Some(threshold.unwrap_or(state.window).max(state.window));
        state.recovery_start = Some(congestion.now);
        state.recovering = true;
        state.slow_start.leave();
    }

    pub fn on_sent(&mut self, sent: &Sent) {
        self.state.slow_start.on_sent(sent);
        self.state.avoidance.sent(sent);
        if sent.in_flight == sent.size {
            self.state.avoidance.unused_until(sent.now);
        }
    }

    /// RFC 9002 appendix B.5, `OnPacketAcked`.
    pub fn on_ack(&mut self, acked: &Acked, paths: &A::Paths) {
        let state = &mut self.state;
        state.avoidance.acked(acked);
        if acked.recovering || state.in_recovery(acked.sent) {
            return;
        }
        state.recovering = false;
        if !acked.cwnd_limited {
            // Section 7.8: an underutilised window SHOULD NOT grow.
            state.avoidance.unused_until(acked.now);
            return;
        }
        if !state.in_slow_start() {
            let growth = state.avoidance.growth(state.exact(), acked, paths);
            state.change(growth, self.minimum);
            return;
        }
        if let Some(window) = state.avoidance.slow_start_end(state.exact(), acked) {
            state.set_window((window as u64).max(self.minimum));
            state.leave_slow_start();
            return;
        }
        let room = state.ssthresh.map_or(f64::INFINITY, |ssthresh| ssthresh as f64 - state.exact());
        let standard = state.slow_start.growth(acked);
        let growth = state.avoidance.slow_growth(standard, room, acked);
        state.change(growth, self.minimum);
    }

    pub fn on_ack_end(&mut self, end: &AckEnd) {
        let state = &mut self.state;
        state.avoidance.ack_ended(end);
        if state.in_slow_start() && state.slow_start.ends(end, state.window) {
            state.leave_slow_start();
        }
    }

    /// RFC 9002 appendix B.8, `OnPacketsLost`.
    pub fn on_loss(&mut self, congestion: &Congestion, paths: &mut A::Paths) {
        self.on_congestion(congestion, false, paths);
        if congestion.persistent {
            self.state.set_window(self.minimum);
            if let Some(start) = self.state.avoidance.restart(paths) {
                self.state.begin(start, self.minimum);
            }
            self.state.recovery_start = None;
            self.state.recovering = false;
            self.state.avoidance.collapsed(congestion.now);
            self.collapsed = Some(congestion.now);
        }
    }

    /// RFC 9002 appendix B.7, `ProcessECN`: the response to a loss. No loss found spurious takes a mark back.
    pub fn on_ecn(&mut self, congestion: &Congestion, paths: &mut A::Paths) {
        self.on_congestion(congestion, true, paths);
        self.undo = None;
    }

    /// RFC 9438 section 4.9: the state before the reduction, unless the window has grown beyond it since.
    ///
    /// After a collapse, growth starts anew from the window of before, as in Linux (`cubictcp_state`): the silence that led to
    /// it does not count as time in which the window grew.
    pub fn on_spurious_loss(&mut self, paths: &mut A::Paths) {
        if let Some(mut before) = self.undo.take()
            && before.window > self.state.window
        {
            before.avoidance.restored(&self.state.avoidance);
            if let Some(at) = self.collapsed {
                before.avoidance.collapsed(at);
            }
            self.state = before;
            self.state.avoidance.undone(paths);
        }
    }

    pub fn on_forecast(&mut self, forecast: &Forecast) {
        self.state.avoidance.forecast(forecast);
    }

    pub fn on_access(&mut self, report: &AccessReport, paths: &mut A::Paths) {
        let state = &mut self.state;
        state.avoidance.access(report);
        if let Some(start) = state.avoidance.quick_start(paths) {
            state.begin(start, self.minimum);
            self.undo = None;
        }
        if state.ssthresh.is_none()
            && let Some(threshold) = state.avoidance.first_threshold()
        {
            state.ssthresh = Some((threshold as u64).max(self.minimum));
        }
    }

    /// Sets the window ([`CongestionControl::set_window`]).
    pub fn set_window(&mut self, window: Bytes, ssthresh: Option<Bytes>) -> bool {
        self.state.set_window(window.get().max(self.minimum));
        if let Some(ssthresh) = ssthresh {
            self.state.ssthresh = Some(ssthresh.get());
        }
        self.undo = None;
        true
    }

    pub fn window(&self) -> Bytes {
        Bytes::new(self.state.window)
    }

    /// The window with the growth that is not yet in it, in bytes.
    pub fn exact(&self) -> f64 {
        self.state.exact()
    }

    /// The algorithm.
    pub fn avoidance(&self) -> &A {
        &self.state.avoidance
    }

    pub fn ssthresh(&self) -> Option<Bytes> {
        self.state.ssthresh.map(Bytes::new)
    }

    pub fn phase(&self) -> &'static str {
        if self.state.recovering {
            "recovery"
        } else if self.state.in_slow_start() {
            self.state.slow_start.phase()
        } else {
            "avoidance"
        }
    }
}

impl<A> State<A> {
    fn in_recovery(&self, sent: SimTime) -> bool {
        self.recovery_start.is_some_and(|start| sent <= start)
    }

    fn exact(&self) -> f64 {
        self.window as f64 + self.fraction
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh)
    }

    fn set_window(&mut self, window: u64) {
        self.window = window;
        self.fraction = 0.0;
    }

    /// Begins with a window and a threshold.
    fn begin(&mut self, start: QuickStart, minimum: u64) {
        self.set_window((start.window as u64).max(minimum));
        if let Some(threshold) = start.threshold {
            self.ssthresh = Some((threshold as u64).max(minimum));
        }
    }

    /// Leaves slow start at the present window.
    fn leave_slow_start(&mut self) {
        self.ssthresh = Some(self.window);
        self.slow_start.leave();
    }

    /// A window that shrinks takes the threshold along, so as not to fall back into slow start.
    fn change(&mut self, bytes: f64, minimum: u64) {
        if bytes < 0.0 {
            let exact = (self.exact() + bytes).max(minimum as f64);
            self.window = exact as u64;
            self.fraction = exact - self.window as f64;
            self.ssthresh = self.ssthresh.map(|ssthresh| ssthresh.min(self.window));
            return;
        }
        self.fraction += bytes;
        let whole = self.fraction as u64;
        self.window = self.window.saturating_add(whole);
        self.fraction -= whole as f64;
    }
}

/// The window of a path that no other path decides on.
pub(super) struct Independent<A>(LossBased<A>);

impl<A: Avoidance<Paths = ()>> SinglePath for Independent<A> {
    fn on_sent(&mut self, sent: &Sent) {
        self.0.on_sent(sent);
    }

    fn on_ack(&mut self, acked: &Acked) {
        self.0.on_ack(acked, &());
    }

    fn on_ack_end(&mut self, end: &AckEnd) {
        self.0.on_ack_end(end);
    }

    fn on_loss(&mut self, congestion: &Congestion) {
        self.0.on_loss(congestion, &mut ());
    }

    fn on_ecn(&mut self, congestion: &Congestion) {
        self.0.on_ecn(congestion, &mut ());
    }

    fn on_spurious_loss(&mut self) {
        self.0.on_spurious_loss(&mut ());
    }

    fn on_forecast(&mut self, forecast: &Forecast) {
        self.0.on_forecast(forecast);
    }

    fn on_access(&mut self, report: &AccessReport) {
        self.0.on_access(report, &mut ());
    }

    fn set_window(&mut self, window: Bytes, ssthresh: Option<Bytes>) -> bool {
        self.0.set_window(window, ssthresh)
    }

    fn window(&self) -> Bytes {
        self.0.window()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.0.ssthresh()
    }

    fn phase(&self) -> &'static str {
        self.0.phase()
    }
}
