//! Window, as it follows from the model (section 5.6.4).

use leobench_base::SimDuration;

use super::super::rate::RateSample;
use super::{Bbr3, State};

/// `DefaultCwndGain` (section 2.6), that of `ProbeBW_UP` (section 5.6.1), and `ProbeRTTCwndGain` (section 2.16.2).
const WINDOW_GAIN: f64 = 2.0;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// `MinPipeCwnd` in packets (section 2.8).
const MIN_PIPE: u64 = 4;
/// Time worth of data in a burst and its largest size (`SetSendQuantum`, section 5.6.3).
const QUANTUM: SimDuration = SimDuration::from_millis(1);
const LARGEST_QUANTUM: f64 = 65_536.0;

impl Bbr3 {
    fn window_gain(&self) -> f64 {
        match self.state {
            State::ProbeBwUp => UP_WINDOW_GAIN,
            State::ProbeRtt => PROBE_RTT_WINDOW_GAIN,
            _ => WINDOW_GAIN,
        }
    }

    /// `BDPMultiple` (section 5.6.4.2).
    fn bdp_multiple(&self, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window as f64, |min_rtt| gain * (self.bw * min_rtt))
    }

    /// `BBR.bdp`.
    pub(super) fn bdp(&self) -> f64 {
        self.bdp_multiple(1.0)
    }

    /// `TargetInflight` (section 5.3.3.8.3).
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.window as f64)
    }

    fn min_pipe(&self) -> u64 {
        MIN_PIPE * self.datagram
    }

    /// `QuantizationBudget`, with the offload budget of QUIC (section 5.5.8.2): no transport here sends packets in
    /// aggregates.
    fn with_quantum(&self, inflight: f64) -> f64 {
        let least = 2.0 * self.datagram as f64;
        let quantum = (self.pacing_rate * QUANTUM).min(LARGEST_QUANTUM).max(least);
        let probe = if self.state == State::ProbeBwUp { least } else { 0.0 };
        inflight.max(quantum).max(self.min_pipe() as f64) + probe
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.with_quantum(self.bdp_multiple(gain))
    }

    /// `InflightWithHeadroom` (section 5.3.3.9).
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.congested.inflight_longterm;
        if longterm.is_infinite() {
            return longterm;
        }
        let headroom = (self.spec.headroom * longterm).max(self.datagram as f64);
        (longterm - headroom).max(self.min_pipe() as f64)
    }

    /// `SetCwnd` (section 5.6.4.6).
    pub(super) fn set_window(&mut self, sample: &RateSample) {
        let volume = self.bdp_multiple(self.window_gain()) + self.extra_acked.get();
        let max_inflight = self.with_quantum(volume) as u64;
        let is_opening = self.sampler.delivered() < self.initial_window;
        let window =
            self.full_pipe.next_window(self.window, sample.newly_acked, max_inflight, is_opening);
        self.window = window.max(self.min_pipe());
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.bound_window_for_model();
    }

    /// `ProbeRTTCwnd` (section 5.6.4.5).
    pub(super) fn probe_rtt_window(&self) -> u64 {
        (self.bdp_multiple(PROBE_RTT_WINDOW_GAIN) as u64).max(self.min_pipe())
    }

    /// `BoundCwndForModel` (section 5.6.4.7).
    fn bound_window_for_model(&mut self) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => {
                self.congested.inflight_longterm
            }
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = cap.min(self.congested.inflight_shortterm);
        self.window = self.window.min((cap as u64).max(self.min_pipe()));
    }

    /// `OnEnterRTO` (section 5.6.4.4): a packet more than is in flight, at least two (RFC 9002 section 7.6.2).
    pub(super) fn collapsed_window(&self) -> u64 {
        (self.in_flight + self.datagram).max(2 * self.datagram)
    }

    /// `SaveCwnd`.
    pub(super) fn save_window(&mut self) {
        let is_cut = self.recovery.is_active() || self.state == State::ProbeRtt;
        self.prior_window.save(self.window, is_cut);
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_window(&mut self) {
        self.window = self.prior_window.restore(self.window);
    }
}
