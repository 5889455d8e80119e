//! Drain: sending slowly until the queue that Startup built is gone (section 5.3.2).

use super::super::rate::RateSample;
use super::{Bbr3, State};

/// Round trips after which Drain is over in any case.
const ROUNDS: u64 = 3;

impl Bbr3 {
    /// `EnterDrain`.
    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_start_round = self.round.count;
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, sample: &RateSample) {
        let drained = self.in_flight as f64 <= self.inflight(1.0)
            || self.round.count > self.drain_start_round + ROUNDS;
        if self.state == State::Drain && drained {
            self.start_probe_bw_down(sample.now);
        }
    }
}
