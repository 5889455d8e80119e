//! `ProbeRTT`: half the path's volume in flight for a moment, to see round trips without a queue (section 5.3.4).

use leobench_base::{SimDuration, SimTime};

use super::super::probe_rtt::ProbeRttLength;
use super::super::rate::RateSample;
use super::probe_bw::AckPhase;
use super::{Bbr3, State};

/// `ProbeRTTInterval`, `ProbeRTTDuration` (section 2.16.2).
const INTERVAL: SimDuration = SimDuration::from_secs(5);
const DURATION: SimDuration = SimDuration::from_millis(200);
/// `MinRTTFilterLen` (section 2.16.1).
const FILTER: SimDuration = SimDuration::from_secs(10);

/// When to probe, and how far it has come (section 2.16.2).
#[derive(Clone, Debug)]
pub(super) struct ProbeRtt {
    /// `probe_rtt_min_delay` and `probe_rtt_min_stamp`.
    min_delay: Option<SimDuration>,
    min_at: SimTime,
    expired: bool,
    length: ProbeRttLength,
}

impl ProbeRtt {
    pub fn new(now: SimTime) -> Self {
        Self { min_delay: None, min_at: now, expired: false, length: ProbeRttLength::default() }
    }
}

impl Bbr3 {
    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, sample: &RateSample) {
        let now = sample.now;
        let probe = &mut self.probe_rtt;
        probe.expired = now > probe.min_at + INTERVAL;
        if let Some(rtt) = sample.rtt
            && (probe.expired || probe.min_delay.is_none_or(|delay| rtt < delay))
        {
            probe.min_delay = Some(rtt);
            probe.min_at = now;
        }
        let expired = now > self.min_rtt_at + FILTER;
        if expired || self.min_rtt.is_none_or(|min_rtt| probe.min_delay < Some(min_rtt)) {
            self.min_rtt = probe.min_delay;
            self.min_rtt_at = probe.min_at;
        }
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, sample: &RateSample) {
        if self.state != State::ProbeRtt && self.probe_rtt.expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_window();
            self.probe_rtt.length = ProbeRttLength::default();
            self.probe_bw.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(sample.now);
        }
        self.idle_restart = false;
    }

    /// `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, now: SimTime) {
        self.sampler.limit(self.in_flight);
        if self.probe_rtt.length.has_started() {
            if self.probe_rtt.length.on_ack(self.round.begins) {
                self.check_probe_rtt_done(now);
            }
        } else if self.in_flight <= self.probe_rtt_window() {
            self.probe_rtt.length.start(now + DURATION);
            self.start_round();
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT` (section 5.3.4.4).
    pub(super) fn check_probe_rtt_done(&mut self, now: SimTime) {
        if !self.probe_rtt.length.is_over(now) {
            return;
        }
        self.probe_rtt.min_at = now;
        self.restore_window();
        self.congested.reset_short_term();
        if self.full_pipe.reached {
            self.start_probe_bw_down(now);
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }
}
