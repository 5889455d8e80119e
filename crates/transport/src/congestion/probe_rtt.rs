//! The length of BBR's `ProbeRTT`, which versions 1 and 3 measure alike.

use leobench_base::SimTime;

/// The progress of `ProbeRTT`. It is over after a time and a round trip with little in flight (`BBRCheckProbeRTT` of version
/// 1; `HandleProbeRTT` and `CheckProbeRTTDone` of draft-ietf-ccwg-bbr-06).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRttLength {
    /// `probe_rtt_done_stamp`: the end of that time, once little is in flight.
    done: Option<SimTime>,
    /// `probe_rtt_round_done`.
    round_done: bool,
}

impl ProbeRttLength {
    /// Little is in flight from now on: the time ends at `done`.
    pub fn start(&mut self, done: SimTime) {
        *self = Self { done: Some(done), round_done: false };
    }

    /// Whether that time has started.
    pub fn has_started(&self) -> bool {
        self.done.is_some()
    }

    /// Records whether a round trip begins with this acknowledgement. Returns whether one has begun since the start.
    pub fn on_ack(&mut self, round_begins: bool) -> bool {
        self.round_done |= round_begins;
        self.round_done
    }

    /// Whether the time is over.
    pub fn is_over(&self, now: SimTime) -> bool {
        self.done.is_some_and(|done| now > done)
    }
}
