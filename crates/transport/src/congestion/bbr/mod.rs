//! BBR version 1 (Cardwell et al., "BBR: Congestion-based congestion control", 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00), with what Linux has added to it: room for aggregated
//! acknowledgements, and a way out of policers. Functions named `BBR...` are those of the draft's pseudocode.

mod aggregation;
mod policer;
mod variant;
mod window;

pub(super) use self::variant::Variant;

use leobench_base::spec::{Fault, Range, Whole};
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimRng, SimTime};

use self::aggregation::Aggregation;
use self::policer::Policer;
use self::variant::Version1;
use super::delivery_rate::DeliveryRate;
use super::filter::WindowedMax;
use super::full_pipe::FullPipe;
use super::opening::{MOST_PACKETS, initial_window};
use super::prior_window::PriorWindow;
use super::probe_rtt::ProbeRttLength;
use super::rate::{RateSample, RateSampler};
use super::recovery::Recovery;
use super::round::DeliveryRounds;
use super::{
    AckEnd, Acked, Behaviour, Congestion, CongestionContext, CongestionControl, CongestionModel,
    Lost, PerPath, Sent, SinglePath,
};
use crate::endpoint::Forecast;

/// Pacing gain of a probe in `ProbeBW`.
pub(super) const PROBE_GAIN: f64 = 1.25;
/// Pacing gains of `ProbeBW`, each for a round trip: probe, drain, cruise (the draft's `ProbeBW`; `bbr_pacing_gain` of
/// Linux).
const CYCLE: [f64; 8] = [PROBE_GAIN, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Window in packets that keeps a path with delayed acknowledgements busy (`BBRMinPipeCwnd`).
const MIN_PIPE: u64 = 4;
/// How far below the estimated bandwidth packets are paced (`bbr_pacing_margin_percent` of Linux: 1 %).
const PACING_MARGIN: f64 = 0.99;
/// Round-trip time assumed until there is a sample (`BBRInitPacingRate`).
const NOMINAL_RTT: SimDuration = SimDuration::from_millis(1);

leobench_base::spec! {
    /// Paces at the measured bandwidth and ignores losses; two bandwidth-delay products in flight (BBR version 1, 2016).
    pub struct BbrSpec: Default check = BbrSpec::check {
        /// Initial window in packets; if not given, that of RFC 9002 section 7.2 (10 packets, at most 14,720 bytes).
        pub initial_window: Option<Whole<2, MOST_PACKETS>>,
        /// Pacing and window gain of Startup: 2 / ln 2, with which the rate doubles in a round trip (`BBRHighGain`).
        pub high_gain: f64 [Range::above(1.0).to(100.0)] = 2.89,
        /// Window gain of `ProbeBW` (`BBREnterProbeBW`).
        pub window_gain: f64 [Range::above(1.0).to(100.0)] = 2.0,
        /// Round trips over which the largest sample is the bandwidth (`BBR.BtlBwFilterLen`).
        pub bandwidth_rounds: u64 [Range::from(1.0).to(1_000.0)] = 10,
        /// Time over which the smallest sample is the round-trip time, and after which `ProbeRTT` measures it again
        /// (`BBR.RTpropFilterLen`).
        pub rtt_window: SimDuration = SimDuration::from_secs(10),
        /// Minimum time in `ProbeRTT` with four packets in flight (`BBR.ProbeRTTDuration`).
        pub probe_rtt_duration: SimDuration = SimDuration::from_millis(200),
        /// Whether the window leaves room for aggregated acknowledgements (Linux since 5.1).
        pub aggregation: bool = true,
        /// Whether steady throughput with many losses is taken for the rate of a token-bucket policer (Linux).
        pub policer_detection: bool = true,
    }
}

impl BbrSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.rtt_window.is_zero() {
            return Err(Fault::new("rtt_window", "is zero", "a time above zero"));
        }
        Ok(())
    }
}

impl CongestionModel for BbrSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        Box::new(per_path(self, context.rng))
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::MODEL_BASED
    }
}

