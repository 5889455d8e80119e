//! The queueing delay: the one-way delay above its base (RFC 6817, section 3.4.2, to which RFC 8298 refers).

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

/// Minutes over which the base is the smallest delay (`BASE_HISTORY`, RFC 6817, section 3.4.2).
const MINUTES: usize = 10;

#[derive(Debug, Default)]
pub(super) struct QueueDelay {
    /// By minute, the smallest one-way delay; the last is that of the minute `minute`.
    bases: VecDeque<SimDuration>,
    minute: u64,
    last: SimDuration,
}

impl QueueDelay {
    /// Adds a one-way delay. Returns the queueing delay.
    pub fn on_sample(&mut self, delay: SimDuration, now: SimTime) -> SimDuration {
        let minute = now.as_nanos() / SimDuration::from_secs(60).as_nanos();
        match self.bases.back_mut() {
            Some(base) if minute == self.minute => *base = (*base).min(delay),
            _ => {
                self.minute = minute;
                self.bases.push_back(delay);
                if self.bases.len() > MINUTES {
                    self.bases.pop_front();
                }
            }
        }
        let base = self.bases.iter().min().copied().unwrap_or(delay);
        self.last = delay.saturating_sub(base);
        self.last
    }

    /// The last queueing delay.
    pub fn last(&self) -> SimDuration {
        self.last
    }
}
