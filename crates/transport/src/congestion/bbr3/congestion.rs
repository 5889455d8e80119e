//! The model's response to losses and marks: short-term bounds while cruising, the long-term bound while probing (section
//! 5.5.10), and its undo (section 5.5.11).

use leobench_base::SimTime;

use super::super::Lost;
use super::super::delivery_rate::DeliveryRate;
use super::super::rate::{RateSample, Snapshot};
use super::super::round::DeliveryRounds;
use super::{Bbr3, State};

/// Signals of congestion and the bounds they have set (sections 2.9 and 2.10). A bound that is not set is infinite.
#[derive(Clone, Debug)]
pub(super) struct Congested {
    pub bw_shortterm: DeliveryRate,
    pub inflight_shortterm: f64,
    pub inflight_longterm: f64,
    bw_latest: DeliveryRate,
    pub inflight_latest: u64,
    /// `is_loss_in_round`.
    in_round: bool,
    /// `loss_round_delivered`, `loss_round_start`.
    pub round: DeliveryRounds,
    /// When that round was begun by losses or marks, until the next sample.
    noted: Option<SimTime>,
    /// Separate ranges of packets lost in the round, and the last one's end.
    lost_ranges: u32,
    last_lost: Option<u64>,
    /// Of the newest packet acknowledged: bytes in flight when it was sent, whether it followed a gap.
    latest_tx_in_flight: u64,
    latest_app_limited: bool,
    undo: Option<Undo>,
}

/// The state before the losses of the latest round (section 2.15).
#[derive(Clone, Copy, Debug)]
struct Undo {
    state: Option<State>,
    bw_shortterm: DeliveryRate,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Default for Congested {
    fn default() -> Self {
        Self {
            bw_shortterm: DeliveryRate::UNBOUNDED,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: DeliveryRate::ZERO,
            inflight_latest: 0,
            in_round: false,
            round: DeliveryRounds::default(),
            noted: None,
            lost_ranges: 0,
            last_lost: None,
            latest_tx_in_flight: 0,
            latest_app_limited: false,
            undo: None,
        }
    }
}

impl Congested {
    /// `ResetCongestionSignals`.
    pub fn reset_signals(&mut self) {
        self.in_round = false;
        self.bw_latest = DeliveryRate::ZERO;
        self.inflight_latest = 0;
    }

    /// `ResetShortTermModel`.
    pub fn reset_short_term(&mut self) {
        self.bw_shortterm = DeliveryRate::UNBOUNDED;
        self.inflight_shortterm = f64::INFINITY;
    }

    pub fn take_lost_ranges(&mut self) -> u32 {
        std::mem::take(&mut self.lost_ranges)
    }

