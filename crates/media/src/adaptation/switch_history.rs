//! The history of a player's choices, and the bitrate that it has not sustained.

use std::collections::VecDeque;

/// The last choices: from which bitrate, and whether to a lower one.
#[derive(Clone, Debug)]
pub(super) struct SwitchHistory {
    size: usize,
    /// Drops over other choices, above which a bitrate counts as one that is not sustained.
    threshold: f64,
    choices: VecDeque<(usize, bool)>,
}

impl SwitchHistory {
    /// A history of so many choices.
    pub(super) const fn new(size: usize, threshold: f64) -> Self {
        Self { size, threshold, choices: VecDeque::new() }
    }

    /// Takes a choice.
    pub(super) fn push(&mut self, from: usize, to: usize) {
        self.choices.push_back((from, to < from));
        if self.choices.len() > self.size {
            self.choices.pop_front();
        }
    }

    /// The highest bitrate that the history allows, once it is full; none if it allows all.
    pub(super) fn limit(&self) -> Option<usize> {
        let drops = self.drops(|_| true);
        if self.choices.len() < self.size
            || drops as f64 <= self.threshold * (self.size - drops) as f64
        {
            return None;
        }
        let highest = self.choices.iter().map(|(from, _)| *from).max()?;
        let dropped = self.drops(|from| from == highest) > 0;
        Some(if dropped { highest.saturating_sub(1) } else { highest })
    }

    fn drops(&self, counts: impl Fn(usize) -> bool) -> usize {
        self.choices.iter().filter(|(from, is_drop)| *is_drop && counts(*from)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::SwitchHistory;

    /// One drop beside seven other choices is 0.14, above 0.075.
    #[test]
    fn a_drop_among_eight_choices_rules_out_the_bitrate_it_came_from() {
        let mut history = SwitchHistory::new(8, 0.075);
        history.push(2, 1);
        for _ in 0..6 {
            history.push(1, 1);
        }
        assert_eq!(history.limit(), None, "of seven choices");
        history.push(1, 2);
        assert_eq!(history.limit(), Some(1));
        history.push(2, 2);
        assert_eq!(history.limit(), None, "the drop is nine choices ago");
    }

    #[test]
    fn a_drop_from_a_lower_bitrate_leaves_the_highest_one_used() {
        let mut history = SwitchHistory::new(4, 0.075);
        for (from, to) in [(1, 0), (0, 1), (1, 2), (2, 2)] {
            history.push(from, to);
        }
        assert_eq!(history.limit(), Some(2));
    }
}
