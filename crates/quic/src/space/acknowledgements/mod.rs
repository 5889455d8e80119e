//! Packets received in a packet number space, and their acknowledgement (RFC 9000 section 13.2).

mod frequency;
mod ranges;

use leobench_base::{Ecn, SimTime};
use smallvec::SmallVec;

pub(crate) use self::frequency::{AckFrequency, FrequencyState};
use self::ranges::Ranges;
use crate::wire::{Ack, AckRange, EcnCounts, Space, varint_size};

/// Ranges reported at most. Their number less one fits into a byte.
const MOST_RANGES: usize = 64;
/// Ranges remembered at most in order to recognise duplicates. Packets older than all of them count as such (RFC 9000 section
/// 13.2.3).
const MOST_SEEN: usize = 1_024;
/// Packets that ask for no acknowledgement after which one goes along with whatever is sent, for the peer's loss detection.
const SILENT: u32 = 10;
/// Ranges from which on it is worth having an acknowledgement acknowledged (RFC 9000 section 13.2.4).
const MANY_RANGES: usize = 16;

/// Packets received in one packet number space of a path.
#[derive(Debug)]
pub(crate) struct Received {
    space: Space,
    /// All numbers received, but for the oldest: smaller ones than `floor` count as received.
    seen: Ranges,
    floor: u64,
    /// The numbers to report.
    pending: Ranges,
    /// When the packet with the largest number came.
    largest_at: SimTime,
    /// The largest number of an ack-eliciting packet.
    largest_eliciting: Option<u64>,
    /// The largest number reported in an ACK frame.
    largest_reported: Option<u64>,
    ecn: EcnCounts,
    /// Whether the last packet was marked CE.
    congested: bool,
    /// Ack-eliciting packets, and others, received since the last ACK frame.
    eliciting: u64,
    silent: u32,
    immediate: bool,
    /// When an ACK frame is due at the latest.
    deadline: Option<SimTime>,
}

impl Received {
    /// A space in which nothing was received.
    pub(crate) fn new(space: Space) -> Self {
        Self {
            space,
            seen: Ranges::default(),
            floor: 0,
            pending: Ranges::default(),
            largest_at: SimTime::ZERO,
            largest_eliciting: None,
            largest_reported: None,
            ecn: EcnCounts::default(),
            congested: false,
            eliciting: 0,
            silent: 0,
            immediate: false,
            deadline: None,
        }
    }

    /// The largest number received, from which the next one is expanded.
    #[inline]
    pub(crate) fn largest(&self) -> Option<u64> {
        self.seen.largest()
    }

    /// Whether a packet was received before, or is too old to tell.
    #[inline]
    pub(crate) fn is_duplicate(&self, number: u64) -> bool {
        number < self.floor || self.seen.contains(number)
    }

    /// Takes in a packet that was processed and is no duplicate, which arrived with the codepoint `ecn`.
    pub(crate) fn on_packet(
        &mut self,
        now: SimTime,
        number: u64,
        ack_eliciting: bool,
        ecn: Ecn,
        frequency: &AckFrequency,
    ) {
        let is_largest = self.largest().is_none_or(|largest| number > largest);
        if !self.seen.insert(number) {
            return;
        }
        if self.seen.len() > MOST_SEEN
            && let Some(oldest) = self.seen.pop_first()
        {
            self.floor = oldest.largest + 1;
        }
        if is_largest {
            self.largest_at = now;
        }
        self.pending.insert(number);
        if self.pending.len() > MOST_RANGES {
            self.pending.pop_first();
        }
        let was_congested = std::mem::replace(&mut self.congested, ecn == Ecn::Ce);
        self.count(ecn);
        if !ack_eliciting {
            self.silent += 1;
            return;
        }
        self.eliciting += 1;
        let newly_congested = self.congested && (!was_congested || !frequency.is_requested);
        self.immediate |= self.space != Space::Data
            || newly_congested
            || self.eliciting > frequency.threshold
            || self.is_out_of_order(number, frequency.reordering);
        self.largest_eliciting = self.largest_eliciting.max(Some(number));
        if self.deadline.is_none() {
            self.deadline = Some(now + frequency.max_ack_delay);
        }
    }

