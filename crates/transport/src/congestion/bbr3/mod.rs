//! BBR version 3 (draft-ietf-ccwg-bbr-06): a model of the path from delivery rates, round-trip times, losses and marks.
//! "Section" means one of the draft, and names are the draft's. One file per phase, and one each for the model's response
//! to congestion and for what follows from it: pacing rate and window.

mod congestion;
mod drain;
mod pacing;
mod probe_bw;
mod probe_rtt;
mod startup;
mod window;

use leobench_base::spec::{Range, Whole};
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimRng, SimTime};

use self::congestion::Congested;
use self::probe_bw::ProbeBandwidth;
use self::probe_rtt::ProbeRtt;
use super::ack_interval::AckInterval;
use super::delivery_rate::DeliveryRate;
use super::filter::WindowedMax;
use super::full_pipe::FullPipe;
use super::opening::{MOST_PACKETS, initial_window};
use super::prior_window::PriorWindow;
use super::rate::{RateSample, RateSampler};
use super::recovery::Recovery;
use super::round::DeliveryRounds;
use super::{
    AckEnd, Acked, Behaviour, Congestion, CongestionContext, CongestionControl, CongestionModel,
    Lost, PerPath, Sent, SinglePath,
};

/// `MaxBwFilterLen` in cycles of `ProbeBW` (section 2.11).
const BANDWIDTH_CYCLES: u64 = 2;
/// `ExtraAckedFilterLen` in round trips (section 2.12); one in Startup (section 5.5.9).
const EXTRA_ACKED_ROUNDS: u64 = 10;

leobench_base::spec! {
    /// BBR that responds to losses and marks and leaves room for other flows (BBR version 3, draft-ietf-ccwg-bbr-06).
    pub struct Bbr3Spec: Default {
        /// Initial window in packets; if not given, that of RFC 9002 section 7.2 (10 packets, at most 14,720 bytes).
        pub initial_window: Option<Whole<2, MOST_PACKETS>>,
        /// Share of a round trip's packets that may be lost in a probe for bandwidth (`LossThresh`, section 2.8).
        pub loss_threshold: f64 [Range::FACTOR] = 0.02,
        /// Largest reduction of the short-term bounds in a round trip with losses, as a factor (`Beta`, section 2.8).
        pub beta: f64 [Range::FACTOR] = 0.7,
        /// Share of the long-term bound that is left to other flows (`Headroom`, section 2.8).
        pub headroom: f64 [Range::from(0.0).below(1.0)] = 0.15,
    }
}

impl CongestionModel for Bbr3Spec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        Box::new(per_path(self, context.rng))
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::MODEL_BASED
    }
}

fn per_path(spec: &Bbr3Spec, rng: &RngTree) -> PerPath<Bbr3> {
    let spec = spec.clone();
    PerPath::seeded(rng, move |now, datagram, rng| Bbr3::new(spec.clone(), now, datagram, rng))
}

/// Section 5.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    /// `IsInAProbeBWState`.
    fn is_probe_bw(self) -> bool {
        matches!(
            self,
            Self::ProbeBwDown | Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeBwUp
        )
    }

    /// `IsProbingBW`.
    fn is_accelerating(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBwRefill | Self::ProbeBwUp)
    }
}

/// BBR on one path. Volumes in bytes.
struct Bbr3 {
    spec: Bbr3Spec,
    /// `C.SMSS`, `C.InitialCwnd`.
    datagram: u64,
    initial_window: u64,
    rng: SimRng,
    sampler: RateSampler,
    recovery: Recovery,
    state: State,

    round: DeliveryRounds,

    max_bw: WindowedMax<DeliveryRate>,
    cycle_count: u64,
    /// The smaller of `max_bw` and its short-term bound.
    bw: DeliveryRate,
    min_rtt: Option<SimDuration>,
    min_rtt_at: SimTime,
    extra_acked: WindowedMax<f64>,
    extra_acked_interval: AckInterval,
    congested: Congested,
    full_pipe: FullPipe,
    drain_start_round: u64,
    probe_bw: ProbeBandwidth,
    probe_rtt: ProbeRtt,
    idle_restart: bool,

    pacing_rate: DeliveryRate,
    window: u64,
    prior_window: PriorWindow,
    /// `C.inflight`.
    in_flight: u64,
    /// When losses ended a probe, and when the window collapsed, until the next sample.
    probe_ended: Option<SimTime>,
    collapsed: Option<SimTime>,
    /// Whether packets have filled the window, in this round and in the last one (`C.is_cwnd_limited`).
    cwnd_limited: [bool; 2],
}

impl Bbr3 {
    /// Section 5.2.1.
    fn new(spec: Bbr3Spec, now: SimTime, datagram: Bytes, rng: SimRng) -> Self {
        let initial_window = initial_window(spec.initial_window.map(Whole::get), datagram);
        Self {
            spec,
            datagram: datagram.get(),
            initial_window,
            rng,
            sampler: RateSampler::default(),
            recovery: Recovery::default(),
            state: State::Startup,
            round: DeliveryRounds::default(),
            max_bw: WindowedMax::new(BANDWIDTH_CYCLES),
            cycle_count: 0,
            bw: DeliveryRate::ZERO,
            min_rtt: None,
            min_rtt_at: now,
            extra_acked: WindowedMax::new(EXTRA_ACKED_ROUNDS),
            extra_acked_interval: AckInterval::new(now),
            congested: Congested::default(),
            full_pipe: FullPipe::default(),
            drain_start_round: 0,
            probe_bw: ProbeBandwidth::new(now),
            probe_rtt: ProbeRtt::new(now),
            idle_restart: false,
            pacing_rate: pacing::initial_pacing_rate(initial_window),
            window: initial_window,
            prior_window: PriorWindow::default(),
            in_flight: 0,
            probe_ended: None,
            collapsed: None,
            cwnd_limited: [false; 2],
        }
    }

