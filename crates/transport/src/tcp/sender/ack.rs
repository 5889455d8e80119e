//! Processing of acknowledgements.

use leobench_base::{SimDuration, SimTime};
use smallvec::SmallVec;

use super::prr::Reduction;
use super::scoreboard::{Delivered, Fate, Sent};
use super::undo::Undo;
use super::{Mode, Sender};
use crate::endpoint::Evidence;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::sequence::Stamps;

/// Number of duplicate acknowledgements that indicate a loss (RFC 5681 section 3.2).
const DUPLICATE_THRESHOLD: u64 = 3;

/// An acknowledgement, in offsets.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Ack {
    /// Its own offset in the peer's stream.
    pub(in crate::tcp) start: u64,
    /// Next byte expected.
    pub(in crate::tcp) next: u64,
    /// The byte after the last one in the window.
    pub(in crate::tcp) edge: u64,
    /// Ranges received beyond a gap, or twice.
    pub(in crate::tcp) blocks: [(u64, u64); 4],
    /// Number of valid blocks.
    pub(in crate::tcp) count: usize,
    /// The timestamp echoed.
    pub(in crate::tcp) echo: Option<u32>,
    /// Whether it echoes a mark.
    pub(in crate::tcp) ece: bool,
    /// Whether it carries nothing else.
    pub(in crate::tcp) empty: bool,
}

impl Ack {
    /// Whether it says nothing about data from `una` on.
    pub(in crate::tcp) fn has_no_news(&self, una: u64) -> bool {
        self.next <= una && self.count == 0 && !self.ece
    }

    /// The range received twice, if the first block reports one (RFC 2883 section 4), and the number of such blocks.
    fn duplicate(&self) -> Option<(u64, u64)> {
        let (start, end) = *self.blocks[..self.count].first()?;
        let within = |&(first, last): &(u64, u64)| first <= start && end <= last;
        let inside = self.blocks[..self.count].get(1).is_some_and(within);
        (end <= self.next || inside).then_some((start, end))
    }
}

impl Sender {
    /// An acknowledgement came.
    pub(in crate::tcp) fn on_ack(&mut self, now: SimTime, ack: &Ack) {
        if ack.next > self.nxt {
            return;
        }
        if self.is_at_rest(ack) {
            self.open_window(ack);
            self.holds_repairs = false;
            return;
        }
        let flight = self.flying();
        let opened = self.open_window(ack);
        let advanced = ack.next > self.una;
        let mut sents = Delivered::new();
        let duplicate = self.take(ack, advanced, &mut sents);
        self.measure(now, ack, advanced, &sents);
        let delivered = self.count_delivered(ack, advanced, opened, &sents);
        self.tell_rack(now, ack, &sents);
        if let Some((start, end)) = duplicate.filter(|_| self.probe.is_none()) {
            self.rack.on_duplicate(self.nxt);
            self.control.totals.spurious_losses += (end - start).div_ceil(self.agreed.mss);
        }
        self.reconsider(ack, advanced, duplicate, &sents);
        if self.is_recovering() && self.una >= self.recover {
            if self.mode == Mode::Marked && self.una == self.recover {
                // The receiver repeats the mark until it has the segment that answers it, which is the next (RFC 3168
                // section 6.1.2): what it repeats now is no new mark.
                self.reduction = None;
            } else {
                self.rack.on_recovered();
                self.leave();
            }
        }
        self.lost.clear();
        if !self.holds_repairs {
            self.detect(now);
            self.detect_by_duplicates(advanced);
        }
        let lossy = !self.lost.is_empty();
        let marked = ack.ece && self.agreed.ecn && self.mode == Mode::Open;
        // Congestion first, as in RFC 9002 appendix A.7: what reveals it lets nothing grow.
        self.judge_probe(now, ack, advanced, duplicate);
        if marked {
            self.on_mark(now, flight);
        }
        if lossy {
            self.on_losses(now, flight);
        }
        let lost: u64 = self.lost.iter().map(Sent::size).sum();
        let suspicious = !advanced || marked || lossy;
        self.tell_controller(now, flight.saturating_sub(lost), ack.echo, suspicious, &sents);
        let safe = advanced && !lossy;
        let (pipe, ssthresh) = (self.flying(), self.control.window());
        if let Some(reduction) = &mut self.reduction {
            reduction.on_ack(delivered, pipe, ssthresh, self.agreed.mss, safe);
        }
        self.cap = self.cap.map(|cap| cap + delivered).filter(|cap| *cap < ssthresh);
        if advanced {
            self.restart_timer(now);
        } else if !sents.is_empty() {
            self.schedule(now);
        }
    }

    /// Whether an acknowledgement brings nothing but a window: with nothing in flight and nothing to decide, it has no news.
    /// So it is at the end that receives a transfer, in every segment.
    fn is_at_rest(&self, ack: &Ack) -> bool {
        ack.has_no_news(self.una) && self.is_calm()
    }

