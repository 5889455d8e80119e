//! LeoCC (Lai et al., "LeoCC: Making Internet congestion control robust to LEO satellite dynamics", SIGCOMM 2025), as the
//! authors' code for replayed traces has it (repository `SpaceNetLab/LeoCC`, `leocc/simulation/leocc.c`): BBR version 1
//! that measures the path anew at every reconfiguration of the network.

mod reconfigurations;

use leobench_base::spec::{Fault, Range, Whole};
use leobench_base::{SimDuration, SimTime};

use self::reconfigurations::Reconfigurations;
use super::bbr::{self, BbrSpec, Mode, Variant};
use super::delivery_rate::DeliveryRate;
use super::kalman::ScalarKalman;
use super::opening::MOST_PACKETS;
use super::rate::RateSample;
use super::{Behaviour, CongestionContext, CongestionControl, CongestionModel};
use crate::endpoint::Forecast;

/// Variance of the filters' estimates to begin with (the authors' `p_post_bw` and `p_post_rtt`).
const INITIAL_VARIANCE: f64 = 25.0;
/// The unit of bandwidth in the filter: bytes in this time.
const SECOND: SimDuration = SimDuration::from_secs(1);

leobench_base::spec! {
    /// BBR that measures the path anew at every reconfiguration, and filters its bandwidth while a queue builds (Lai et al. 2025).
    pub struct LeoccSpec: Default check = LeoccSpec::check {
        /// Initial window in packets; if not given, that of RFC 9002 section 7.2 (10 packets, at most 14,720 bytes).
        pub initial_window: Option<Whole<2, MOST_PACKETS>>,
        /// Time between two reconfigurations, if the flow has no forecast (Lai et al. 2025: `PERIOD`, as in Starlink).
        pub every: SimDuration = SimDuration::from_secs(15),
        /// Offset of that grid: reconfigurations are at `offset` and all multiples of `every` after it. Starlink's are at 12, 27,
        /// 42 and 57 s of a minute (Lai et al. 2025: `offset`).
        pub offset: SimDuration = SimDuration::from_secs(12),
        /// Time before a reconfiguration at which the path is measured anew (Lai et al. 2025: 100 ms).
        pub lead: SimDuration = SimDuration::from_millis(100),
        /// Excess of the filtered round-trip time over the minimum from which the filtered bandwidth is used (Lai et al. 2025:
        /// `min_rtt_fluctuation`, from 5 to 20 ms).
        pub min_rtt_fluctuation: SimDuration = SimDuration::from_millis(10),
        /// Variance that a step adds to the filters' estimates (Q; Lai et al. 2025: `var_Q`). Only its ratio to `measurement_noise`
        /// matters in the long run.
        pub process_noise: f64 [Range::from(0.0).to(1e6)] = 4.0,
        /// Variance of the filters' measurements (R; Lai et al. 2025: `var_R`).
        pub measurement_noise: f64 [Range::above(0.0).to(1e6)] = 4.0,
        /// Pacing gain of a probe while the filtered bandwidth is used (Lai et al. 2025: 21/20).
        pub filtered_probe_gain: f64 [Range::from(1.0).to(100.0)] = 1.05,
        /// Share of the path's volume that stays in flight in `ProbeRTT` (Lai et al. 2025: `leocc_probe_rtt_cwnd_gain`); four packets do
        /// in any case.
        pub probe_rtt_share: f64 [Range::from(0.0).to(1.0)] = 0.5,
        /// Fall of the round-trip time in `ProbeRTT`, from the filtered to the latest, from which a new Startup begins with the
        /// latest bandwidth (Lai et al. 2025: `delta_thresh`).
        pub rtt_fall: SimDuration = SimDuration::from_millis(45),
        /// Pacing and window gain of Startup: 2 / ln 2 (as for `bbr`; the draft's `BBRHighGain`).
        pub high_gain: f64 [Range::above(1.0).to(100.0)] = 2.89,
        /// Window gain of `ProbeBW` (as for `bbr`; `BBREnterProbeBW`).
        pub window_gain: f64 [Range::above(1.0).to(100.0)] = 2.0,
        /// Round trips over which the largest sample is the bandwidth (as for `bbr`; `BBR.BtlBwFilterLen`).
        pub bandwidth_rounds: u64 [Range::from(1.0).to(1_000.0)] = 10,
        /// Age of the minimum at which `ProbeRTT` measures it without a reconfiguration (Lai et al. 2025: `leocc_min_rtt_win_sec`).
        pub rtt_window: SimDuration = SimDuration::from_secs(20),
        /// Minimum time in `ProbeRTT` (as for `bbr`; `BBR.ProbeRTTDuration`).
        pub probe_rtt_duration: SimDuration = SimDuration::from_millis(200),
        /// Whether the window leaves room for aggregated acknowledgements (Linux since 5.1).
        pub aggregation: bool = true,
    }
}

impl LeoccSpec {
    fn check(&self) -> Result<(), Fault> {
        for (key, span) in [("every", self.every), ("rtt_window", self.rtt_window)] {
            if span.is_zero() {
                return Err(Fault::new(key, "is zero", "a time above zero"));
            }
        }
        for (key, span) in [("offset", self.offset), ("lead", self.lead)] {
            if span >= self.every {
                let allowed = format!("less than `every` ({})", self.every);
                return Err(Fault::new(key, "is too long", allowed));
            }
        }
        Ok(())
    }