    /// `StartRound`.
    fn start_round(&mut self) {
        self.round.restart(self.sampler.delivered());
    }

    /// `UpdateRound` (section 5.5.1).
    fn update_round(&mut self, sample: &RateSample) {
        if self.round.update(sample, self.sampler.delivered()) {
            self.probe_bw.rounds_since_probe_up += 1;
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
    }

    /// `UpdateMaxBw` (section 5.5.5).
    fn update_max_bw(&mut self, sample: &RateSample) {
        self.update_round(sample);
        let Some(rate) = sample.rate else { return };
        if rate >= self.max_bw.get() || !sample.app_limited {
            self.max_bw.update(self.cycle_count, rate);
        }
    }

    /// `UpdateACKAggregation` (section 5.5.9).
    fn update_ack_aggregation(&mut self, sample: &RateSample) {
        let extra = self.extra_acked_interval.on_sample(sample, self.bw, self.window);
        self.extra_acked.update(self.round.count, extra);
        if !self.full_pipe.reached {
            self.extra_acked.expire(self.round.count, 1);
        }
    }

    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.contains(&true)
    }

    /// `UpdateModelAndState` (section 5.2.3).
    fn update_model_and_state(&mut self, sample: &RateSample) {
        self.update_latest_delivery_signals(sample);
        self.update_max_bw(sample);
        self.update_congestion_signals();
        self.update_ack_aggregation(sample);
        self.check_full_bw_reached(sample);
        self.check_startup_done(sample);
        self.check_drain_done(sample);
        self.update_probe_bw_cycle_phase(sample);
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample);
        self.advance_latest_delivery_signals(sample);
        self.bw = self.max_bw.get().min(self.congested.bw_shortterm);
    }
}

impl SinglePath for Bbr3 {
    /// `HandleRestartFromIdle` (section 5.4.1).
    fn on_sent(&mut self, sent: &Sent) {
        self.sampler.on_sent(sent);
        self.in_flight = sent.in_flight.get();
        if self.in_flight + self.datagram > self.window {
            self.cwnd_limited[0] = true;
        }
        if sent.in_flight == sent.size && self.sampler.is_limited() {
            self.idle_restart = true;
            self.extra_acked_interval.set_start(sent.now);
            if self.state.is_probe_bw() {
                self.set_pacing_rate(1.0);
            } else if self.state == State::ProbeRtt {
                self.check_probe_rtt_done(sent.now);
            }
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        self.sampler.on_ack(acked);
        self.recovery.on_ack(acked);
    }

    /// `UpdateOnACK` (section 5.2.3).
    fn on_ack_end(&mut self, end: &AckEnd) {
        self.in_flight = end.in_flight.get();
        let Some(sample) = self.sampler.on_ack_end(end) else { return };
        self.after_losses(sample.now);
        if self.recovery.take_end() {
            self.restore_window();
        }
        self.first_rtt(sample.rtt);
        self.update_model_and_state(&sample);
        self.set_pacing_rate(self.pacing_gain());
        self.set_window(&sample);
    }

    /// Section 5.2.4.
    fn on_packet_lost(&mut self, lost: &Lost) {
        self.in_flight = self.in_flight.saturating_sub(lost.size.get());
        let packet = self.sampler.on_lost(lost);
        self.handle_lost_packet(lost, packet);
    }

    /// `OnEnterFastRecovery` and `OnEnterRTO` (section 5.6.4.4); what changed with the losses has been saved.
    fn on_loss(&mut self, congestion: &Congestion) {
        self.recovery.on_loss(congestion);
        if congestion.persistent {
            self.note_loss(congestion.now);
            self.save_window();
            self.window = self.collapsed_window();
            self.collapsed = Some(congestion.now);
        }
    }

    /// Section 3.7 leaves it open but for this: marks are congestion.
    fn on_ecn(&mut self, congestion: &Congestion) {
        self.handle_mark(congestion.now);
    }

    fn on_spurious_loss(&mut self) {
        self.recovery.cancel();
        self.handle_spurious_loss();
    }

    fn window(&self) -> Bytes {
        Bytes::new(self.window)
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(self.pacing_rate.to_bit_rate())
    }

    fn bypasses_recovery(&self) -> bool {
        true
    }

    fn phase(&self) -> &'static str {
        match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBwDown => "probe-bw-down",
            State::ProbeBwCruise => "probe-bw-cruise",
            State::ProbeBwRefill => "probe-bw-refill",
            State::ProbeBwUp => "probe-bw-up",
            State::ProbeRtt => "probe-rtt",
        }
    }
}

#[cfg(test)]
mod tests;
