//! The timing of acknowledgements: immediate, or delayed until more data arrives (RFC 9293 section 3.8.6.3, RFC 5681
//! section 4.2).

use leobench_base::{SimDuration, SimTime};

/// Maximum number of consecutive immediate acknowledgements, as in Linux (`TCP_MAX_QUICKACKS`).
const MOST_QUICK: u64 = 16;
/// Minimum number of them after a mark or out-of-order data, as in Linux.
const LEAST_QUICK: u64 = 2;

/// The delayed-acknowledgement state.
#[derive(Clone, Debug)]
pub(super) struct AckTiming {
    /// Full segments after which data is acknowledged at the latest.
    every: u64,
    delay: SimDuration,
    /// Bytes received since the last acknowledgement.
    pending: u64,
    /// The deadline for acknowledging them.
    pub(super) deadline: Option<SimTime>,
    /// Immediate acknowledgements left: at the start, and after an idle period, while the other end's window is small.
    quick: u64,
    last_data: Option<SimTime>,
}

impl AckTiming {
    pub(super) fn new(every: u64, delay: SimDuration) -> Self {
        Self { every, delay, pending: 0, deadline: None, quick: 0, last_data: None }
    }

    /// Data arrived in order; returns whether to acknowledge it at once, as in Linux while the window grows. `window` is
    /// the receive window, `idle` the silence after which the other end restarts from its initial window.
    pub(super) fn on_data(
        &mut self,
        now: SimTime,
        bytes: u64,
        mss: u64,
        window: u64,
        idle: SimDuration,
        grows: bool,
    ) -> bool {
        if self.last_data.is_none_or(|last| now.saturating_since(last) > idle) {
            // As in Linux: enough to fill half the window.
            self.quick = (window / (2 * mss)).clamp(LEAST_QUICK, MOST_QUICK);
        }
        self.last_data = Some(now);
        if grows {
            self.quick = self.quick.max(1);
        }
        self.pending += bytes;
        // As in Linux for 2: more than one segment.
        if self.delay.is_zero() || self.quick > 0 || self.pending > (self.every - 1) * mss {
            return true;
        }
        self.deadline.get_or_insert(now + self.delay);
        false
    }

    /// Sends the next acknowledgements without delay.
    pub(super) fn hurry(&mut self) {
        self.quick = self.quick.max(LEAST_QUICK);
    }

    /// An acknowledgement was sent.
    pub(super) fn on_sent(&mut self) {
        if self.pending > 0 {
            self.quick = self.quick.saturating_sub(1);
        }
        self.pending = 0;
        self.deadline = None;
    }
}