    /// The part that is BBR's. The authors have no detection of policers.
    fn bbr(&self) -> BbrSpec {
        BbrSpec {
            initial_window: self.initial_window,
            high_gain: self.high_gain,
            window_gain: self.window_gain,
            bandwidth_rounds: self.bandwidth_rounds,
            rtt_window: self.rtt_window,
            probe_rtt_duration: self.probe_rtt_duration,
            aggregation: self.aggregation,
            policer_detection: false,
        }
    }
}

impl CongestionModel for LeoccSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = self.clone();
        let variant = move |now| Leocc::new(spec.clone(), now);
        Box::new(bbr::per_path_with(&self.bbr(), context.rng, variant))
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::MODEL_BASED
    }

    fn uses_forecast(&self) -> bool {
        true
    }
}

/// The state that LeoCC adds to BBR's. Rates in bytes per second, times in seconds.
struct Leocc {
    spec: LeoccSpec,
    reconfigurations: Reconfigurations,
    /// Whether a reconfiguration waits for the end of the Startup after it (`reconfiguration_trigger`).
    triggered: bool,
    bandwidth: ScalarKalman,
    rtt: ScalarKalman,
    /// The largest sample of the round under way (`rtt_cnt_max_bw`), and the latest (`latest_bw`).
    round_max: DeliveryRate,
    latest: DeliveryRate,
    /// The bandwidth that the new Startup begins with (`reconfiguration_max_bw`).
    startup_bandwidth: DeliveryRate,
    /// Whether the filtered bandwidth is used.
    filtered: bool,
}

impl Leocc {
    fn new(spec: LeoccSpec, now: SimTime) -> Self {
        let unknown = ScalarKalman { estimate: 0.0, variance: INITIAL_VARIANCE };
        Self {
            reconfigurations: Reconfigurations::new(&spec, now),
            triggered: false,
            bandwidth: unknown,
            rtt: unknown,
            round_max: DeliveryRate::ZERO,
            latest: DeliveryRate::ZERO,
            startup_bandwidth: DeliveryRate::ZERO,
            filtered: false,
            spec,
        }
    }

    /// A step of a filter.
    fn step(filter: &mut ScalarKalman, spec: &LeoccSpec, measured: f64) {
        filter.predict(spec.process_noise);
        filter.correct(measured, spec.measurement_noise);
    }
}

impl Variant for Leocc {
    fn on_forecast(&mut self, forecast: &Forecast) {
        self.reconfigurations.on_forecast(forecast);
    }

    /// The beginning of `leocc_main`, and `leocc_update_bw`: the filter takes the largest sample of every round in `ProbeBW`.
    fn on_sample(&mut self, sample: &RateSample, round_begins: bool, mode: Mode) {
        self.triggered |= self.reconfigurations.begins(sample.now);
        if round_begins {
            if matches!(mode, Mode::ProbeBandwidth(_)) {
                Self::step(&mut self.bandwidth, &self.spec, self.round_max * SECOND);
            }
            self.round_max = DeliveryRate::ZERO;
        }
        let Some(rate) = sample.rate else { return };
        self.round_max = self.round_max.max(rate);
        let fallen = sample
            .rtt
            .is_some_and(|rtt| self.rtt.estimate > (rtt + self.spec.rtt_fall).as_secs_f64());
        if mode == Mode::ProbeRtt && fallen {
            self.startup_bandwidth = self.latest;
        }
        self.latest = rate;
    }

    /// The end of `leocc_main`. Before the first round in `ProbeBW` the filter knows no bandwidth: it is not used then, where the
    /// authors' window falls to its minimum for a round trip.
    fn after_sample(&mut self, sample: &RateSample, min_rtt: Option<SimDuration>, mode: Mode) {
        if let Some(rtt) = sample.rtt {
            Self::step(&mut self.rtt, &self.spec, rtt.as_secs_f64());
        }
        let usual = min_rtt.map(|rtt| (rtt + self.spec.min_rtt_fluctuation).as_secs_f64());
        self.filtered = usual.is_some_and(|usual| self.rtt.estimate >= usual)
            && self.bandwidth.estimate > 0.0
            && !self.triggered
            && matches!(mode, Mode::ProbeBandwidth(_));
    }

    fn probe_rtt_is_due(&self, expired: bool, mode: Mode) -> bool {
        (expired || self.triggered) && matches!(mode, Mode::ProbeBandwidth(_))
    }

    fn probe_rtt_share(&self) -> f64 {
        self.spec.probe_rtt_share
    }

    fn replaces_min_rtt(&self) -> bool {
        true
    }

    fn new_startup(&self) -> Option<DeliveryRate> {
        self.triggered.then_some(self.startup_bandwidth)
    }

    /// `leocc_check_drain`: reconfigurations during Startup are over with it.
    fn on_full_pipe(&mut self) {
        self.triggered = false;
        self.startup_bandwidth = DeliveryRate::ZERO;
    }

    fn bandwidth(&self) -> Option<DeliveryRate> {
        self.filtered.then(|| DeliveryRate::over(self.bandwidth.estimate, SECOND))
    }

    fn probe_gain(&self) -> f64 {
        if self.filtered { self.spec.filtered_probe_gain } else { bbr::PROBE_GAIN }
    }
}

#[cfg(test)]
mod tests;
