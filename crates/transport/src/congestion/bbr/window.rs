//! The window of BBR: the path's volume with a gain, room for bursts and aggregates, and caution while losses are
//! repaired (`BBRSetCwnd`; `bbr_set_cwnd` of Linux).

use leobench_base::{SimDuration, SimTime};

use super::super::Congestion;
use super::super::delivery_rate::DeliveryRate;
use super::super::rate::RateSample;
use super::{Bbr, MIN_PIPE, Mode, Variant};

/// Least window in packets after a collapse (RFC 9002 section 7.6.2; Linux leaves one packet more than is in flight).
const COLLAPSED: u64 = 2;
/// Rates below which bursts are one packet, and two (`BBRSetSendQuantum`).
const SINGLE: DeliveryRate = DeliveryRate::from_bps(1.2e6);
const DOUBLE: DeliveryRate = DeliveryRate::from_bps(24e6);
/// Time worth of data in a burst at higher rates, and its largest size (`BBRSetSendQuantum`).
const BURST: SimDuration = SimDuration::from_millis(1);
const LARGEST_BURST: f64 = 65_536.0;

impl<V: Variant> Bbr<V> {
    /// The bytes of one of the sender's bursts.
    fn quantum(&self) -> f64 {
        let packet = self.datagram as f64;
        if self.pacing_rate < SINGLE {
            packet
        } else if self.pacing_rate < DOUBLE {
            2.0 * packet
        } else {
            (self.pacing_rate * BURST).clamp(2.0 * packet, LARGEST_BURST.max(2.0 * packet))
        }
    }

    /// `BBRInflight`: the path's volume with a gain, and three bursts.
    pub(super) fn inflight(&self, bandwidth: DeliveryRate, gain: f64) -> f64 {
        self.with_bursts(self.volume(bandwidth, gain))
    }

    fn volume(&self, bandwidth: DeliveryRate, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window as f64, |min_rtt| gain * (bandwidth * min_rtt))
    }

    /// The bytes that stay in flight in `ProbeRTT`.
    pub(super) fn probe_rtt_window(&self) -> u64 {
        let volume = self.volume(self.bandwidth(), self.variant.probe_rtt_share());
        (volume as u64).max(MIN_PIPE * self.datagram)
    }

    /// The probe is given two packets more, so that it exceeds even a small volume.
    fn with_bursts(&self, volume: f64) -> f64 {
        let probe = if self.mode == Mode::ProbeBandwidth(0) { 2 * self.datagram } else { 0 };
        volume + 3.0 * self.quantum() + probe as f64
    }

    pub(super) fn set_window(&mut self, sample: &RateSample) {
        self.window = self.window_after(sample);
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
    }

    fn window_after(&mut self, sample: &RateSample) -> u64 {
        if self.recovery.take_end() {
            self.conserving = false;
            self.window = self.prior_window.restore(self.window);
        }
        let acked = sample.newly_acked;
        if self.conserving {
            return self.window.max(sample.in_flight + acked);
        }
        let mut target = self.volume(self.target_bandwidth(), self.window_gain());
        if self.spec.aggregation && self.full_pipe.reached {
            target += self.aggregation.allowance(self.bandwidth());
        }
        let target = self.with_bursts(target) as u64;
        let is_opening = self.sampler.delivered() < self.initial_window;
        let window = self.full_pipe.next_window(self.window, acked, target, is_opening);
        window.max(MIN_PIPE * self.datagram)
    }

    /// Keeps the window in mind that recovery or `ProbeRTT` is about to cut, unless one of them has already.
    pub(super) fn keep_window(&mut self, is_cut: bool) {
        self.prior_window.save(self.window, is_cut);
    }

    /// Recovery begins with what is in flight and what has just arrived; further losses take their share away. A collapse
    /// leaves a packet more than is in flight.
    pub(super) fn on_losses(&mut self, congestion: &Congestion) {
        let packet = self.datagram;
        let before = self.recovery;
        if self.recovery.on_loss(congestion) {
            self.keep_window(before.is_active() || self.mode == Mode::ProbeRtt);
            self.conserving = true;
            self.recovery_begins = true;
            // What an acknowledgement has just brought still counts as in flight: the losses it reveals come first.
            self.window = self.in_flight;
        } else {
            self.window = self.window.saturating_sub(congestion.lost.get());
        }
        if congestion.persistent {
            self.conserving = false;
            self.recovery_begins = false;
            self.collapsed = Some(congestion.now);
            self.full_pipe.search(DeliveryRate::ZERO);
            self.window = self.in_flight + packet;
        }
        self.window = self.window.max(COLLAPSED * packet);
    }

    /// Completes the response to losses once the acknowledgement that revealed them, or the next, is counted: recovery's
    /// first round begins after what has been delivered by then (`bbr_set_cwnd_to_recover_or_restore` of Linux), and a
    /// collapse leaves a packet more than is in flight after the acknowledgement.
    pub(super) fn after_losses(&mut self, now: SimTime) {
        if std::mem::take(&mut self.recovery_begins) {
            self.conserving = true;
            self.round.restart(self.sampler.delivered());
        }
        if self.collapsed.take() == Some(now) {
            self.window = (self.in_flight + self.datagram).max(COLLAPSED * self.datagram);
        }
    }
}
