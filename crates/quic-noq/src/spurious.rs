//! Losses that prove spurious: packets declared lost that are acknowledged later. The stack reports only that all of
//! them were, by which it undoes a reduction.

use std::collections::BTreeSet;

use super::frames::{Frame, Frames};

/// The 1-RTT packets declared lost that no acknowledgement has covered since, the latest [`Self::REMEMBERED`] of them.
#[derive(Debug, Default)]
pub(super) struct LostPackets {
    numbers: BTreeSet<u64>,
    /// Those that were acknowledged after all.
    pub(super) spurious: u64,
}

impl LostPackets {
    /// How many are remembered: more than a receiver reports ranges for.
    const REMEMBERED: usize = 65_536;

    /// A packet was declared lost.
    pub(super) fn insert(&mut self, packet: u64) {
        self.numbers.insert(packet);
        if self.numbers.len() > Self::REMEMBERED {
            self.numbers.pop_first();
        }
    }

    /// Whether nothing was declared lost without being acknowledged since.
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// A packet with this payload was received: removes what it acknowledges.
    pub(super) fn on_received(&mut self, payload: &[u8]) {
        let mut frames = Frames::new(payload);
        while let Some(frame) = frames.next_frame() {
            if let Frame::Ack { largest, first_range, more, .. } = frame {
                self.acknowledge(largest, first_range, more);
            }
        }
    }

    /// RFC 9000 section 19.3.1: ranges follow each other downwards.
    fn acknowledge(&mut self, mut largest: u64, first_range: u64, more: &[u8]) {
        let mut smallest = largest.saturating_sub(first_range);
        let mut ranges = Frames::new(more);
        loop {
            while let Some(&packet) = self.numbers.range(smallest..=largest).next() {
                self.numbers.remove(&packet);
                self.spurious += 1;
            }
            let (Some(gap), Some(range)) = (ranges.varint(), ranges.varint()) else { return };
            let Some(next) = smallest.checked_sub(gap + 2) else { return };
            (largest, smallest) = (next, next.saturating_sub(range));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_searched() {
        let mut lost = LostPackets::default();
        (0..=9).for_each(|packet| lost.insert(packet));
        // ACK of 9 and 8, a gap of two, and 5 to 3.
        lost.on_received(&[0x02, 9, 0, 1, 1, 1, 2]);
        assert_eq!((lost.spurious, lost.is_empty()), (5, false));
        assert!(lost.numbers.into_iter().eq([0, 1, 2, 6, 7]));
    }
}
