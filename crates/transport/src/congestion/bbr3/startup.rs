//! Startup: doubling the rate until the pipe is full, which a plateau of the delivery rate shows, or losses (section 5.3.1).

use super::super::rate::RateSample;
use super::{Bbr3, State};

/// Growth of the delivery rate below which a round trip counts, and how many such (section 5.3.1.2).
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;
/// `BBRStartupFullLossCnt`: separate ranges lost in a round trip (section 5.3.1.3).
const LOST_RANGES: u32 = 6;

/// The full pipe estimator (section 2.13).
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    /// `full_bw_reached`: whether the pipe has ever been full.
    pub reached: bool,
    /// `full_bw_now`: whether it has been since the search began.
    pub now: bool,
    bw: f64,
    count: u32,
}

impl FullPipe {
    /// `ResetFullBW`: a new search, from a baseline.
    pub fn search(&mut self, bw: f64) {
        *self = Self { reached: self.reached, now: false, bw, count: 0 };
    }

    /// Whether another round trip with a rate of `bw` shows that the pipe is full.
    fn on_round(&mut self, bw: f64) {
        if bw >= self.bw * GROWTH {
            self.search(bw);
            return;
        }
        self.count += 1;
        self.now = self.count >= ROUNDS;
        self.reached |= self.now;
    }
}

impl Bbr3 {
    /// `EnterStartup`.
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckFullBWReached` (section 5.3.1.2).
    pub(super) fn check_full_bw_reached(&mut self, sample: &RateSample) {
        if !self.full_pipe.now && self.round_start && !sample.app_limited {
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
        if !self.congested.loss_round_start {
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
