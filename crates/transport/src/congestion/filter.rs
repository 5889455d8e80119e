//! A windowed maximum filter.

use std::collections::VecDeque;

/// Maximum over a window of a clock that counts something slow, such as round trips. Holds a value for every tick at
/// most, and costs amortised constant time.
#[derive(Clone, Debug)]
pub(super) struct WindowedMax<T> {
    /// Ticks for which a value counts, its own included.
    length: u64,
    /// Falling values at rising times.
    values: VecDeque<(u64, T)>,
}

impl<T: Copy + Default + PartialOrd> WindowedMax<T> {
    /// A maximum over `length` ticks.
    pub fn new(length: u64) -> Self {
        Self { length, values: VecDeque::with_capacity(length as usize + 1) }
    }

    /// Takes a value at a time that is not before that of any other.
    pub fn update(&mut self, time: u64, value: T) {
        while self.values.back().is_some_and(|(_, other)| *other <= value) {
            self.values.pop_back();
        }
        self.values.push_back((time, value));
        self.expire(time, self.length);
    }

    /// Forgets what is `length` ticks old or older.
    pub fn expire(&mut self, time: u64, length: u64) {
        while self.values.front().is_some_and(|(then, _)| then + length <= time) {
            self.values.pop_front();
        }
    }

    /// The maximum; zero if there is no value.
    pub fn get(&self) -> T {
        self.values.front().map_or_else(T::default, |(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leobench_base::RngTree;

    #[test]
    fn it_is_the_maximum_of_the_values_in_the_window() {
        let mut rng = RngTree::new(1).rng();
        for length in [1, 2, 10] {
            let (mut filter, mut all, mut time) = (WindowedMax::new(length), Vec::new(), 0);
            for _ in 0..2_000 {
                time += rng.below(8) / 6;
                let value = rng.below(100) as f64;
                all.push((time, value));
                filter.update(time, value);
                let recent = all.iter().filter(|(then, _)| then + length > time);
                let largest = recent.fold(0.0, |largest: f64, (_, value)| largest.max(*value));
                assert!((filter.get() - largest).abs() < 1e-9);
                assert!(filter.values.len() <= 100);
            }
        }
    }
}
