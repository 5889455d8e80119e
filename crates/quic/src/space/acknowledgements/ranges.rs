//! Sets of packet numbers as ranges.

use std::collections::VecDeque;

use crate::wire::AckRange;

/// Ranges of packet numbers in ascending order, no two of which touch. Numbers in order cost O(1).
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(VecDeque<AckRange>);

impl Ranges {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn largest(&self) -> Option<u64> {
        self.0.back().map(|range| range.largest)
    }

    /// The ranges from the largest numbers to the smallest.
    pub(super) fn descending(&self) -> impl Iterator<Item = AckRange> {
        self.0.iter().rev().copied()
    }

    /// The first range that ends at `number` or after it.
    fn place(&self, number: u64) -> usize {
        self.0.partition_point(|range| range.largest < number)
    }

    #[inline]
    pub(super) fn contains(&self, number: u64) -> bool {
        if self.largest().is_none_or(|largest| number > largest) {
            return false;
        }
        self.0.get(self.place(number)).is_some_and(|range| range.smallest <= number)
    }

    /// Adds a number. Returns whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, number: u64) -> bool {
        match self.0.back_mut() {
            Some(last) if number == last.largest + 1 => {
                last.largest = number;
                true
            }
            _ => self.insert_elsewhere(number),
        }
    }

    #[inline(never)]
    fn insert_elsewhere(&mut self, number: u64) -> bool {
        match self.0.back() {
            Some(last) if number <= last.largest => self.insert_before(number),
            _ => {
                self.0.push_back(AckRange { smallest: number, largest: number });
                true
            }
        }
    }

    fn insert_before(&mut self, number: u64) -> bool {
        let place = self.place(number);
        let next = self.0[place];
        if next.smallest <= number {
            return false;
        }
        let joins_next = number + 1 == next.smallest;
        let joins_previous = place > 0 && self.0[place - 1].largest + 1 == number;
        match (joins_previous, joins_next) {
            (true, true) => {
                self.0[place].smallest = self.0[place - 1].smallest;
                self.0.remove(place - 1);
            }
            (true, false) => self.0[place - 1].largest = number,
            (false, true) => self.0[place].smallest = number,
            (false, false) => self.0.insert(place, AckRange { smallest: number, largest: number }),
        }
        true
    }

    /// Removes the range with the smallest numbers.
    pub(super) fn pop_first(&mut self) -> Option<AckRange> {
        self.0.pop_front()
    }

    /// Removes all numbers up to `number`.
    pub(super) fn remove_up_to(&mut self, number: u64) {
        while let Some(first) = self.0.front_mut() {
            if first.largest > number {
                first.smallest = first.smallest.max(number + 1);
                return;
            }
            self.0.pop_front();
        }
    }

    /// The smallest number from `from` up to `to`, both included, that is missing.
    pub(super) fn first_missing(&self, from: u64, to: u64) -> Option<u64> {
        if from > to {
            return None;
        }
        let missing = match self.0.get(self.place(from)) {
            Some(range) if range.smallest <= from => range.largest + 1,
            _ => from,
        };
        (missing <= to).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(numbers: impl IntoIterator<Item = u64>) -> Ranges {
        let mut ranges = Ranges::default();
        for number in numbers {
            ranges.insert(number);
        }
        ranges
    }

    fn pairs(ranges: &Ranges) -> Vec<(u64, u64)> {
        ranges.0.iter().map(|range| (range.smallest, range.largest)).collect()
    }

    #[test]
    fn numbers_join_the_ranges_beside_them() {
        let mut ranges = of([5, 9, 6, 3]);
        assert_eq!(pairs(&ranges), [(3, 3), (5, 6), (9, 9)]);
        assert!(ranges.insert(4) && !ranges.insert(4) && !ranges.insert(6));
        assert_eq!(pairs(&ranges), [(3, 6), (9, 9)]);
        assert!(ranges.insert(8) && ranges.insert(7) && ranges.insert(0));
        assert_eq!(pairs(&ranges), [(0, 0), (3, 9)]);
    }

    #[test]
    fn the_first_missing_number_is_found() {
        let ranges = of([0, 1, 4, 5, 9]);
        assert_eq!(ranges.first_missing(0, 9), Some(2));
        assert_eq!(ranges.first_missing(4, 9), Some(6));
        assert_eq!(ranges.first_missing(3, 9), Some(3));
        assert_eq!(ranges.first_missing(4, 5), None);
        assert_eq!(ranges.first_missing(9, 12), Some(10));
        assert_eq!(ranges.first_missing(11, 12), Some(11));
        assert_eq!(ranges.first_missing(5, 4), None);
    }

    proptest! {
        #[test]
        fn they_are_a_set(
            steps in prop::collection::vec((0_u8..20, 0_u64..60), 0..200),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (kind, number) in steps {
                match kind {
                    0 => {
                        ranges.remove_up_to(number);
                        set.retain(|other| *other > number);
                    }
                    1 => {
                        let first = ranges.pop_first();
                        set.retain(|other| first.is_none_or(|first| *other > first.largest));
                    }
                    _ => prop_assert_eq!(ranges.insert(number), set.insert(number)),
                }
                let listed: Vec<u64> = pairs(&ranges).into_iter().flat_map(|(a, b)| a..=b).collect();
                prop_assert!(listed.iter().eq(&set));
                prop_assert!(pairs(&ranges).windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
                prop_assert_eq!(ranges.contains(number), set.contains(&number));
                prop_assert_eq!(ranges.largest(), set.last().copied());
                prop_assert_eq!(
                    ranges.first_missing(number / 2, number),
                    (number / 2..=number).find(|other| !set.contains(other))
                );
            }
        }
    }
}
