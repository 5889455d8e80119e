//! The search for the plateau of the delivery rate, and Startup's rules for the pacing rate and the window (BBR version 1:
//! `BBRCheckFullPipe`; version 3: section 5.3.1.2 of draft-ietf-ccwg-bbr-06).

use super::delivery_rate::DeliveryRate;

/// Growth of the delivery rate below which a round trip counts, and how many such round trips fill the pipe.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

/// The full-pipe estimator. Names are those of version 3 (section 2.13).
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    /// `full_bw_reached`: whether the pipe has ever been full.
    pub reached: bool,
    /// `full_bw_now`: whether it has been since the search began.
    pub now: bool,
    bw: DeliveryRate,
    count: u32,
}

impl FullPipe {
    /// `ResetFullBW`: a new search, from a baseline.
    pub fn search(&mut self, bw: DeliveryRate) {
        *self = Self { reached: self.reached, now: false, bw, count: 0 };
    }

    /// Counts a round trip with a rate of `bw`.
    pub fn on_round(&mut self, bw: DeliveryRate) {
        if bw >= self.bw * GROWTH {
            self.search(bw);
            return;
        }
        self.count += 1;
        self.now = self.count >= ROUNDS;
        self.reached |= self.now;
    }

    /// The pacing rate after `present`, where the model asks for `rate`: Startup only ever paces faster (`BBRSetPacingRate`;
    /// version 3: `SetPacingRateWithGain`).
    pub fn next_pacing_rate(&self, present: DeliveryRate, rate: DeliveryRate) -> DeliveryRate {
        if self.reached || rate > present { rate } else { present }
    }

    /// The window after `present` with `acked` more bytes, where the model asks for `target` (`BBRSetCwnd`; version 3:
    /// `SetCwnd`). Startup goes on beyond the target while it `is_opening`: less than the initial window was delivered.
    pub fn next_window(&self, present: u64, acked: u64, target: u64, is_opening: bool) -> u64 {
        let grown = present.saturating_add(acked);
        if self.reached {
            grown.min(target)
        } else if present < target || is_opening {
            grown
        } else {
            present
        }
    }
}
