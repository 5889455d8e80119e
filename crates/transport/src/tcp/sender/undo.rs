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
    repeated: u64,
    /// When the first of them was sent.
    first: Option<SimTime>,
}

impl Undo {
    pub(super) fn new(marker: u64) -> Self {
        Self { marker, repeated: 0, first: None }
    }

    pub(super) fn on_repeated(&mut self, now: SimTime) {
        self.repeated += 1;
        self.first.get_or_insert(now);
    }

    /// The receiver reports a duplicate that starts at `start`; returns whether all retransmissions were duplicates.
    fn on_duplicate(&mut self, start: u64) -> bool {
        if start < self.marker || self.repeated == 0 {
            return false;
        }
        self.repeated -= 1;
        self.repeated == 0
    }

    /// Whether a segment was sent again since, but what was delivered is an earlier transmission of it, as the timestamp
    /// echoed says. It is compared with that of the first retransmission (RFC 3522 section 3.2; `retrans_stamp` in Linux): an
    /// acknowledgement that was delayed echoes the earlier of those it covers.
    fn precedes(&self, sent: &Sent, stamps: Stamps, echo: u32) -> bool {
        let Some(first) = self.first else { return false };
        sent.repeated && sent.at >= first && Stamps::is_before(echo, stamps.at(first))
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
    /// Looks for evidence against the last reduction, and takes it back; `advanced` says that the acknowledgement did,
    /// `duplicate` is what the receiver got twice.
    pub(super) fn reconsider(&mut self, ack: &Ack, advanced: bool, duplicate: Option<(u64, u64)>) {
        let Some(mut undo) = self.undo else { return };
        let all_duplicates = duplicate.is_some_and(|(start, _)| undo.on_duplicate(start));
        self.undo = Some(undo);
        let repairing = matches!(self.mode, Mode::Recovery | Mode::Timeout);
        let precedes = |echo| {
            let mut delivered = self.delivered.iter();
            delivered.any(|sent| sent.end <= self.una && undo.precedes(sent, self.stamps, echo))
        };
        let early = repairing && ack.echo.is_some_and(precedes);
        if early {
            self.take_back("timestamps");
        } else if all_duplicates {
            self.take_back("DSACK");
        } else if self.mode == Mode::Timeout {
            self.doubt_further(ack, advanced);
        }
    }

    /// RFC 5682 section 3.1, steps 2 and 3; without selective acknowledgements section 2.1.
    fn doubt_further(&mut self, ack: &Ack, advanced: bool) {
        let Some(doubt) = self.doubt else { return };
        let original = |sent: &Sent| !sent.repeated && sent.end <= self.recover;
        // Without selective acknowledgements, data that was not retransmitted may have waited beyond a gap that the
        // retransmission has filled (section 2.1).
        let filled = !self.agreed.sack && self.delivered.iter().any(|sent| sent.repeated);
        if !filled && self.delivered.iter().any(original) {
            self.take_back("F-RTO");
            return;
        }
        let told = ack.count > 0 || !advanced;
        self.doubt = match doubt {
            Doubt::First if advanced => Some(Doubt::Second),
            Doubt::Second if !told => Some(Doubt::Second),
            Doubt::First | Doubt::Second => None,
        };
    }

    fn take_back(&mut self, evidence: &str) {
        self.control.on_spurious(evidence);
        self.undo = None;
        if matches!(self.mode, Mode::Recovery | Mode::Timeout) {
            self.board.restore_lost();
            self.cap = None;
            self.leave();
        }
    }
}
