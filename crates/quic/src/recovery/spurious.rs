//! Losses that prove spurious: packets declared lost that are acknowledged later. They cannot be told from acknowledgements
//! of retransmissions by anything but their numbers.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};

use super::packet::SentPacket;
use crate::wire::{Ack, AckRange};

/// How many lost packets are remembered.
const REMEMBERED: usize = 65_536;
/// Probe timeouts for which they are remembered.
const TIMEOUTS: u64 = 3;

/// Packets of a space declared lost that no acknowledgement has covered since, by number.
#[derive(Debug, Default)]
pub(super) struct LostPackets {
    records: VecDeque<Record>,
    /// Ranges of the last acknowledgement that was compared with them, from the largest numbers on. An acknowledged packet is
    /// never declared lost afterwards, so ranges that the next acknowledgement repeats need no second comparison.
    compared: Vec<AckRange>,
}

#[derive(Debug)]
struct Record {
    packet: SentPacket,
    declared: SimTime,
    /// The reduction of the window it belongs to.
    reduction: u64,
}

/// The last reduction of a path's window, and the losses behind it.
#[derive(Debug)]
pub(super) struct Reduction {
    /// Its number.
    number: u64,
    /// Lost packets that belong to it and have not proved spurious.
    open: usize,
    /// Whether something other than remembered losses calls for it: marks, or losses long past.
    justified: bool,
}

impl Default for Reduction {
    /// None yet, so that there is nothing to undo.
    fn default() -> Self {
        Self { number: 0, open: 0, justified: true }
    }
}

impl Reduction {
    /// A new recovery period begins: the window is reduced anew.
    pub(super) fn begin(&mut self) {
        *self = Self { number: self.number + 1, open: 0, justified: false };
    }

    /// Nothing is left to undo.
    pub(super) fn settle(&mut self) {
        *self = Self { number: self.number + 1, open: 0, justified: true };
    }

    /// Marks or old losses justify it.
    pub(super) fn justify(&mut self) {
        self.justified = true;
    }

    /// Whether all losses behind it have proved spurious. Says so once.
    pub(super) fn take_undo(&mut self) -> bool {
        let undo = self.open == 0 && !self.justified;
        self.justified |= undo;
        undo
    }

    fn forget(&mut self, record: &Record) {
        if record.reduction == self.number {
            self.open -= 1;
            self.justified = true;
        }
    }
}

impl LostPackets {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Packets were declared lost, in order of their numbers; `reduction` is the one they belong to.
    pub(super) fn extend(
        &mut self,
        now: SimTime,
        pto: SimDuration,
        lost: &[SentPacket],
        reduction: &mut Reduction,
    ) {
        while let Some(record) = self.records.front()
            && record.declared + pto * TIMEOUTS < now
        {
            self.forget_first(reduction);
        }
        for packet in lost.iter().filter(|packet| packet.in_flight) {
            if self.records.len() == REMEMBERED {
                self.forget_first(reduction);
            }
            reduction.open += 1;
            let (packet, reduction) = (packet.clone(), reduction.number);
            self.records.push_back(Record { packet, declared: now, reduction });
        }
    }

    fn forget_first(&mut self, reduction: &mut Reduction) {
        if let Some(record) = self.records.pop_front() {
            reduction.forget(&record);
        }
    }

    /// Moves the packets that `ack` covers to `late`, in order.
    pub(super) fn acknowledge(
        &mut self,
        ack: &Ack,
        reduction: &mut Reduction,
        late: &mut Vec<SentPacket>,
    ) {
        let (Some(first), Some(last)) = (self.records.front(), self.records.back()) else { return };
        let (first, last) = (first.packet.number, last.packet.number);
        let is_apart = |range: &AckRange| range.largest < first || range.smallest > last;
        let mut rest = ack.ranges.iter().rev().peekable();
        while rest.next_if(|range| range.largest < first).is_some() {}
        let mut compared = self.compared.iter().rev().peekable();
        for range in rest.take_while(|range| range.smallest <= last) {
            while compared.next_if(|known| known.largest < range.smallest).is_some() {}
            let covers = |known: &&AckRange| {
                known.smallest <= range.smallest && range.largest <= known.largest
            };
            if compared.peek().copied().is_some_and(|known| covers(&known)) {
                continue;
            }
            let place = |number| self.records.partition_point(|r| r.packet.number < number);
            let (from, to) = (place(range.smallest), place(range.largest + 1));
            if from < to {
                for record in self.records.drain(from..to) {
                    reduction.open -= usize::from(record.reduction == reduction.number);
                    late.push(record.packet);
                }
            }
        }
        self.compared.clear();
        self.compared.extend(ack.ranges.iter().filter(|range| !is_apart(range)));
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self, reduction: &mut Reduction) {
        while !self.is_empty() {
            self.forget_first(reduction);
        }
    }
}
