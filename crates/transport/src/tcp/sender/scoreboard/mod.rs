//! The scoreboard: the latest transmission of every unacknowledged segment and its state.
//!
//! Segments keep their original bounds. They are stored in sequence order with consecutive numbers: a number finds its
//! segment directly, an offset by bisection. Transmissions are in a second list, in order of time. An obsolete
//! transmission, superseded by a later one or acknowledged, stays in that list until it reaches the front. No operation
//! therefore scans the window, and every operation takes amortised constant or logarithmic time.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use leobench_base::SimTime;
use smallvec::SmallVec;

use crate::ranges::RangeSet;

/// The state of the latest transmission of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Fate {
    /// In flight.
    Flying,
    /// Reported as received beyond a gap (RFC 2018).
    Sacked,
    /// Marked lost and not retransmitted yet.
    Lost,
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Sent {
    /// First byte.
    pub start: u64,
    /// The byte after the last; a FIN counts as a byte.
    pub end: u64,
    /// When it was last sent.
    pub at: SimTime,
    /// The number of that transmission, in order of sending.
    pub transmission: u64,
    /// The state of that transmission.
    pub fate: Fate,
    /// Whether that was a retransmission.
    pub retransmitted: bool,
    /// Whether RACK has taken that transmission for lost.
    overdue: bool,
}

impl Sent {
    /// Bytes of sequence space.
    pub fn size(&self) -> u64 {
        self.end - self.start
    }
}

/// The segments that an acknowledgement newly delivers: a few, unless it fills a gap.
pub(in crate::tcp) type Delivered = SmallVec<[Sent; 8]>;

/// All segments that are not cumulatively acknowledged.
#[derive(Debug, Default)]
#[repr(C)]
pub(in crate::tcp) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// Number of the first of them.
    first: u64,
    flying: u64,
    next_transmission: u64,
    sacked_segments: u64,
    /// Segments in flight that were sent more than once (`retrans_out` in Linux).
    retransmissions: u64,
    /// Numbers of segments and transmissions, in order of the latter.
    transmissions: VecDeque<(u64, u64)>,
    /// Numbers of the lost segments.
    lost: BTreeSet<u64>,
    sacked: RangeSet,
    /// The blocks of the last acknowledgement that had any (`recv_sack_cache` in Linux).
    reported: Blocks,
}

/// Ranges that the receiver reported beyond a gap.
type Blocks = SmallVec<[(u64, u64); 4]>;

impl Scoreboard {
    /// Bytes in flight: sent, and neither acknowledged nor taken for lost (`pipe` of RFC 6675).
    pub fn flying(&self) -> u64 {
        self.flying
    }

    /// Whether a retransmission is in flight.
    pub fn has_retransmissions(&self) -> bool {
        self.retransmissions > 0
    }