    /// Whether nothing is in flight and nothing to decide.
    fn is_calm(&self) -> bool {
        let whole = self.mode == Mode::Open && self.reduction.is_none() && self.cap.is_none();
        whole && self.board.is_empty() && self.probe.is_none()
    }

    /// Whether there is nothing to do, now that there was nothing more to send: acknowledgements [without news](Ack::has_no_news)
    /// only update the receiver's window.
    pub(in crate::tcp) fn may_rest(&self, outgoing: &Outgoing) -> bool {
        let sent = outgoing.available(self.nxt) == 0 && !outgoing.fin_at(self.nxt);
        sent && self.is_calm() && self.forced.is_none() && !self.holds_repairs
    }

    /// RFC 9293 section 3.10.7.4: the latest segment sets the window, and may shrink it. Returns whether the window
    /// opened.
    pub(in crate::tcp) fn open_window(&mut self, ack: &Ack) -> bool {
        if (ack.start, ack.next) < self.window_from {
            return false;
        }
        self.window_from = (ack.start, ack.next);
        self.largest_window = self.largest_window.max(ack.edge.saturating_sub(ack.next));
        let opened = ack.edge > self.edge;
        self.edge = ack.edge;
        if opened {
            self.window_probes = 0;
        }
        opened
    }

    /// Updates the scoreboard: appends the segments delivered, and returns the range that the receiver got twice.
    fn take(&mut self, ack: &Ack, advanced: bool, delivered: &mut Delivered) -> Option<(u64, u64)> {
        let duplicate = ack.duplicate();
        if advanced {
            self.una = ack.next;
            self.board.acknowledge(self.una, delivered);
            self.rack.on_advance(self.una);
        }
        if self.agreed.sack {
            let told = usize::from(duplicate.is_some());
            let blocks = &ack.blocks[told.min(ack.count)..ack.count];
            let is_valid = |(start, end): &(u64, u64)| start < end && *end <= self.nxt;
            let mut blocks: SmallVec<[_; 4]> = blocks.iter().copied().filter(is_valid).collect();
            if !blocks.is_empty() {
                // In sequence order, for RACK's detection of reordering (RFC 8985 section 6.2, step 3).
                blocks.sort_unstable();
                self.board.sack_all(&blocks, delivered);
            }
        }
        duplicate
    }

    /// Measures the round trip by the latest segment delivered, unless any of them was a retransmission: the repair may
    /// have triggered the acknowledgement of all (Karn's rule, RFC 6298 section 3; `FLAG_RETRANS_DATA_ACKED` in Linux).
    /// In that case the timestamp is used (RFC 7323 section 4).
    fn measure(&mut self, now: SimTime, ack: &Ack, advanced: bool, delivered: &[Sent]) {
        let ambiguous = delivered.iter().any(|sent| sent.retransmitted);
        let latest = delivered.iter().map(|sent| sent.at).max().filter(|_| !ambiguous);
        let sample = match (latest, ack.echo) {
            (Some(at), _) => now.saturating_since(at),
            (None, Some(echo)) if advanced => self.stamps.since(now, echo),
            _ => return,
        };
        self.rtt.sample(sample);
        self.control.rtts.record(sample.as_nanos());
    }

    fn tell_rack(&mut self, now: SimTime, ack: &Ack, delivered: &[Sent]) {
        let min_rtt = self.rtt.assumed().min;
        for sent in delivered {
            let ambiguous = ack.echo.is_some_and(|echo| self.stamps.precedes(echo, sent.at));
            self.rack.on_delivered(now, sent, min_rtt, ambiguous);
        }
    }

    /// Reports delivered segments to the controller. Beyond a gap that may be a loss (`suspicious`) the window does not
    /// grow (RFC 3042 section 2), unless reordering has been seen, as in Linux.
    fn tell_controller(
        &mut self,
        now: SimTime,
        flight: u64,
        echo: Option<u32>,
        suspicious: bool,
        delivered: &[Sent],
    ) {
        if delivered.is_empty() {
            return;
        }
        let reducing = matches!(self.mode, Mode::Marked | Mode::Recovery);
        let recovering = reducing || suspicious && !self.rack.reordering;
        // RFC 7323 section 4.3: the receiver echoes the segment that advanced it, or an earlier one.
        let proven = |sent: &Sent| echo.is_some_and(|echo| !self.stamps.precedes(echo, sent.at));
        let ambiguous = |sent: &Sent| sent.retransmitted && !proven(sent);
        if !self.agreed.sack && echo.is_some() {
            let early = |sent: &&Sent| sent.fate == Fate::Flying && ambiguous(sent);
            let spurious = delivered.iter().filter(early).count();
            self.control.totals.spurious_losses += spurious as u64;
        }
        let rtt = self.rtt.assumed();
        self.control.on_delivered(now, delivered, flight, rtt, recovering, ambiguous);
    }

