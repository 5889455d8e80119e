//! Whether a path supports ECN (RFC 9000 section 13.4.2, appendix A.4).

use leobench_base::{SimDuration, SimTime};

use crate::wire::EcnCounts;

/// Marked packets that test a path (RFC 9000 section 13.4.2).
const TESTS: u64 = 10;
/// Probe timeouts for which a path is tested at most (RFC 9000 section 13.4.2).
const TEST_TIMEOUTS: u64 = 3;

/// The state of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Packets are marked to see what becomes of it, since a time.
    Testing(Option<SimTime>),
    /// Tests are out, and nothing of them is known yet.
    Unknown,
    Capable,
    Failed,
}

/// ECN on one path.
#[derive(Clone, Debug)]
pub(super) struct Ecn {
    enabled: bool,
    state: State,
    /// Marked packets sent and lost in all spaces.
    sent: u64,
    lost: u64,
}

/// ECN in one packet number space of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnSpace {
    /// Packets sent with ECT(0).
    sent: u64,
    /// Counts last reported.
    reported: EcnCounts,
}

impl EcnSpace {
    /// Counts of marks that say nothing about the present route.
    pub(super) fn skip(&mut self, counts: EcnCounts) {
        self.reported = counts;
    }
}

impl Ecn {
    /// Packets are marked only if `enabled`.
    pub(super) fn new(enabled: bool) -> Self {
        let state = if enabled { State::Testing(None) } else { State::Failed };
        Self { enabled, state, sent: 0, lost: 0 }
    }

    /// Another network may treat marks otherwise (RFC 9000 section 13.4.2: validation is of a path).
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.enabled);
    }

    /// Whether a packet sent now is to be marked, the probe timeout being `pto`.
    #[inline]
    pub(super) fn marks(&mut self, now: SimTime, pto: SimDuration) -> bool {
        if let State::Testing(Some(since)) = self.state
            && (self.sent >= TESTS || now >= since + pto * TEST_TIMEOUTS)
        {
            self.state = State::Unknown;
            self.judge();
        }
        matches!(self.state, State::Testing(_) | State::Capable)
    }

    /// Whether validation has failed, or nothing is marked in the first place.
    #[cfg(test)]
    pub(super) fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// A marked packet was sent.
    #[inline]
    pub(super) fn on_sent(&mut self, space: &mut EcnSpace, now: SimTime) {
        self.sent += 1;
        space.sent += 1;
        if self.state == State::Testing(None) {
            self.state = State::Testing(Some(now));
        }
    }

    /// So many marked packets were lost.
    pub(super) fn on_lost(&mut self, packets: u64) {
        self.lost += packets;
        self.judge();
    }

    /// Appendix A.4: a path that loses all marked packets fails.
    fn judge(&mut self) {
        if self.state == State::Unknown && self.lost >= self.sent {
            self.state = State::Failed;
        }
    }

    /// An acknowledgement with a new largest number acknowledged `marked` packets that were sent marked, and reported
    /// `counts`. Returns the new CE marks.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        space: &mut EcnSpace,
        counts: Option<EcnCounts>,
        marked: u64,
    ) -> u64 {
        if self.state == State::Failed {
            return 0;
        }
        let Some(counts) = counts else {
            if marked > 0 {
                self.state = State::Failed;
            }
            return 0;
        };
        let before = std::mem::replace(&mut space.reported, counts);
        if !is_valid(before, counts, marked, space.sent) {
            self.state = State::Failed;
            return 0;
        }
        if marked > 0 {
            self.state = State::Capable;
        }
        counts.ce - before.ce
    }
}

/// RFC 9000 section 13.4.2.1. ECT(1) is never sent.
fn is_valid(before: EcnCounts, counts: EcnCounts, marked: u64, sent: u64) -> bool {
    let increase = |before: u64, count: u64| count.checked_sub(before);
    let (Some(ect0), Some(ce)) =
        (increase(before.ect0, counts.ect0), increase(before.ce, counts.ce))
    else {
        return false;
    };
    ect0.saturating_add(ce) >= marked
        && counts.ect0.saturating_add(counts.ce) <= sent
        && counts.ect1 == 0
}
