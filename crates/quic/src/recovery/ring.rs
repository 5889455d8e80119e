//! The packets of a space that are neither acknowledged nor lost, by number.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

use super::packet::SentPacket;
use super::persistent::LostRun;
use crate::wire::AckRange;

/// `kPacketThreshold` (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// Slots that packets which nobody has to acknowledge may hold.
const MOST_SILENT: usize = 1_024;

/// A ring with a slot for every number from that of the oldest outstanding packet on. All of it costs O(1) per packet:
/// loss detection leaves no packet outstanding that is three numbers below the largest acknowledged.
#[derive(Debug, Default)]
pub(super) struct Ring {
    first: u64,
    slots: VecDeque<Slot>,
    /// Ack-eliciting packets outstanding.
    eliciting: usize,
    /// The largest number acknowledged.
    largest_acked: Option<u64>,
    run: LostRun,
    /// Whether acknowledged packets have left the ring that ended the run.
    cleared: bool,
}

#[derive(Debug)]
enum Slot {
    Outstanding(SentPacket),
    Acked,
    /// Never sent.
    Skipped,
}

impl Slot {
    /// Takes an outstanding packet out.
    #[inline]
    fn take(&mut self) -> Option<SentPacket> {
        match self {
            Self::Outstanding(_) => match std::mem::replace(self, Self::Acked) {
                Self::Outstanding(packet) => Some(packet),
                Self::Acked | Self::Skipped => None,
            },
            Self::Acked | Self::Skipped => None,
        }
    }
}

/// When packets count as lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub now: SimTime,
    /// Time after which a packet is lost if a later one was acknowledged.
    pub delay: SimDuration,
    /// Packets sent until then are no evidence of persistent congestion; none are if it is not set.
    pub since: Option<SimTime>,
}

/// Losses found together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Findings {
    /// When the oldest packet left that is older than an acknowledged one will be lost.
    pub loss_time: Option<SimTime>,
    /// The longest time between two packets lost without anything acknowledged between them.
    pub silence: SimDuration,
}

impl Ring {
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

    /// `DetectAndRemoveLostPackets` (RFC 9002 appendix A.10): moves packets to `lost`. Send times rise with the numbers, so
    /// the first packet that is not lost ends the search.
    pub(super) fn detect_lost(
        &mut self,
        threshold: &Threshold,
        lost: &mut Vec<SentPacket>,
    ) -> Findings {
        let mut findings = Findings::default();
        let Some(largest_acked) = self.largest_acked else { return findings };
        if std::mem::take(&mut self.cleared) {
            self.run.on_acked();
        }
        let mut settled = 0;
        for (number, slot) in (self.first..=largest_acked).zip(self.slots.iter_mut()) {
            match slot {
                Slot::Outstanding(packet) => {
                    let by_number = largest_acked - number >= PACKET_THRESHOLD;
                    let loss_time = packet.at + threshold.delay;
                    if !by_number && loss_time > threshold.now {
                        findings.loss_time = Some(loss_time);
                        break;
                    }
                    let silence = self.run.on_lost(packet, threshold.since);
                    findings.silence = findings.silence.max(silence);
                    self.eliciting -= usize::from(packet.ack_eliciting);
                    lost.extend(slot.take());
                }
                Slot::Acked => self.run.on_acked(),
                Slot::Skipped => {}
            }
            settled += 1;
        }
        self.slots.drain(..settled);
        self.first += settled as u64;
        findings
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
