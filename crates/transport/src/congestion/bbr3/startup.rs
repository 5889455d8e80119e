//! Startup: doubling the rate until the pipe is full, which a plateau of the delivery rate shows, or losses (section 5.3.1).

use super::super::rate::RateSample;
use super::{Bbr3, State};

/// `BBRStartupFullLossCnt`: separate ranges lost in a round trip (section 5.3.1.3).
const LOST_RANGES: u32 = 6;

impl Bbr3 {
    /// `EnterStartup`.
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckFullBWReached` (section 5.3.1.2).
    pub(super) fn check_full_bw_reached(&mut self, sample: &RateSample) {
        if !self.full_pipe.now && self.round.begins && !sample.app_limited {
            self.full_pipe.on_round(sample.rate.unwrap_or_default());
        }
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, sample: &RateSample) {
        self.check_startup_high_loss(sample);
        if self.state == State::Startup && self.full_pipe.reached {
            self.enter_drain();
        }
    }

    /// `CheckStartupHighLoss` (section 5.3.1.3), at the end of a round trip that began with a loss.
    fn check_startup_high_loss(&mut self, sample: &RateSample) {
        if !self.congested.round.begins {
            return;
        }
        let ranges = self.congested.take_lost_ranges();
        if self.state == State::Startup
            && !self.full_pipe.reached
            && self.recovery.is_active()
            && ranges >= LOST_RANGES
            && self.is_loss_too_high(sample.lost, sample.tx_in_flight)
        {
            self.congested.undo_to(State::Startup);
            self.leave_startup();
        }
    }

    /// Congestion has shown that the pipe is full.
    pub(super) fn leave_startup(&mut self) {
        self.full_pipe.reached = true;
        self.congested.inflight_longterm = self.bdp().max(self.congested.inflight_latest as f64);
        self.enter_drain();
    }
}
