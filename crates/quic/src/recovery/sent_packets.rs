//! The packets of a space that are neither acknowledged nor lost, by number.

use std::collections::VecDeque;

use super::packet::SentPacket;
use super::persistent::LostRun;
use crate::wire::AckRange;

/// Slots that packets which nobody has to acknowledge may hold.
const MOST_SILENT: usize = 1_024;

/// A ring with a slot for every number from that of the oldest outstanding packet on. All of it costs O(1) per packet:
/// loss detection leaves no packet outstanding that is three numbers below the largest acknowledged.
#[derive(Debug, Default)]
pub(super) struct SentPackets {
    pub(super) first: u64,
    pub(super) slots: VecDeque<Slot>,
    /// Ack-eliciting packets outstanding.
    pub(super) eliciting: usize,
    /// The largest number acknowledged.
    pub(super) largest_acked: Option<u64>,
    pub(super) run: LostRun,
    /// Whether acknowledged packets have left the ring that ended the run.
    pub(super) cleared: bool,
}

/// The place of a packet number.
#[derive(Debug)]
pub(super) enum Slot {
    Outstanding(SentPacket),
    Acked,
    /// Never sent.
    Skipped,
}

impl Slot {
    /// Takes an outstanding packet out.
    #[inline]
    pub(super) fn take(&mut self) -> Option<SentPacket> {
        match self {
            Self::Outstanding(_) => match std::mem::replace(self, Self::Acked) {
                Self::Outstanding(packet) => Some(packet),
                Self::Acked | Self::Skipped => None,
            },
            Self::Acked | Self::Skipped => None,
        }
    }
}

impl SentPackets {
    /// The number after the last one used.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(super) fn largest_acked(&self) -> Option<u64> {
        self.largest_acked
    }

    #[inline]
    pub(super) fn has_eliciting(&self) -> bool {
        self.eliciting > 0
    }

    /// The oldest ack-eliciting packet outstanding.
    #[cold]
    pub(super) fn oldest_eliciting(&self) -> Option<&SentPacket> {
        self.slots.iter().find_map(|slot| match slot {
            Slot::Outstanding(packet) if packet.ack_eliciting => Some(packet),
            Slot::Outstanding(_) | Slot::Acked | Slot::Skipped => None,
        })
    }

    /// Adds a packet just sent. Numbers left out count as never sent.
    pub(super) fn insert(&mut self, packet: SentPacket) {
        debug_assert!(packet.number >= self.next(), "packet {} was sent before", packet.number);
        while self.next() < packet.number {
            self.slots.push_back(Slot::Skipped);
        }
        self.eliciting += usize::from(packet.ack_eliciting);
        self.slots.push_back(Slot::Outstanding(packet));
        if self.slots.len() > MOST_SILENT {
            self.drop_silent();
        }
    }

    /// An endpoint that only acknowledges may never be acknowledged: its oldest packets are forgotten.
    #[inline]
    fn drop_silent(&mut self) {
        while self.slots.len() > MOST_SILENT
            && let Some(Slot::Outstanding(SentPacket { in_flight: false, .. })) = self.slots.front()
        {
            self.slots.pop_front();
            self.first += 1;
        }
    }

    /// Whether nothing of a range and what is below is in the ring.
    #[inline]
    pub(super) fn is_past(&self, range: AckRange) -> bool {
        range.largest < self.first
    }

    /// Moves the outstanding packets of `range` to `acked`. Returns whether all numbers in it were sent, as far as is known.
    pub(super) fn acknowledge(&mut self, range: AckRange, acked: &mut Vec<SentPacket>) -> bool {
        if range.largest >= self.next() {
            return false;
        }
        self.largest_acked = self.largest_acked.max(Some(range.largest));
        let Some(to) = range.largest.checked_sub(self.first) else { return true };
        if range.smallest <= self.first {
            return self.acknowledge_oldest(to + 1, acked);
        }
        let from = range.smallest - self.first;
        let mut sent = true;
        for slot in self.slots.range_mut(from as usize..=to as usize) {
            if let Some(packet) = slot.take() {
                self.eliciting -= usize::from(packet.ack_eliciting);
                acked.push(packet);
            } else if let Slot::Skipped = slot {
                sent = false;
            }
        }
        sent
    }

    /// The same for a range from the oldest packet on. No slot is left of it.
    #[inline]
    fn acknowledge_oldest(&mut self, count: u64, acked: &mut Vec<SentPacket>) -> bool {
        let mut sent = true;
        for _ in 0..count {
            match self.slots.pop_front() {
                Some(Slot::Outstanding(packet)) => {
                    self.eliciting -= usize::from(packet.ack_eliciting);
                    self.cleared = true;
                    acked.push(packet);
                }
                Some(Slot::Acked) => self.cleared = true,
                Some(Slot::Skipped) | None => sent = false,
            }
        }
        self.first += count;
        sent
    }

    /// Whether a packet is outstanding that is older than one acknowledged.
    #[inline]
    pub(super) fn has_gap(&self) -> bool {
        self.largest_acked.is_some_and(|largest| largest >= self.first)
    }

    /// A packet that [`detect_lost`](Self::detect_lost) found was acknowledged after all.
    pub(super) fn on_late(&mut self, number: u64) {
        self.run.on_late(number);
    }

    /// All outstanding packets.
    pub(super) fn outstanding_mut(&mut self) -> impl Iterator<Item = &mut SentPacket> {
        self.slots.iter_mut().filter_map(|slot| match slot {
            Slot::Outstanding(packet) => Some(packet),
            Slot::Acked | Slot::Skipped => None,
        })
    }

    /// The packet sent last, unless it is settled.
    pub(super) fn latest(&self) -> Option<&SentPacket> {
        match self.slots.back()? {
            Slot::Outstanding(packet) => Some(packet),
            Slot::Acked | Slot::Skipped => None,
        }
    }

    /// Takes all outstanding packets out, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = SentPacket> {
        self.first = self.next();
        self.eliciting = 0;
        self.run.on_acked();
        self.slots.drain(..).filter_map(|mut slot| slot.take())
    }
}
