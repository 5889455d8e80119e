//! Ranges of a byte stream: data received, or reported, beyond a gap.

use std::collections::BTreeMap;

/// Disjoint ranges that do not touch, from the first byte to the byte after the last.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeSet {
    ends: BTreeMap<u64, u64>,
}

impl RangeSet {
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.ends.clear();
    }

    /// The range that contains `offset`.
    pub(super) fn containing(&self, offset: u64) -> Option<(u64, u64)> {
        let (&start, &end) = self.ends.range(..=offset).next_back()?;
        (offset < end).then_some((start, end))
    }

    /// The range with the lowest start.
    pub(super) fn first(&self) -> Option<(u64, u64)> {
        self.ends.first_key_value().map(|(&start, &end)| (start, end))
    }

    /// Adds a range; returns the merged range.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> (u64, u64) {
        let (mut start, mut end) = (start, end);
        while let Some((&first, &last)) = self.ends.range(..=end).next_back()
            && last >= start
        {
            self.ends.remove(&first);
            start = start.min(first);
            end = end.max(last);
        }
        self.ends.insert(start, end);
        (start, end)
    }

    /// Removes everything below `offset`.
    pub(super) fn remove_below(&mut self, offset: u64) {
        while let Some(entry) = self.ends.first_entry().filter(|entry| *entry.key() < offset) {
            let end = entry.remove();
            if end > offset {
                self.ends.insert(offset, end);
            }
        }
    }

    /// The first part of the range from `start` to `end` that is not in the set.
    pub(super) fn first_gap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let start = self.containing(start).map_or(start, |(_, covered)| covered);
        if start >= end {
            return None;
        }
        let next = self.ends.range(start..end).next();
        Some((start, next.map_or(end, |(&next, _)| next)))
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