    /// Whether everything that was sent is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Number of segments that the receiver reported beyond a gap.
    pub fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }

    /// Number of segments sent and not cumulatively acknowledged.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// The number of the first segment that is not acknowledged.
    pub fn first(&self) -> Option<u64> {
        (!self.segments.is_empty()).then_some(self.first)
    }

    /// The number of the last segment sent.
    pub fn last(&self) -> Option<u64> {
        (!self.segments.is_empty()).then(|| self.first + self.segments.len() as u64 - 1)
    }

    /// The numbers of all segments that are not acknowledged.
    pub fn numbers(&self) -> Range<u64> {
        self.first..self.first + self.segments.len() as u64
    }

    /// The unacknowledged segment with a number.
    pub fn get(&self, number: u64) -> &Sent {
        &self.segments[(number - self.first) as usize]
    }

    /// The first lost segment.
    pub fn first_lost(&self) -> Option<u64> {
        self.lost.first().copied()
    }

    /// Records a new segment; returns the number of the transmission.
    pub fn push(&mut self, now: SimTime, start: u64, end: u64) -> u64 {
        let (number, transmission) = (self.first + self.segments.len() as u64, self.stamp());
        self.transmissions.push_back((number, transmission));
        self.segments.push_back(Sent {
            start,
            end,
            at: now,
            transmission,
            fate: Fate::Flying,
            retransmitted: false,
            overdue: false,
        });
        self.flying += end - start;
        transmission
    }

    /// Records a retransmission; returns its number.
    pub fn note_retransmission(&mut self, now: SimTime, number: u64) -> u64 {
        let transmission = self.stamp();
        self.transmissions.push_back((number, transmission));
        let sent = &mut self.segments[(number - self.first) as usize];
        if sent.fate == Fate::Lost {
            self.lost.remove(&number);
            self.flying += sent.size();
            self.retransmissions += 1;
        } else if !sent.retransmitted {
            self.retransmissions += 1;
        }
        *sent = Sent {
            at: now,
            transmission,
            fate: Fate::Flying,
            retransmitted: true,
            overdue: false,
            ..*sent
        };
        transmission
    }

    fn stamp(&mut self) -> u64 {
        self.next_transmission += 1;
        self.next_transmission - 1
    }

    /// Handles the cumulative acknowledgement of everything below `una`: appends the segments that it newly delivers,
    /// with their previous state.
    pub fn acknowledge(&mut self, una: u64, delivered: &mut Delivered) {
        while let Some(sent) = self.segments.front().copied().filter(|sent| sent.end <= una) {
            match sent.fate {
                Fate::Flying => {
                    self.flying -= sent.size();
                    self.retransmissions -= u64::from(sent.retransmitted);
                }
                Fate::Lost => _ = self.lost.remove(&self.first),
                Fate::Sacked => self.sacked_segments -= 1,
            }
            if sent.fate != Fate::Sacked {
                delivered.push(sent);
            }
            self.segments.pop_front();
            self.first += 1;
        }
        if let Some(sent) = self.segments.front_mut().filter(|sent| sent.start < una) {
            if sent.fate == Fate::Flying {
                self.flying -= una - sent.start;
            }
            sent.start = una;
        }
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una);
        }
        self.drop_overtaken();
    }

    /// Handles the blocks of an acknowledgement, in sequence order: appends the segments that they newly deliver. An
    /// acknowledgement repeats most blocks of the one before (RFC 2018 section 4), which have no news: a receiver acknowledges
    /// no part of a block, so segments that are partly inside one stay so.
    pub fn sack_all(&mut self, blocks: &[(u64, u64)], delivered: &mut Delivered) {
        for block in blocks {
            if !self.reported.contains(block) {
                self.sack(*block, delivered);
            }
        }
        self.reported = Blocks::from_slice(blocks);
    }

    /// Handles a block from `start` to `end`.
    fn sack(&mut self, (start, end): (u64, u64), delivered: &mut Delivered) {
        let Some(una) = self.segments.front().map(|sent| sent.start) else { return };
        let mut from = start.max(una);
        while let Some((gap, to)) = self.sacked.first_gap(from, end) {
            self.sack_whole(gap, to, delivered);
            from = to;
        }
    }

    /// The same within one gap of the known data; segments that are only partly inside do not count.
    fn sack_whole(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
        let first = self.segments.partition_point(|sent| sent.start < start);
        let mut covered = None;
        for (number, sent) in (self.first + first as u64..).zip(self.segments.range_mut(first..)) {
            if sent.end > end {
                break;
            }
            delivered.push(*sent);
            match sent.fate {
                Fate::Flying => {
                    self.flying -= sent.size();
                    self.retransmissions -= u64::from(sent.retransmitted);
                }
                Fate::Lost => _ = self.lost.remove(&number),
                Fate::Sacked => unreachable!("a segment in a gap"),
            }
            sent.fate = Fate::Sacked;
            self.sacked_segments += 1;
            covered = Some((covered.map_or(sent.start, |(from, _)| from), sent.end));
        }
        if let Some((from, to)) = covered {
            self.sacked.insert(from, to);
        }
    }

    /// Marks a segment lost.
    pub fn lose(&mut self, number: u64) {
        let sent = &mut self.segments[(number - self.first) as usize];
        if sent.fate == Fate::Flying {
            sent.fate = Fate::Lost;
            self.flying -= sent.size();
            self.retransmissions -= u64::from(sent.retransmitted);
            self.lost.insert(number);
        }
    }

    /// Marks a segment lost on RACK's behalf, which does not judge this transmission again.
    pub fn lose_overdue(&mut self, number: u64) {
        self.lose(number);
        self.segments[(number - self.first) as usize].overdue = true;
    }

    /// The number of the segment whose latest transmission is the oldest in flight, of those that RACK may judge.
    pub fn oldest_flying(&mut self) -> Option<u64> {
        self.drop_overtaken();
        self.transmissions.front().map(|(number, _)| *number)
    }

    fn drop_overtaken(&mut self) {
        while let Some(&(number, transmission)) = self.transmissions.front() {
            let index = number.checked_sub(self.first).map(|index| index as usize);
            let sent = index.and_then(|index| self.segments.get(index));
            if sent
                .is_some_and(|sent| sent.transmission == transmission && sent.fate == Fate::Flying)
            {
                return;
            }
            self.transmissions.pop_front();
        }
    }

    /// Lets RACK judge lost segments again once their loss is undone.
    pub fn judge_again(&mut self) {
        for number in &self.lost {
            self.segments[(number - self.first) as usize].overdue = false;
        }
    }

    /// Undoes all losses: segments waiting for retransmission are in flight again. Only a timeout marks them again if
    /// RACK marked them before. So it is in Linux, where RACK takes what it marks from its list (`tsorted_sent_queue`).
    #[inline(never)]
    pub fn restore_lost(&mut self) {
        while let Some(number) = self.lost.pop_first() {
            let sent = &mut self.segments[(number - self.first) as usize];
            sent.fate = Fate::Flying;
            self.flying += sent.size();
            self.retransmissions += u64::from(sent.retransmitted);
        }
        let segments = (self.first..).zip(&self.segments);
        let flying = segments.filter(|(_, sent)| sent.fate == Fate::Flying && !sent.overdue);
        self.transmissions = flying.map(|(number, sent)| (number, sent.transmission)).collect();
        self.transmissions
            .make_contiguous()
            .sort_unstable_by_key(|(_, transmission)| *transmission);
    }

    /// The receiver has discarded its data beyond a gap (RFC 2018 section 8): marks all of it lost.
    pub fn renege(&mut self) {
        self.sacked.clear();
        self.reported.clear();
        self.sacked_segments = 0;
        for (number, sent) in (self.first..).zip(&mut self.segments) {
            if sent.fate == Fate::Sacked {
                sent.fate = Fate::Lost;
                self.lost.insert(number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
