//! Components that are due at the present instant: a set of numbers that finds its smallest in a few steps.

/// A set of numbers below a fixed count: one bit each, and above them, level by level, a bit for every word that is not
/// zero. All operations take as many steps as there are levels: two up to 4,096 numbers.
#[derive(Clone, Debug)]
pub(super) struct ReadySet {
    /// The lowest level first; the highest is a single word.
    levels: Vec<Vec<u64>>,
}

impl ReadySet {
    /// An empty set of numbers below `count`.
    pub(super) fn new(count: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = count;
        while words > 1 || levels.is_empty() {
            words = words.div_ceil(64).max(1);
            levels.push(vec![0; words]);
        }
        Self { levels }
    }

    /// Whether a number is in the set.
    #[inline]
    pub(super) fn contains(&self, number: usize) -> bool {
        self.levels[0][number / 64] & 1 << (number % 64) != 0
    }

    /// Adds a number.
    pub(super) fn insert(&mut self, number: usize) {
        let mut place = number;
        for level in &mut self.levels {
            let word = &mut level[place / 64];
            let known = *word != 0;
            *word |= 1 << (place % 64);
            if known {
                return;
            }
            place /= 64;
        }
    }

    /// Removes a number, if it is in the set.
    pub(super) fn remove(&mut self, number: usize) {
        let mut place = number;
        for level in &mut self.levels {
            let word = &mut level[place / 64];
            *word &= !(1 << (place % 64));
            if *word != 0 {
                return;
            }
            place /= 64;
        }
    }

    /// The smallest number.
    pub(super) fn first(&self) -> Option<usize> {
        let mut place = 0;
        for level in self.levels.iter().rev() {
            let word = level[place];
            if word == 0 {
                return None;
            }
            place = place * 64 + word.trailing_zeros() as usize;
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_smallest_number_comes_first(
            count in prop::sample::select(vec![1usize, 2, 64, 65, 4_096, 4_097, 300_000]),
            changes in prop::collection::vec((any::<bool>(), any::<usize>()), 0..60),
        ) {
            let (mut set, mut plain) = (ReadySet::new(count), BTreeSet::new());
            for (insert, number) in changes {
                // Mostly numbers that meet again, at both ends.
                let number = if number % 2 == 0 { number / 2 % 8 } else { count - 1 - number / 2 % 8 % count } % count;
                if insert {
                    set.insert(number);
                    plain.insert(number);
                } else {
                    set.remove(number);
                    plain.remove(&number);
                }
                prop_assert_eq!(set.first(), plain.first().copied());
                prop_assert_eq!(set.contains(number), insert);
            }
        }
    }
}
