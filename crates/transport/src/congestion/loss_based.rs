//! What the algorithms that take a lost packet for congestion have in common: slow start, recovery periods,
//! persistent congestion, undoing (RFC 9002 section 7 and appendix B). They differ in how they grow, above all beyond
//! slow start, and by how much they reduce.

use leobench_base::spec::{Fault, Whole};
use leobench_base::{Bytes, SimTime};

use super::per_path::SinglePath;
use super::slow_start::{SlowStart, SlowStartSpec};
use super::{AckEnd, Acked, Congestion, Sent};

/// A number of packets, none of which would be no window.
pub type Packets = Whole<1, { u32::MAX }>;

/// Congestion avoidance on one path. Windows are in bytes.
pub(super) trait Avoidance: Clone + Send {
    /// A packet was sent.
    fn sent(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// A packet was acknowledged, in whatever phase, before anything else is asked about it.
    fn acked(&mut self, acked: &Acked) {
        let _ = acked;
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
    fn growth(&mut self, window: f64, acked: &Acked) -> f64;

    /// The window after congestion at `window`.
    fn reduced(&mut self, window: f64) -> f64;

    /// Persistent congestion threw the window down to its minimum.
    fn collapsed(&mut self) {}

    /// Since the last acknowledgement or call of this, until `now`, the application left the window unused.
    fn unused_until(&mut self, now: SimTime) {
        let _ = now;
    }
}

/// How a window opens, and how small it gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// Initial window in packets, unless the RFC's.
    pub initial_window: Option<u64>,
    /// Minimum window in packets.
    pub minimum_window: u64,
    /// How it grows at first.
    pub slow_start: SlowStartSpec,
}

impl Opening {
    pub fn check(&self) -> Result<(), Fault> {
        self.initial_window.map_or(Ok(()), |packets| {
            Self::check_packets("initial_window", packets, self.minimum_window)
        })
    }

    /// Refuses a number of packets below the minimum window.
    pub fn check_packets(field: &'static str, packets: u64, minimum: u64) -> Result<(), Fault> {
        if packets >= minimum {
            return Ok(());
        }
        let allowed = format!("at least the minimum window ({minimum})");
        Err(Fault::new(field, "is out of range", allowed))
    }

    fn minimum(&self, datagram: Bytes) -> u64 {
        self.minimum_window.saturating_mul(datagram.get())
    }

    /// RFC 9002 section 7.2: ten packets, but no more than 14,720 bytes or two packets, whichever is larger.
    pub fn initial(&self, datagram: Bytes) -> u64 {
        let datagram = datagram.get();
        self.initial_window
            .map_or_else(
                || (10 * datagram).min(14_720.max(2 * datagram)),
                |packets| packets.saturating_mul(datagram),
            )
            .max(self.minimum(Bytes::new(datagram)))
    }
}

/// The window of one path under the algorithm `A`.
pub(super) struct LossBased<A> {
    minimum: u64,
    state: State<A>,
    undo: Option<State<A>>,
}

/// All that a reduction changes and an undo restores.
#[derive(Clone)]
struct State<A> {
    window: u64,
    /// Growth not yet in the window: less than a byte.
    fraction: f64,
    ssthresh: Option<u64>,
    /// When the latest recovery period began; packets sent until then tell nothing new.
    recovery_start: Option<SimTime>,
    recovering: bool,
    slow_start: SlowStart,
    avoidance: A,
}

impl<A: Avoidance> LossBased<A> {
    pub fn new(opening: &Opening, paced: bool, datagram: Bytes, avoidance: A) -> Self {
        let state = State {
            window: opening.initial(datagram),
            fraction: 0.0,
            ssthresh: None,
            recovery_start: None,
            recovering: false,
            slow_start: SlowStart::new(opening.slow_start, datagram, paced),
            avoidance,
        };
        Self { minimum: opening.minimum(datagram), state, undo: None }
    }