    fn count(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ecn.ect0 += 1,
            Ecn::Ect1 => self.ecn.ect1 += 1,
            Ecn::Ce => self.ecn.ce += 1,
        }
    }

    /// Whether an ack-eliciting packet is out of order enough to be reported at once. With a threshold of 1: if it came after
    /// a larger one, or with a gap before it (RFC 9000 section 13.2.1). With more: if the report lets the peer find a loss
    /// (draft-ietf-quic-ack-frequency section 6.2).
    fn is_out_of_order(&self, number: u64, threshold: u64) -> bool {
        match threshold {
            0 => false,
            1 => match self.largest_eliciting {
                Some(largest) if number < largest => true,
                Some(largest) => self.is_missing(largest + 1, number),
                None => self.is_missing(0, number),
            },
            _ => {
                let largest = self.largest_eliciting.map_or(number, |largest| largest.max(number));
                let from = match self.largest_reported {
                    Some(reported) => (reported + 1).saturating_sub(threshold),
                    None => 0,
                };
                let missing = self.seen.first_missing(from.max(self.floor), largest);
                missing.is_some_and(|missing| largest - missing >= threshold)
            }
        }
    }

    /// Whether a number from `from` up to but excluding `to` is missing.
    fn is_missing(&self, from: u64, to: u64) -> bool {
        from < to && self.seen.first_missing(from.max(self.floor), to - 1).is_some()
    }

    /// An `IMMEDIATE_ACK` frame was received (draft-ietf-quic-ack-frequency section 5).
    pub(crate) fn on_immediate_ack(&mut self) {
        self.immediate = true;
    }

    /// When an ACK frame is due at the latest.
    #[inline]
    pub(crate) fn timer(&self) -> Option<SimTime> {
        self.deadline
    }

    /// Whether an ACK frame is due, in a packet of its own if there is nothing else to send.
    #[inline]
    pub(crate) fn is_due(&self, now: SimTime) -> bool {
        self.immediate || self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Whether an ACK frame is worth its bytes in a packet that is sent anyway.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.immediate || self.eliciting > 0 || self.silent > SILENT
    }

    /// Whether so many ranges are reported that the next packet should ask for an acknowledgement, so that they can be dropped
    /// (RFC 9000 section 13.2.4). At most one packet per round trip should.
    pub(crate) fn has_many_ranges(&self) -> bool {
        self.pending.len() >= MANY_RANGES
    }

    /// The ACK frame to send now, of at most `room` bytes with its type, whose delay is in units of 2^`exponent`
    /// microseconds; none if nothing is to be reported, or there is no room for it.
    pub(crate) fn ack_frame(&self, now: SimTime, room: u64, exponent: u8) -> Option<Ack> {
        let mut pending = self.pending.descending();
        let first = pending.next()?;
        let delay = (now.saturating_since(self.largest_at).as_nanos() / 1_000) >> exponent;
        let ecn = (self.ecn != EcnCounts::default()).then_some(self.ecn);
        // RFC 9000 section 19.3: type, largest, delay, number of further ranges, first range, ECN counts.
        let fixed = 1 + varint_size(first.largest) + varint_size(delay) + 1;
        let counts = ecn
            .map_or(0, |ecn| varint_size(ecn.ect0) + varint_size(ecn.ect1) + varint_size(ecn.ce));
        let mut size = fixed + counts + varint_size(first.largest - first.smallest);
        if size > room {
            return None;
        }
        let mut ranges = SmallVec::with_capacity(self.pending.len());
        ranges.push(first);
        let mut ack = Ack { ranges, delay, ecn: ecn.map(Box::new) };
        let mut smallest = first.smallest;
        for range in pending {
            size += further_size(smallest, range);
            if size > room {
                break;
            }
            smallest = range.smallest;
            ack.ranges.push(range);
        }
        Some(ack)
    }

    /// The ACK frame was sent.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self) {
        self.largest_reported = self.largest_reported.max(self.pending.largest());
        (self.eliciting, self.silent) = (0, 0);
        self.immediate = false;
        self.deadline = None;
    }

    /// A packet was acknowledged that carried an ACK frame up to `largest`: what it reported need not be reported again (RFC
    /// 9000 section 13.2.4), but for the largest number (section 13.2.3).
    pub(crate) fn on_ack_acked(&mut self, largest: u64) {
        if let Some(last) = self.pending.largest().and_then(|last| last.checked_sub(1)) {
            self.pending.remove_up_to(largest.min(last));
        }
    }
}

/// Bytes of a gap below `smallest`, and of a range (RFC 9000 section 19.3.1).
fn further_size(smallest: u64, range: AckRange) -> u64 {
    varint_size(smallest - range.largest - 2) + varint_size(range.largest - range.smallest)
}

#[cfg(test)]
mod tests;