fn per_path(spec: &BbrSpec, rng: &RngTree) -> PerPath<Bbr> {
    per_path_with(spec, rng, |_| Version1)
}

/// A controller that runs a variant of BBR on every path by itself, made by `variant` at the time the path opens.
pub(super) fn per_path_with<V: Variant>(
    spec: &BbrSpec,
    rng: &RngTree,
    variant: impl Fn(SimTime) -> V + Send + 'static,
) -> PerPath<Bbr<V>> {
    let spec = spec.clone();
    PerPath::seeded(rng, move |now, datagram, rng| {
        Bbr::new(spec.clone(), variant(now), now, datagram, rng)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    /// At a place in the cycle of gains.
    ProbeBandwidth(usize),
    ProbeRtt,
}

/// BBR on one path. Volumes in bytes.
pub(super) struct Bbr<V = Version1> {
    spec: BbrSpec,
    pub variant: V,
    datagram: u64,
    initial_window: u64,
    rng: SimRng,
    sampler: RateSampler,
    mode: Mode,
    /// The largest delivery rate of the last rounds.
    bandwidth: WindowedMax<DeliveryRate>,
    round: DeliveryRounds,
    /// `RTprop`, and when it was measured.
    min_rtt: Option<SimDuration>,
    min_rtt_at: SimTime,
    full_pipe: FullPipe,
    cycle_start: SimTime,
    probe_rtt: ProbeRttLength,
    idle_restart: bool,
    pacing_rate: DeliveryRate,
    window: u64,
    prior_window: PriorWindow,
    in_flight: u64,
    recovery: Recovery,
    /// Whether it has begun since the last sample.
    recovery_begins: bool,
    /// When the window collapsed, until the next sample.
    collapsed: Option<SimTime>,
    /// In the first round of recovery a packet leaves for a packet that arrives.
    conserving: bool,
    aggregation: Aggregation,
    policer: Policer,
}

impl<V: Variant> Bbr<V> {
    fn new(spec: BbrSpec, variant: V, now: SimTime, datagram: Bytes, rng: SimRng) -> Self {
        let initial_window = initial_window(spec.initial_window.map(Whole::get), datagram);
        let rate = DeliveryRate::over(spec.high_gain * initial_window as f64, NOMINAL_RTT);
        Self {
            variant,
            datagram: datagram.get(),
            initial_window,
            rng,
            sampler: RateSampler::default(),
            mode: Mode::Startup,
            bandwidth: WindowedMax::new(spec.bandwidth_rounds),
            round: DeliveryRounds::default(),
            min_rtt: None,
            min_rtt_at: now,
            full_pipe: FullPipe::default(),
            cycle_start: now,
            probe_rtt: ProbeRttLength::default(),
            idle_restart: false,
            pacing_rate: rate,
            window: initial_window,
            prior_window: PriorWindow::default(),
            in_flight: 0,
            recovery: Recovery::default(),
            recovery_begins: false,
            collapsed: None,
            conserving: false,
            aggregation: Aggregation::new(now),
            policer: Policer::default(),
            spec,
        }
    }

    /// The bandwidth estimate: the windowed maximum, unless a policer allows less.
    pub fn bandwidth(&self) -> DeliveryRate {
        self.policer.rate().unwrap_or_else(|| self.bandwidth.get())
    }

    /// `RTprop`, if there is a sample.
    #[cfg(test)]
    pub fn min_rtt(&self) -> Option<SimDuration> {
        self.min_rtt
    }

    /// The bandwidth that rate and window follow.
    fn target_bandwidth(&self) -> DeliveryRate {
        self.variant.bandwidth().unwrap_or_else(|| self.bandwidth())
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.spec.high_gain,
            Mode::Drain => 1.0 / self.spec.high_gain,
            Mode::ProbeBandwidth(_) if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBandwidth(0) => self.variant.probe_gain(),
            Mode::ProbeBandwidth(place) => CYCLE[place],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => self.spec.high_gain,
            Mode::ProbeBandwidth(_) => self.spec.window_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `BBRUpdateBtlBw`: rounds, and the bandwidth over the last of them.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        if self.round.update(sample, self.sampler.delivered()) {
            self.conserving = false;
        }
        self.variant.on_sample(sample, self.round.begins, self.mode);
        if self.spec.policer_detection {
            let probing = matches!(self.mode, Mode::ProbeBandwidth(_));
            let totals = (self.sampler.delivered(), self.sampler.lost());
            if self.policer.on_sample(sample, totals, self.round.begins, probing) {
                self.enter_probe_bandwidth(sample.now);
            }
        }
        let Some(rate) = sample.rate else { return };
        if !sample.app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(self.round.count, rate);
        }
    }

    /// `BBRCheckCyclePhase`: whether the next gain is due.
    fn advance_cycle(&mut self, sample: &RateSample) {
        let Mode::ProbeBandwidth(place) = self.mode else { return };
        let min_rtt = self.min_rtt.unwrap_or_default();
        let is_full_length = sample.now.saturating_since(self.cycle_start) > min_rtt;
        let gain = self.pacing_gain();
        let in_flight = sample.prior_in_flight as f64;
        let due = if gain > 1.0 {
            let reached = in_flight >= self.inflight(self.bandwidth.get(), gain);
            is_full_length && (sample.newly_lost > 0 || reached)
        } else if gain < 1.0 {
            is_full_length || in_flight <= self.inflight(self.bandwidth.get(), 1.0)
        } else {
            is_full_length
        };
        if due {
            self.mode = Mode::ProbeBandwidth((place + 1) % CYCLE.len());
            self.cycle_start = sample.now;
        }
    }

    /// `BBREnterProbeBW`: any place of the cycle but the drain, so that flows do not synchronise.
    fn enter_probe_bandwidth(&mut self, now: SimTime) {
        let place = CYCLE.len() - 1 - self.rng.below(CYCLE.len() as u64 - 1) as usize;
        self.mode = Mode::ProbeBandwidth((place + 1) % CYCLE.len());
        self.cycle_start = now;
    }

    /// `BBRCheckFullPipe`.
    fn check_full_pipe(&mut self, sample: &RateSample) {
        if !self.full_pipe.reached && self.round.begins && !sample.app_limited {
            self.full_pipe.on_round(self.bandwidth.get());
        }
    }

    /// `BBRCheckDrain`.
    fn check_drain(&mut self, sample: &RateSample) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
            self.variant.on_full_pipe();
        }
        let drained = sample.in_flight as f64 <= self.inflight(self.bandwidth.get(), 1.0);
        if self.mode == Mode::Drain && drained {
            self.enter_probe_bandwidth(sample.now);
        }
    }

    /// `BBRUpdateRTprop` and `BBRCheckProbeRTT`.
    fn update_min_rtt(&mut self, sample: &RateSample) {
        let now = sample.now;
        let expired = now > self.min_rtt_at + self.spec.rtt_window;
        if let Some(rtt) = sample.rtt
            && (expired || self.min_rtt.is_none_or(|min_rtt| rtt <= min_rtt))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = now;
        }
        if !self.idle_restart && self.variant.probe_rtt_is_due(expired, self.mode) {
            self.keep_window(self.recovery.is_active());
            self.mode = Mode::ProbeRtt;
            self.probe_rtt = ProbeRttLength::default();
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sample);
        }
        self.idle_restart = false;
    }

    fn probe_rtt(&mut self, sample: &RateSample) {
        // Rates measured now do not show what the path can do.
        self.sampler.limit(sample.in_flight);
        if self.probe_rtt.has_started() {
            if self.probe_rtt.on_ack(self.round.begins) {
                if self.variant.replaces_min_rtt() && self.probe_rtt.is_over(sample.now) {
                    self.min_rtt = sample.rtt.or(self.min_rtt);
                }
                self.check_probe_rtt_done(sample.now);
            }
        } else if sample.in_flight <= self.probe_rtt_window() {
            self.probe_rtt.start(sample.now + self.spec.probe_rtt_duration);
            self.round.restart(self.sampler.delivered());
        }
    }

    fn check_probe_rtt_done(&mut self, now: SimTime) {
        if !self.probe_rtt.is_over(now) {
            return;
        }
        self.min_rtt_at = now;
        self.window = self.prior_window.restore(self.window);
        if let Some(bandwidth) = self.variant.new_startup() {
            self.mode = Mode::Startup;
            self.full_pipe = FullPipe::default();
            self.bandwidth = WindowedMax::new(self.spec.bandwidth_rounds);
            self.bandwidth.update(self.round.count, bandwidth);
        } else if self.full_pipe.reached {
            self.enter_probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `BBRSetPacingRate`.
    fn set_pacing_rate(&mut self, bandwidth: DeliveryRate, gain: f64) {
        let rate = bandwidth * gain * PACING_MARGIN;
        self.pacing_rate = self.full_pipe.next_pacing_rate(self.pacing_rate, rate);
    }

    /// The first sample replaces the nominal round-trip time.
    fn first_rtt(&mut self, rtt: Option<SimDuration>) {
        let Some(rtt) = rtt else { return };
        if self.min_rtt.is_none() && !rtt.is_zero() {
            let nominal = DeliveryRate::over(self.window as f64, rtt);
            self.pacing_rate = nominal * self.spec.high_gain * PACING_MARGIN;
        }
    }
}

impl<V: Variant> SinglePath for Bbr<V> {
    /// `BBRHandleRestartFromIdle`: restarting from idle, at the bandwidth known.
    fn on_sent(&mut self, sent: &Sent) {
        self.sampler.on_sent(sent);
        self.in_flight = sent.in_flight.get();
        if sent.in_flight == sent.size && self.sampler.is_limited() {
            self.idle_restart = true;
            self.aggregation.restart(sent.now);
            match self.mode {
                Mode::ProbeBandwidth(_) => self.set_pacing_rate(self.bandwidth(), 1.0),
                Mode::ProbeRtt => self.check_probe_rtt_done(sent.now),
                Mode::Startup | Mode::Drain => {}
            }
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        self.sampler.on_ack(acked);
        self.recovery.on_ack(acked);
    }

    /// `BBRUpdateOnACK`.
    fn on_ack_end(&mut self, end: &AckEnd) {
        self.in_flight = end.in_flight.get();
        let Some(sample) = self.sampler.on_ack_end(end) else { return };
        self.first_rtt(sample.rtt);
        self.update_bandwidth(&sample);
        self.after_losses(sample.now);
        if self.spec.aggregation {
            let (bandwidth, window) = (self.bandwidth(), self.window);
            self.aggregation.on_sample(&sample, bandwidth, window, self.round.begins);
        }
        self.advance_cycle(&sample);
        self.check_full_pipe(&sample);
        self.check_drain(&sample);
        self.update_min_rtt(&sample);
        self.variant.after_sample(&sample, self.min_rtt, self.mode);
        self.set_pacing_rate(self.target_bandwidth(), self.pacing_gain());
        self.set_window(&sample);
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.sampler.on_lost(lost);
        self.in_flight = self.in_flight.saturating_sub(lost.size.get());
    }

    /// Losses do not change the model of the path: recovery conserves packets, and after a collapse the window grows
    /// again.
    fn on_loss(&mut self, congestion: &Congestion) {
        self.on_losses(congestion);
    }

    /// Linux's BBR does not answer marks.
    fn on_ecn(&mut self, _congestion: &Congestion) {}

    /// Restarts Startup's search and undoes the reduction of the window, as Linux does on an undo.
    fn on_spurious_loss(&mut self) {
        self.full_pipe.search(DeliveryRate::ZERO);
        self.policer = Policer::default();
        self.window = self.prior_window.restore(self.window);
        self.recovery.cancel();
        self.recovery_begins = false;
        self.conserving = false;
    }

    fn on_forecast(&mut self, forecast: &Forecast) {
        self.variant.on_forecast(forecast);
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
        match self.mode {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBandwidth(_) => "probe-bw",
            Mode::ProbeRtt => "probe-rtt",
        }
    }
}

#[cfg(test)]
mod tests;
