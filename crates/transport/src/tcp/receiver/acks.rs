//! When data is acknowledged: at once, or a little later together with what follows (RFC 9293 section 3.8.6.3, RFC 5681
//! section 4.2).

use leobench_base::{SimDuration, SimTime};

/// Most acknowledgements in a row that are not delayed, as in Linux (`TCP_MAX_QUICKACKS`).
const MOST_QUICK: u64 = 16;
/// Fewest after a mark or something out of order, as in Linux.
const LEAST_QUICK: u64 = 2;

/// Delays acknowledgements.
#[derive(Clone, Debug)]
pub(super) struct AckTiming {
    /// After how many full segments data is acknowledged at the latest.
    every: u64,
    delay: SimDuration,
    /// Bytes that came since the last acknowledgement.
    pending: u64,
    /// When they are acknowledged at the latest.
    pub(super) deadline: Option<SimTime>,
    /// Acknowledgements still to be sent at once: at the start, and after an idle time, the other end's window is small.
    quick: u64,
    last_data: Option<SimTime>,
}

impl AckTiming {
    pub(super) fn new(every: u64, delay: SimDuration) -> Self {
        Self { every, delay, pending: 0, deadline: None, quick: 0, last_data: None }
    }

    /// Data came in order; whether to acknowledge it at once. `window` is the receive window, `idle` after how long a
    /// silence the other end starts anew.
    pub(super) fn on_data(
        &mut self,
        now: SimTime,
        bytes: u64,
        mss: u64,
        window: u64,
        idle: SimDuration,
    ) -> bool {
        if self.last_data.is_none_or(|last| now.saturating_since(last) > idle) {
            // As in Linux: as many as fill half the window.
            self.quick = (window / (2 * mss)).clamp(LEAST_QUICK, MOST_QUICK);
        }
        self.last_data = Some(now);
        self.pending += bytes;
        // As in Linux for 2: what is more than one segment.
        if self.delay.is_zero() || self.quick > 0 || self.pending > (self.every - 1) * mss {
            return true;
        }
        self.deadline.get_or_insert(now + self.delay);
        false
    }

    /// The next acknowledgements are not to be delayed.
    pub(super) fn hurry(&mut self) {
        self.quick = self.quick.max(LEAST_QUICK);
    }

    /// An acknowledgement left.
    pub(super) fn on_sent(&mut self) {
        if self.pending > 0 {
            self.quick = self.quick.saturating_sub(1);
        }
        self.pending = 0;
        self.deadline = None;
    }
}
