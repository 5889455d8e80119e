//! Ranges of a byte stream: data received, or reported, beyond a gap.

use std::collections::VecDeque;
use std::ops::Range;

/// Disjoint ranges that do not touch, from the first byte to the byte after the last.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    /// In order. Most changes are at one of the ends: data arrives behind the last gap, and repairs close the first.
    ranges: VecDeque<(u64, u64)>,
}

impl RangeSet {
    /// Whether no offset is in a range.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many ranges there are.
    #[cfg(any(test, feature = "testing"))]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The place of the first range that ends after `offset`.
    fn place(&self, offset: u64) -> usize {
        match self.ranges.back() {
            Some(&(start, end)) if offset >= start => self.ranges.len() - usize::from(offset < end),
            _ => self.ranges.partition_point(|(_, end)| *end <= offset),
        }
    }

    /// The range that contains `offset`.
    pub fn containing(&self, offset: u64) -> Option<(u64, u64)> {
        self.ranges.get(self.place(offset)).copied().filter(|(start, _)| *start <= offset)
    }

    /// The range with the lowest start.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.ranges.front().copied()
    }

    /// Adds a range; returns the merged range.
    pub fn insert(&mut self, start: u64, end: u64) -> (u64, u64) {
        let touched = self.touched(start, end);
        if touched.is_empty() {
            self.ranges.insert(touched.start, (start, end));
            return (start, end);
        }
        let (first, _) = self.ranges[touched.start];
        let (_, last) = self.ranges[touched.end - 1];
        let merged = (start.min(first), end.max(last));
        self.ranges[touched.start] = merged;
        if touched.len() > 1 {
            self.ranges.drain(touched.start + 1..touched.end);
        }
        merged
    }

    /// The places of the ranges that a range overlaps or touches; where it belongs if there are none.
    fn touched(&self, start: u64, end: u64) -> Range<usize> {
        let first = self.place(start.saturating_sub(1));
        let overlapping = self.ranges.range(first..).take_while(|(other, _)| *other <= end);
        first..first + overlapping.count()
    }

    /// Removes a range, or what is there of it.
    pub fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let mut place = self.place(start);
        while let Some(&(first, last)) = self.ranges.get(place).filter(|(first, _)| *first < end) {
            match (first < start, last > end) {
                (true, true) => {
                    self.ranges[place].1 = start;
                    self.ranges.insert(place + 1, (end, last));
                    return;
                }
                (true, false) => {
                    self.ranges[place].1 = start;
                    place += 1;
                }
                (false, true) => {
                    self.ranges[place].0 = end;
                    return;
                }
                (false, false) => {
                    self.ranges.remove(place);
                }
            }
        }
    }

    /// Removes everything below `offset`.
    pub fn remove_below(&mut self, offset: u64) {
        while let Some((start, end)) = self.ranges.front_mut().filter(|(start, _)| *start < offset)
        {
            if *end > offset {
                *start = offset;
                return;
            }
            self.ranges.pop_front();
        }
    }

    /// The first part of the range from `start` to `end` that is not in the set.
    pub fn first_gap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut place = self.place(start);
        let mut start = start;
        if let Some((_, covered)) = self.ranges.get(place).filter(|(first, _)| *first <= start) {
            start = *covered;
            place += 1;
        }
        if start >= end {
            return None;
        }
        let next = self.ranges.get(place).map_or(end, |(next, _)| end.min(*next));
        Some((start, next))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_that_touch_are_one() {
        let mut set = RangeSet::default();
        assert_eq!(set.insert(10, 20), (10, 20));
        assert_eq!(set.insert(30, 40), (30, 40));
        assert_eq!(set.insert(20, 30), (10, 40));
        assert_eq!(set.containing(39), Some((10, 40)));
        assert_eq!(set.containing(40), None);
        assert_eq!(set.first_gap(0, 100), Some((0, 10)));
        assert_eq!(set.first_gap(15, 100), Some((40, 100)));
        assert_eq!(set.first_gap(15, 40), None);
    }

    proptest! {
        /// Compares the set with a plain list of its bytes.
        #[test]
        fn a_set_knows_its_bytes(steps in prop::collection::vec((0u64..60, 1u64..9, 0u8..8), 1..40)) {
            let (mut set, mut bytes) = (RangeSet::default(), [false; 70]);
            for (start, len, step) in steps {
                if step == 0 {
                    set.remove_below(start);
                    bytes[..start as usize].fill(false);
                } else if step == 1 {
                    set.remove(start, start + len);
                    bytes[start as usize..(start + len) as usize].fill(false);
                } else {
                    let (first, last) = set.insert(start, start + len);
                    bytes[start as usize..(start + len) as usize].fill(true);
                    prop_assert!(bytes[first as usize..last as usize].iter().all(|byte| *byte));
                    prop_assert!(first == 0 || !bytes[first as usize - 1]);
                    prop_assert!(!bytes[last as usize]);
                }
                for offset in 0..69u64 {
                    prop_assert_eq!(set.containing(offset).is_some(), bytes[offset as usize]);
                    let gap = (offset..69).find(|byte| !bytes[*byte as usize]).map(|from| {
                        let to = (from..69).find(|byte| bytes[*byte as usize]).unwrap_or(69);
                        (from, to)
                    });
                    prop_assert_eq!(set.first_gap(offset, 69), gap);
                }
                prop_assert_eq!(set.is_empty(), !bytes.contains(&true));
            }
        }
    }
}
