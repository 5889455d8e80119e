//! Pacing rate, as it follows from the model (section 5.6.2).

use leobench_base::SimDuration;

use super::super::delivery_rate::DeliveryRate;
use super::{Bbr3, State};

/// `StartupPacingGain`: 4 ln 2 (section 2.5).
const STARTUP_PACING_GAIN: f64 = 2.77;
/// `DrainPacingGain` (section 2.5).
const DRAIN_PACING_GAIN: f64 = 0.5;
/// Pacing gains of `ProbeBW_DOWN` and `ProbeBW_UP` (section 5.6.1).
const DOWN_PACING_GAIN: f64 = 0.9;
const UP_PACING_GAIN: f64 = 1.25;
/// `PacingMarginPercent`: 1 % (section 2.5).
const PACING_MARGIN: f64 = 0.99;
/// Round-trip time assumed until there is a sample (section 5.6.2).
const NOMINAL_RTT: SimDuration = SimDuration::from_millis(1);

/// `InitPacingRate` (section 5.6.2).
pub(super) fn initial_pacing_rate(initial_window: u64) -> DeliveryRate {
    startup_rate(initial_window, NOMINAL_RTT)
}

/// The rate of Startup at which a round trip of `rtt` lets a window of `window` bytes leave.
fn startup_rate(window: u64, rtt: SimDuration) -> DeliveryRate {
    DeliveryRate::over(STARTUP_PACING_GAIN * window as f64, rtt)
}

impl Bbr3 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::ProbeBwDown => DOWN_PACING_GAIN,
            State::ProbeBwUp => UP_PACING_GAIN,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 1.0,
        }
    }

    /// The first sample replaces the nominal round-trip time.
    pub(super) fn first_rtt(&mut self, rtt: Option<SimDuration>) {
        let Some(rtt) = rtt else { return };
        if self.min_rtt.is_none() && !rtt.is_zero() {
            self.pacing_rate = startup_rate(self.initial_window, rtt);
        }
    }

    /// `SetPacingRateWithGain` (section 5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.bw * gain * PACING_MARGIN;
        self.pacing_rate = self.full_pipe.next_pacing_rate(self.pacing_rate, rate);
    }
}
