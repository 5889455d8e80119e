//! `ProbeBW`: a cycle of slowing down, cruising, refilling the pipe, and probing for more (section 5.3.3).

use leobench_base::{SimDuration, SimTime};

use super::super::rate::RateSample;
use super::{Bbr3, State};

/// Shortest time between probes, to which up to a second is added at random (section 5.3.3.8.2).
const SHORTEST_WAIT: SimDuration = SimDuration::from_secs(2);
/// Round trips between probes at most, for the sake of Reno and CUBIC (section 5.3.3.8.3).
const RENO_ROUNDS: f64 = 63.0;
/// Rounds after which the growth of the long-term bound doubles no more (section 5.3.3.9).
const DOUBLING_ROUNDS: u32 = 30;

/// `ack_phase` (section 2.14): what acknowledgements say of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State of the cycle (section 2.14).
#[derive(Clone, Debug)]
pub(super) struct ProbeBandwidth {
    pub ack_phase: AckPhase,
    /// `is_bw_probe_sample`.
    pub is_sample: bool,
    pub prev_too_high: bool,
    prev_precautionary: bool,
    pub rounds_since_probe_up: u64,
    /// `bw_probe_wait`, since `cycle_stamp`.
    wait: SimDuration,
    cycle_start: SimTime,
    /// `probe_up_acked_per_inc`, `bw_probe_up_acked`, `bw_probe_up_rounds`.
    acked_per_packet: u64,
    acked: u64,
    up_rounds: u32,
}

impl ProbeBandwidth {
    pub fn new(now: SimTime) -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_sample: false,
            prev_too_high: false,
            prev_precautionary: false,
            rounds_since_probe_up: 0,
            wait: SimDuration::ZERO,
            cycle_start: now,
            acked_per_packet: u64::MAX,
            acked: 0,
            up_rounds: 0,
        }
    }
}

impl Bbr3 {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_probe_bw_down(&mut self, now: SimTime) {
        self.congested.reset_signals();
        let (rounds, fraction) = (self.rng.below(2), self.rng.unit());
        let probe = &mut self.probe_bw;
        probe.acked_per_packet = u64::MAX;
        probe.rounds_since_probe_up = rounds;
        probe.wait = SHORTEST_WAIT + SimDuration::from_secs_f64(fraction);
        probe.cycle_start = now;
        probe.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    /// `StartProbeBW_CRUISE`.
    pub(super) fn start_probe_bw_cruise(&mut self) {
        self.state = State::ProbeBwCruise;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.congested.reset_short_term();
        let probe = &mut self.probe_bw;
        probe.up_rounds = 0;
        probe.acked = 0;
        probe.prev_precautionary = false;
        probe.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// `StartProbeBW_UP`.
    fn start_probe_bw_up(&mut self, sample: &RateSample) {
        self.probe_bw.is_sample = true;
        self.probe_bw.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.full_pipe.search(sample.rate.unwrap_or_default());
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, sample: &RateSample) {
        if !self.full_pipe.reached || self.adapt_long_term_model(sample) {
            return;
        }
        let state = self.state;
        match state {
            State::ProbeBwDown | State::ProbeBwCruise if self.is_time_to_probe(sample.now) => {
                self.start_probe_bw_refill();
            }
            State::ProbeBwDown if self.is_time_to_cruise() => self.start_probe_bw_cruise(),
            State::ProbeBwRefill if self.round.begins => self.start_probe_bw_up(sample),
            State::ProbeBwUp if self.is_time_to_go_down(sample) => {
                self.probe_bw.prev_too_high = false;
                self.start_probe_bw_down(sample.now);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`, with `HasElapsedInPhase` and `IsRenoCoexistenceProbeTime` (section 5.3.3.8.3).
    fn is_time_to_probe(&self, now: SimTime) -> bool {
        let rounds = (self.target_inflight() / self.datagram as f64).min(RENO_ROUNDS);
        now > self.probe_bw.cycle_start + self.probe_bw.wait
            || self.probe_bw.rounds_since_probe_up as f64 >= rounds
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self) -> bool {
        let in_flight = self.in_flight as f64;
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(1.0)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, sample: &RateSample) -> bool {
        let longterm = self.congested.inflight_longterm;
        if self.probe_bw.prev_too_high && self.in_flight as f64 >= longterm {
            self.probe_bw.prev_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.window as f64 >= longterm {
            self.full_pipe.search(sample.rate.unwrap_or_default());
            return false;
        }
        self.full_pipe.now
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_inflight_longterm_slope(&mut self) {
        let probe = &mut self.probe_bw;
        let growth = 1_u64 << probe.up_rounds;
        probe.up_rounds = (probe.up_rounds + 1).min(DOUBLING_ROUNDS);
        probe.acked_per_packet = (self.window / growth).max(self.datagram);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_inflight_longterm_upward(&mut self, sample: &RateSample) {
        if !self.is_cwnd_limited() || (self.window as f64) < self.congested.inflight_longterm {
            return;
        }
        let probe = &mut self.probe_bw;
        probe.acked = probe.acked.saturating_add(sample.newly_acked);
        let packets = probe.acked / probe.acked_per_packet;
        probe.acked %= probe.acked_per_packet;
        self.congested.inflight_longterm += (packets * self.datagram) as f64;
        if self.round.begins {
            self.raise_inflight_longterm_slope();
        }
    }

    /// `AdaptLongTermModel`; whether it has changed the state.
    fn adapt_long_term_model(&mut self, sample: &RateSample) -> bool {
        if self.round.begins && self.probe_bw.ack_phase == AckPhase::ProbeStarting {
            self.probe_bw.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.round.begins && self.probe_bw.ack_phase == AckPhase::ProbeStopping {
            self.probe_bw.is_sample = false;
            self.probe_bw.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !sample.app_limited {
                self.cycle_count += 1;
                self.max_bw.expire(self.cycle_count, super::BANDWIDTH_CYCLES);
            }
            let careful = self.probe_bw.prev_precautionary && !self.probe_bw.prev_too_high;
            if self.state.is_probe_bw() && careful {
                self.start_probe_bw_refill();
                return true;
            }
        }
        if !self.is_loss_too_high(sample.lost, sample.tx_in_flight)
            && self.congested.inflight_longterm.is_finite()
        {
            let longterm = &mut self.congested.inflight_longterm;
            *longterm = longterm.max(sample.tx_in_flight as f64);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward(sample);
            }
        }
        false
    }
}
