//! The validation of a route (RFC 9000 section 8.2): challenges until the peer answers one of them, or a time has passed.

use leobench_base::{SimDuration, SimTime};
use smallvec::SmallVec;

/// Challenges of one validation; each waits twice as long for an answer as the one before.
const MOST_CHALLENGES: u32 = 10;
/// Probe timeouts after which a validation has failed (RFC 9000 section 8.2.4).
const VALIDATION_TIMEOUTS: u64 = 3;

/// A validation in progress.
#[derive(Clone, Debug)]
pub(super) struct Validation {
    /// The data of this validation's challenges; an answer to any of them completes it.
    data: SmallVec<[u64; 2]>,
    /// Whether a challenge is to be sent.
    pending: bool,
    /// Whether all were sent in datagrams too small to tell that the path carries 1,200 bytes.
    small: bool,
    /// When to send the next one.
    next: SimTime,
    /// When the validation has failed.
    until: SimTime,
    timeout: SimDuration,
}

/// The effect of a timer on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing, or a challenge to be sent again.
    Nothing,
    /// The peer has not answered in time.
    Failed,
}

impl Validation {
    /// A validation that begins. `pto` is the larger one of the present probe timeout and that of a path of which nothing is known.
    pub(super) fn new(now: SimTime, pto: SimDuration) -> Self {
        let until = now + pto * VALIDATION_TIMEOUTS;
        let data = SmallVec::new();
        Self { data, pending: true, small: true, next: until, until, timeout: pto }
    }

    /// The probe timeout with which it began.
    pub(super) fn timeout(&self) -> SimDuration {
        self.timeout
    }

    /// Whether a challenge is to be sent.
    #[inline]
    pub(super) fn wants_challenge(&self) -> bool {
        self.pending
    }

    /// A challenge with `data` was put into a datagram. It is repeated when no answer came within a round trip, `wait`.
    pub(super) fn on_challenge_sent(&mut self, now: SimTime, data: u64, wait: SimDuration) {
        let doublings = (self.data.len() as u32).min(MOST_CHALLENGES);
        self.data.push(data);
        self.pending = false;
        self.next = now + wait * (1_u64 << doublings);
    }

    /// The datagram with the challenge had at least 1,200 bytes.
    pub(super) fn on_large_challenge(&mut self) {
        self.small = false;
    }

    /// Whether only small datagrams have carried its challenges.
    pub(super) fn is_small(&self) -> bool {
        self.small
    }

    /// Whether the data of a response is that of one of its challenges.
    pub(super) fn is_answered_by(&self, data: u64) -> bool {
        self.data.contains(&data)
    }

    /// When something is due.
    pub(super) fn timer(&self) -> SimTime {
        if self.pending { self.until } else { self.next.min(self.until) }
    }

    /// Does what is due.
    pub(super) fn on_timer(&mut self, now: SimTime) -> Due {
        if self.until <= now {
            return Due::Failed;
        }
        if self.next <= now {
            self.pending = self.data.len() < MOST_CHALLENGES as usize;
            self.next = self.until;
        }
        Due::Nothing
    }
}