    /// Bytes newly delivered. Without selective acknowledgements, every duplicate one stands for a segment (RFC 6582);
    /// the next cumulative acknowledgement does not count it again. Duplicates that cover nothing beyond the last recovery come
    /// from its own repairs, and count for nothing (section 3.2, step 1).
    fn count_delivered(
        &mut self,
        ack: &Ack,
        advanced: bool,
        opened: bool,
        delivered: &[Sent],
    ) -> u64 {
        let bytes = delivered.iter().map(Sent::size).sum();
        if self.agreed.sack {
            return bytes;
        }
        if advanced {
            let known = self.duplicates.min(delivered.len().saturating_sub(1) as u64);
            self.duplicates -= known;
            return bytes.saturating_sub(known * self.agreed.mss);
        }
        let of_repairs = self.mode == Mode::Open && self.una == self.recover && self.recover > 0;
        if ack.next != self.una || !ack.empty || opened || self.board.is_empty() || of_repairs {
            return 0;
        }
        self.duplicates += 1;
        self.agreed.mss
    }

    /// Bytes that have left the network according to duplicate acknowledgements.
    pub(super) fn overtaken(&self) -> u64 {
        if self.agreed.sack {
            return 0;
        }
        let others = self.board.len().saturating_sub(1) as u64;
        self.duplicates.min(others) * self.agreed.mss
    }

    /// Detects losses with RACK.
    pub(super) fn detect(&mut self, now: SimTime) {
        self.lost.clear();
        if self.agreed.sack {
            let recovering = matches!(self.mode, Mode::Recovery | Mode::Timeout);
            let rtt = self.rtt.assumed();
            self.rack.detect(now, &mut self.board, rtt, recovering, &mut self.lost);
        }
    }

    /// Detects losses without selective acknowledgements: by three duplicates, and in recovery by every partial
    /// acknowledgement (RFC 6582 section 3.2).
    #[inline(never)]
    fn detect_by_duplicates(&mut self, advanced: bool) {
        let Some(first) = self.board.first().filter(|_| !self.agreed.sack) else { return };
        let repairing = matches!(self.mode, Mode::Recovery | Mode::Timeout);
        let third = !repairing && !advanced && self.duplicates == DUPLICATE_THRESHOLD;
        let partial = self.mode == Mode::Recovery && advanced;
        let sent = *self.board.get(first);
        if sent.fate == Fate::Flying && (third || partial) {
            self.board.lose(first);
            self.lost.push(sent);
        }
    }

    /// Starts a recovery for the losses, or repairs them in the current one. Before, `flight` bytes were in flight.
    #[cold]
    pub(super) fn on_losses(&mut self, now: SimTime, flight: u64) {
        let before = self.control.window();
        // The response to a mark also covers losses of the same round trip (RFC 3168 section 6.1.2).
        self.control.on_loss(now, &self.lost, Evidence::Acks, self.mode != Mode::Open);
        match self.mode {
            Mode::Open => {
                self.undo = Some(Undo::new(self.una));
                self.lead_down(before, flight);
                self.enter(Mode::Recovery);
            }
            Mode::Marked => {
                self.undo = None;
                self.enter(Mode::Recovery);
            }
            Mode::Recovery | Mode::Timeout => {}
        }
    }

    /// RFC 3168 section 6.1.2.
    #[cold]
    fn on_mark(&mut self, now: SimTime, flight: u64) {
        let before = self.control.window();
        self.control.on_mark(now, self.last_sent);
        self.undo = None;
        self.tell_reduced = true;
        self.lead_down(before, flight);
        self.enter(Mode::Marked);
    }

    /// Reduces from `flight` bytes in flight to the new window; `before` is the old one. PRR is not necessary if the
    /// controller does not reduce its window or reduces it gradually by itself.
    fn lead_down(&mut self, before: u64, flight: u64) {
        let reduced = !self.control.bypasses_recovery() && self.control.window() < before;
        self.reduction = reduced.then(|| Reduction::new(flight));
    }

    #[cold]
    fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        self.recover = self.nxt;
        self.probe = None;
        self.doubt = None;
    }

    #[cold]
    pub(super) fn leave(&mut self) {
        self.mode = Mode::Open;
        self.reduction = None;
        self.doubt = None;
        self.duplicates = 0;
    }
}

impl Stamps {
    /// Whether a timestamp is earlier than one taken at `at`.
    fn precedes(self, echo: u32, at: SimTime) -> bool {
        Self::is_before(echo, self.at(at))
    }

    /// The age of a timestamp, at least one tick.
    pub(in crate::tcp) fn since(self, now: SimTime, echo: u32) -> SimDuration {
        let ticks = self.at(now).wrapping_sub(echo).max(1);
        SimDuration::from_millis(ticks.into())
    }
}
