//! RACK: a segment is lost when one sent sufficiently later has been delivered (RFC 8985 section 6).

use leobench_base::{SimDuration, SimTime};

use super::scoreboard::{Fate, Scoreboard, Sent};
use crate::congestion::Rtt;

/// Number of segments beyond a gap that indicate a loss before any reordering was seen (`DupThresh`, RFC 8985 section
/// 6.2.4).
const DUP_THRESHOLD: u64 = 3;
/// Recoveries without DSACK after which the reordering window shrinks again (RFC 8985 section 6.2.4, step 4).
const PERSISTENCE: u32 = 16;

/// The per-connection variables of RFC 8985 section 5.3.
#[derive(Debug)]
pub(super) struct Rack {
    /// The latest of the delivered transmissions: its number replaces `RACK.xmit_ts` and `RACK.end_seq`.
    latest: Option<u64>,
    /// `RACK.rtt`.
    rtt: SimDuration,
    /// `RACK.fack`: highest byte delivered.
    fack: u64,
    /// Whether reordering has been seen.
    pub(super) reordering: bool,
    /// `RACK.reo_wnd_mult`.
    quarters: u32,
    /// `RACK.reo_wnd_persist`.
    persist: u32,
    /// `RACK.dsack_round`: the acknowledgement that must arrive before another DSACK counts.
    round: Option<u64>,
    /// When the reordering window of the oldest suspect expires.
    pub(super) deadline: Option<SimTime>,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self {
            latest: None,
            rtt: SimDuration::ZERO,
            fack: 0,
            reordering: false,
            quarters: 1,
            persist: PERSISTENCE,
            round: None,
            deadline: None,
        }
    }

    /// A segment was delivered. `rtt` is the measured round trip; `ambiguous` marks acknowledgements that may belong to
    /// an earlier transmission (section 6.2, steps 2 and 3).
    pub(super) fn on_delivered(
        &mut self,
        now: SimTime,
        sent: &Sent,
        min_rtt: SimDuration,
        ambiguous: bool,
    ) {
        if sent.end > self.fack {
            self.fack = sent.end;
        } else if sent.end < self.fack && !sent.retransmitted {
            self.reordering = true;
        }
        let rtt = now.saturating_since(sent.at);
        if sent.retransmitted && (ambiguous || rtt < min_rtt) {
            return;
        }
        if self.latest.is_none_or(|latest| sent.transmission > latest) {
            self.latest = Some(sent.transmission);
            self.rtt = rtt;
        }
    }

    /// The receiver reported a duplicate: the reordering window may be too small (section 6.2, step 4).
    pub(super) fn on_duplicate(&mut self, nxt: u64) {
        if self.round.is_none() {
            self.round = Some(nxt);
            self.quarters += 1;
            self.persist = PERSISTENCE;
        }
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn on_advance(&mut self, una: u64) {
        self.round = self.round.filter(|round| una < *round);
    }

    /// A recovery has ended.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// The reordering window (section 6.2, step 4).
    fn window(&self, board: &Scoreboard, rtt: Rtt, recovering: bool) -> SimDuration {
        if !self.reordering && (recovering || board.sacked_segments() >= DUP_THRESHOLD) {
            return SimDuration::ZERO;
        }
        (rtt.min * u64::from(self.quarters) / 4).min(rtt.smoothed)
    }

    /// Marks the segments that are lost by now (section 6.2, step 5) and appends them to `lost`. The timer is for the
    /// oldest suspect. The RFC waits for the latest, so that the timer fires once; any acknowledgement in between marks
    /// the older ones as well.
    pub(super) fn detect(
        &mut self,
        now: SimTime,
        board: &mut Scoreboard,
        rtt: Rtt,
        recovering: bool,
        lost: &mut Vec<Sent>,
    ) {
        self.deadline = None;
        let Some(latest) = self.latest else { return };
        let patience = self.rtt + self.window(board, rtt, recovering);
        while let Some(number) = board.oldest_flying() {
            let sent = *board.get(number);
            if sent.transmission > latest {
                break;
            }
            if sent.at + patience > now {
                self.deadline = Some(sent.at + patience);
                break;
            }
            board.lose_overdue(number);
            lost.push(sent);
        }
    }

    /// On a retransmission timeout: marks the first segment, and those sent long enough ago (section 6.3), and appends
    /// them to `lost`.
    pub(super) fn on_timeout(
        &mut self,
        now: SimTime,
        board: &mut Scoreboard,
        rtt: Rtt,
        lost: &mut Vec<Sent>,
    ) {
        self.deadline = None;
        let Some(first) = board.first() else { return };
        let patience = self.rtt + self.window(board, rtt, true);
        for number in board.numbers() {
            let sent = *board.get(number);
            if sent.fate == Fate::Flying && (number == first || sent.at + patience <= now) {
                board.lose(number);
                lost.push(sent);
            }
        }
        lost.sort_unstable_by_key(|sent| sent.transmission);
    }
}