    /// The same with a slow-start threshold to begin with.
    pub fn with_threshold(mut self, threshold: u64) -> Self {
        self.state.ssthresh = Some(threshold.max(self.minimum));
        self
    }

    /// RFC 9002 appendix B.6, `OnCongestionEvent`; whether it reduced the window.
    fn on_congestion(&mut self, congestion: &Congestion) -> bool {
        if congestion.answered || self.state.in_recovery(congestion.sent) {
            return false;
        }
        self.undo = Some(self.state.clone());
        let reduced = self.state.avoidance.reduced(self.state.exact()) as u64;
        self.state.set_window(reduced.max(self.minimum));
        self.state.ssthresh = Some(self.state.window);
        self.state.recovery_start = Some(congestion.now);
        self.state.recovering = true;
        self.state.slow_start.leave();
        true
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

    /// Leaves slow start at the present window.
    fn leave_slow_start(&mut self) {
        self.ssthresh = Some(self.window);
        self.slow_start.leave();
    }

    /// A window that shrinks takes the threshold along, so as not to fall back into slow start.
    fn change(&mut self, bytes: f64, minimum: u64) {
        if bytes < 0.0 {
            let window = ((self.exact() + bytes) as u64).max(minimum);
            self.set_window(window);
            self.ssthresh = self.ssthresh.map(|ssthresh| ssthresh.min(window));
            return;
        }
        self.fraction += bytes;
        let whole = self.fraction as u64;
        self.window = self.window.saturating_add(whole);
        self.fraction -= whole as f64;
    }
}

impl<A: Avoidance> SinglePath for LossBased<A> {
    fn on_sent(&mut self, sent: &Sent) {
        self.state.slow_start.on_sent(sent);
        self.state.avoidance.sent(sent);
        if sent.in_flight == sent.size {
            self.state.avoidance.unused_until(sent.now);
        }
    }

    /// RFC 9002 appendix B.5, `OnPacketAcked`.
    fn on_ack(&mut self, acked: &Acked) {
        let state = &mut self.state;
        state.avoidance.acked(acked);
        if acked.recovering || state.in_recovery(acked.sent) {
            return;
        }
        state.recovering = false;
        if acked.underused {
            // Section 7.8: an underutilised window SHOULD NOT grow.
            state.avoidance.unused_until(acked.now);
            return;
        }
        if !state.in_slow_start() {
            let growth = state.avoidance.growth(state.exact(), acked);
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

    fn on_ack_end(&mut self, end: &AckEnd) {
        let state = &mut self.state;
        if state.in_slow_start() && state.slow_start.ends(end, state.window) {
            state.leave_slow_start();
        }
    }

    /// RFC 9002 appendix B.8, `OnPacketsLost`.
    fn on_loss(&mut self, congestion: &Congestion) {
        self.on_congestion(congestion);
        if congestion.persistent {
            self.state.set_window(self.minimum);
            self.state.recovery_start = None;
            self.state.recovering = false;
            self.state.avoidance.collapsed();
        }
    }

    /// RFC 9002 appendix B.7, `ProcessECN`: the response to a loss. No loss found spurious takes a mark back.
    fn on_ecn(&mut self, congestion: &Congestion) {
        self.on_congestion(congestion);
        self.undo = None;
    }

    /// RFC 9438 section 4.9: the state before the reduction, unless the window has grown beyond it since.
    fn on_spurious_loss(&mut self) {
        if let Some(before) = self.undo.take()
            && before.window > self.state.window
        {
            self.state = before;
        }
    }

    fn window(&self) -> Bytes {
        Bytes::new(self.state.window)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.state.ssthresh.map(Bytes::new)
    }

    fn phase(&self) -> &'static str {
        if self.state.recovering {
            "recovery"
        } else if self.state.in_slow_start() {
            self.state.slow_start.phase()
        } else {
            "avoidance"
        }
    }
}
