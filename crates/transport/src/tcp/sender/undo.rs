//! Undoing a spurious reduction: by timestamps (Eifel, RFC 3522 and 4015), by duplicate selective acknowledgements (RFC
//! 2883, 3708), and after a timeout by F-RTO (RFC 5682 section 3).

use leobench_base::SimTime;

use super::scoreboard::Sent;
use super::{Ack, Mode, Sender};
use crate::tcp::sequence::Stamps;

/// The state that is necessary to undo the last reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// First unacknowledged byte at the time of the reduction.
    marker: u64,
    /// Segments retransmitted since, and not reported as duplicates.
    retransmitted: u64,
    /// When the first of them was sent.
    first: Option<SimTime>,
}

impl Undo {
    pub(super) fn new(marker: u64) -> Self {
        Self { marker, retransmitted: 0, first: None }
    }

    pub(super) fn on_retransmitted(&mut self, now: SimTime) {
        self.retransmitted += 1;
        self.first.get_or_insert(now);
    }

    /// The receiver reports a duplicate that starts at `start`; returns whether all retransmissions were duplicates.
    fn on_duplicate(&mut self, start: u64) -> bool {
        if start < self.marker || self.retransmitted == 0 {
            return false;
        }
        self.retransmitted -= 1;
        self.retransmitted == 0
    }

    /// Whether an acknowledgement that advanced was sent before the first retransmission could bring it about (RFC 3522
    /// section 3.2; `tcp_packet_delayed` in Linux). Without any retransmission since, nothing else can have.
    fn was_delayed(&self, stamps: Stamps, echo: Option<u32>) -> bool {
        match (self.first, echo) {
            (Some(first), Some(echo)) => Stamps::is_before(echo, stamps.at(first)),
            (Some(_), None) => false,
            (None, _) => true,
        }
    }
}

/// The progress of F-RTO (RFC 5682 section 3.1). Until it has decided, the sender retransmits only the first segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// No acknowledgement since the timeout.
    First,
    /// One acknowledgement advanced: new data may be sent.
    Second,
}

impl Sender {
    /// Looks for evidence that the last reduction answered no loss, and undoes it. `advanced` tells whether the
    /// acknowledgement did, `duplicate` what the receiver got twice.
    ///
    /// As in Linux (`tcp_try_undo_partial`), a late original that fills a part of the hole undoes nothing while
    /// retransmissions are outstanding: until they are accounted for, only new data is sent.
    #[inline]
    pub(super) fn reconsider(
        &mut self,
        ack: &Ack,
        advanced: bool,
        duplicate: Option<(u64, u64)>,
        delivered: &[Sent],
    ) {
        self.holds_repairs = false;
        if let Some(undo) = self.undo {
            self.look_back(undo, ack, advanced, duplicate, delivered);
        }
    }

    #[cold]
    fn look_back(
        &mut self,
        mut undo: Undo,
        ack: &Ack,
        advanced: bool,
        duplicate: Option<(u64, u64)>,
        delivered: &[Sent],
    ) {
        let all_duplicates = duplicate.is_some_and(|(start, _)| undo.on_duplicate(start));
        self.undo = Some(undo);
        let repairing = matches!(self.mode, Mode::Recovery | Mode::Timeout);
        let complete = self.una >= self.recover;
        // Without selective acknowledgements, what ends a recovery proves nothing (RFC 6582 section 3.2).
        let told = advanced && repairing && (self.agreed.sack || !complete);
        if told && undo.was_delayed(self.stamps, ack.echo) {
            if self.mode == Mode::Recovery && !complete {
                self.rack.reordering = true;
                if self.board.has_retransmissions() {
                    self.holds_repairs = true;
                    return;
                }
            } else if self.mode == Mode::Recovery {
                self.board.judge_again();
            }
            self.undo_reduction("timestamps");
        } else if all_duplicates {
            self.board.judge_again();
            self.undo_reduction("DSACK");
        } else if self.mode == Mode::Timeout {
            self.doubt_further(ack, advanced, delivered);
        }
    }

    /// RFC 5682 section 3.1, steps 2 and 3; without selective acknowledgements section 2.1.
    #[cold]
    fn doubt_further(&mut self, ack: &Ack, advanced: bool, delivered: &[Sent]) {
        let Some(doubt) = self.doubt else { return };
        let original = |sent: &Sent| !sent.retransmitted && sent.end <= self.recover;
        // Without selective acknowledgements, data that was not retransmitted may have waited beyond a gap that the
        // retransmission has filled (section 2.1).
        let filled = !self.agreed.sack && delivered.iter().any(|sent| sent.retransmitted);
        if !filled && delivered.iter().any(original) {
            self.undo_reduction("F-RTO");
            return;
        }
        let told = ack.count > 0 || !advanced;
        self.doubt = match doubt {
            Doubt::First if advanced => Some(Doubt::Second),
            Doubt::Second if !told => Some(Doubt::Second),
            Doubt::First | Doubt::Second => None,
        };
    }

    #[cold]
    fn undo_reduction(&mut self, evidence: &str) {
        self.control.on_spurious(evidence);
        self.undo = None;
        if matches!(self.mode, Mode::Recovery | Mode::Timeout) {
            self.board.restore_lost();
            self.cap = None;
            self.leave();
        }
    }
}