    /// Losses change the state: an undo leads back to `state`.
    pub fn undo_to(&mut self, state: State) {
        if let Some(undo) = &mut self.undo {
            undo.state = Some(state);
        }
    }
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_delivery_signals(&mut self, sample: &RateSample) {
        let congested = &mut self.congested;
        congested.bw_latest = congested.bw_latest.max(sample.rate.unwrap_or_default());
        congested.inflight_latest = congested.inflight_latest.max(sample.delivered);
        congested.latest_tx_in_flight = sample.tx_in_flight;
        congested.latest_app_limited = sample.app_limited;
        congested.round.update(sample, self.sampler.delivered());
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_delivery_signals(&mut self, sample: &RateSample) {
        if self.congested.round.begins {
            self.congested.bw_latest = sample.rate.unwrap_or_default();
            self.congested.inflight_latest = sample.delivered;
        }
    }

    /// An acknowledgement reveals losses and marks before it is counted. The rounds that they began begin after what it
    /// delivered, which `C.delivered` includes in the draft, and a collapse leaves a packet more than is in flight after it.
    pub(super) fn after_losses(&mut self, now: SimTime) {
        let delivered = self.sampler.delivered();
        if self.congested.noted.take() == Some(now) {
            self.congested.round.restart(delivered);
        }
        if self.probe_ended.take() == Some(now) {
            self.round.restart(delivered);
        }
        if self.collapsed.take() == Some(now) {
            self.window = self.collapsed_window();
        }
    }

    /// The rest of `UpdateCongestionSignals`, and `AdaptLowerBoundsFromCongestion`: once per round.
    pub(super) fn update_congestion_signals(&mut self) {
        if !self.congested.round.begins {
            return;
        }
        let congested = &mut self.congested;
        if std::mem::take(&mut congested.in_round) && !self.state.is_accelerating() {
            let (max_bw, window, beta) = (self.max_bw.get(), self.window as f64, self.spec.beta);
            let (bw, inflight) = (congested.bw_shortterm, congested.inflight_shortterm);
            let bw = if bw.is_bounded() { bw } else { max_bw };
            congested.bw_shortterm = congested.bw_latest.max(bw * beta);
            let inflight = if inflight.is_finite() { inflight } else { window };
            congested.inflight_shortterm = (congested.inflight_latest as f64).max(beta * inflight);
        }
    }

    /// `NoteLoss` and `SaveStateUponLoss` (section 5.5.11.1).
    pub(super) fn note_loss(&mut self, now: SimTime) {
        if !self.congested.in_round {
            self.congested.round.restart(self.sampler.delivered());
            self.congested.noted = Some(now);
            self.congested.lost_ranges = 0;
            self.save_window();
            self.congested.undo = Some(Undo {
                state: None,
                bw_shortterm: self.congested.bw_shortterm,
                inflight_shortterm: self.congested.inflight_shortterm,
                inflight_longterm: self.congested.inflight_longterm,
            });
        }
        self.congested.in_round = true;
    }

    /// `HandleLostPacket`.
    pub(super) fn handle_lost_packet(&mut self, lost: &Lost, packet: Option<Snapshot>) {
        self.note_loss(lost.now);
        let number = lost.packet_number;
        if self.congested.last_lost.replace(number).is_none_or(|last| number != last + 1) {
            self.congested.lost_ranges += 1;
        }
        let Some(packet) = packet.filter(|_| self.probe_bw.is_sample) else { return };
        let lost_since = self.sampler.lost() - packet.lost;
        if self.is_loss_too_high(lost_since, packet.in_flight) {
            let inflight = self.inflight_at_loss(lost.size.get(), lost_since, packet.in_flight);
            self.handle_inflight_too_high(inflight, packet.app_limited, lost.now);
        }
    }

    /// `IsInflightTooHigh`.
    pub(super) fn is_loss_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        lost as f64 > tx_in_flight as f64 * self.spec.loss_threshold
    }

    /// `InflightAtLoss`: where within the packet the losses crossed the threshold.
    fn inflight_at_loss(&self, size: u64, lost: u64, tx_in_flight: u64) -> f64 {
        let threshold = self.spec.loss_threshold;
        let inflight_before = tx_in_flight as f64 - size as f64;
        let lost_before = lost as f64 - size as f64;
        inflight_before + (threshold * inflight_before - lost_before) / (1.0 - threshold)
    }

    /// `HandleInflightTooHigh`.
    fn handle_inflight_too_high(&mut self, tx_in_flight: f64, app_limited: bool, now: SimTime) {
        self.probe_bw.prev_too_high = true;
        self.probe_bw.is_sample = false;
        if !app_limited {
            let least = self.target_inflight() * self.spec.beta;
            self.congested.inflight_longterm = tx_in_flight.max(least);
        }
        if self.state == State::ProbeBwUp {
            self.congested.undo_to(State::ProbeBwUp);
            self.start_probe_bw_down(now);
            self.probe_ended = Some(now);
        }
    }

    /// A mark counts as losses above the threshold would, once a round trip; it is not undone.
    pub(super) fn handle_mark(&mut self, now: SimTime) {
        self.note_loss(now);
        if self.state == State::Startup {
            self.leave_startup();
        } else if self.probe_bw.is_sample {
            let (tx_in_flight, limited) =
                (self.congested.latest_tx_in_flight, self.congested.latest_app_limited);
            self.handle_inflight_too_high(tx_in_flight as f64, limited, now);
        }
        self.congested.undo = None;
    }

    /// `HandleSpuriousLossDetection` (section 5.5.11.2).
    pub(super) fn handle_spurious_loss(&mut self) {
        let Some(undo) = self.congested.undo.take() else { return };
        self.restore_window();
        let congested = &mut self.congested;
        congested.in_round = false;
        congested.bw_shortterm = congested.bw_shortterm.max(undo.bw_shortterm);
        congested.inflight_shortterm = congested.inflight_shortterm.max(undo.inflight_shortterm);
        congested.inflight_longterm = congested.inflight_longterm.max(undo.inflight_longterm);
        self.full_pipe.search(DeliveryRate::ZERO);
        let in_probe_rtt = self.state == State::ProbeRtt;
        if undo.state == Some(State::Startup) && self.state != State::Startup {
            self.full_pipe.reached = false;
            if !in_probe_rtt {
                self.enter_startup();
            }
        } else if undo.state == Some(State::ProbeBwUp)
            && self.state != State::ProbeBwUp
            && !in_probe_rtt
        {
            self.start_probe_bw_refill();
        }
    }
}
