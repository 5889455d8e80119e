//! Which stream has the largest key, among many, while keys grow with time: a kinetic tournament (Basch, Guibas and
//! Hershberger 1999, "Data structures for mobile data", Journal of Algorithms 31).
//!
//! Streams play matches in a binary tree. A match remembers its winner and for how long it is certain to win; after
//! that, or when a stream below has changed, it is played again, but only once somebody asks. So a change or a
//! question costs the logarithm of the number of streams, and a change noticed twice between two questions nothing.

use leobench_base::{RngTree, SimRng, SimTime};

/// What streams are compared by, at the time t in nanoseconds: `slope * t + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Growth per nanosecond.
    pub(super) slope: u64,
    /// Value at time zero.
    pub(super) offset: i128,
}

impl Key {
    /// A key that does not change with time.
    pub(super) const fn constant(offset: i128) -> Self {
        Self { slope: 0, offset }
    }

    fn at(self, now: u64) -> i128 {
        i128::from(self.slope) * i128::from(now) + self.offset
    }
}

/// The result of a match, or the entry of a single stream.
#[derive(Clone, Copy, Debug)]
struct Match {
    winner: u32,
    /// How many streams below share the largest key; none if there are no streams.
    tied: u32,
    /// The first nanosecond in which this may no longer hold; zero if it must be played again whatever the time.
    until: u64,
}

/// A tournament of streams. Those with the same largest key win with the same probability, drawn anew whenever one
/// of them has changed.
///
/// A match between two winners is drawn in proportion to how many streams tie with either, so that all of them have the
/// same chance. A draw is used at most once: who wins the tournament is taken out or set again, and every match it took
/// part in is played again.
pub(super) struct Tournament {
    /// By stream, those that take part.
    keys: Vec<Option<Key>>,
    /// The final is at 1, the matches before match `m` at `2 m` and `2 m + 1`, stream `s` at `entries + s`.
    matches: Vec<Match>,
    entries: usize,
    rng: SimRng,
}

impl Tournament {
    /// A tournament of up to `streams` streams, none of which takes part yet.
    pub(super) fn new(streams: usize, rng: &RngTree) -> Self {
        let entries = streams.next_power_of_two();
        let empty = Match { winner: 0, tied: 0, until: u64::MAX };
        let mut matches = vec![empty; 2 * entries];
        for (stream, entry) in (0..).zip(&mut matches[entries..]) {
            entry.winner = stream;
        }
        Self { keys: vec![None; entries], matches, entries, rng: rng.child("ties").rng() }
    }

    /// Lets a stream take part with this key, or take part no longer.
    pub(super) fn set(&mut self, stream: usize, key: Option<Key>) {
        self.keys[stream] = key;
        let mut index = self.entries + stream;
        self.matches[index].tied = key.is_some().into();
        // A match that is to be played again has told those after it.
        while index > 1 && self.matches[index / 2].until > 0 {
            index /= 2;
            self.matches[index].until = 0;
        }
    }

    /// Takes a stream out and returns its key.
    pub(super) fn remove(&mut self, stream: usize) -> Option<Key> {
        let key = self.keys[stream];
        self.set(stream, None);
        key
    }

    /// A stream with the largest key at `now`, which never goes back. With keys that are all constant, the time may be
    /// zero throughout.
    pub(super) fn winner(&mut self, now: SimTime) -> Option<usize> {
        self.play(1, now.as_nanos());
        let last = self.matches[1];
        (last.tied > 0).then_some(last.winner as usize)
    }

    fn play(&mut self, index: usize, now: u64) {
        if index >= self.entries || now < self.matches[index].until {
            return;
        }
        self.play(2 * index, now);
        self.play(2 * index + 1, now);
        self.matches[index] =
            self.decide(self.matches[2 * index], self.matches[2 * index + 1], now);
    }

    fn decide(&mut self, left: Match, right: Match, now: u64) -> Match {
        let key = |side: Match| self.keys[side.winner as usize].filter(|_| side.tied > 0);
        let until = left.until.min(right.until);
        let (Some(left_key), Some(right_key)) = (key(left), key(right)) else {
            return Match { until, ..if left.tied > 0 { left } else { right } };
        };
        let lead = left_key.at(now) - right_key.at(now);
        if lead == 0 {
            let tied = left.tied + right.tied;
            let left_wins = self.rng.below(tied.into()) < left.tied.into();
            let winner = if left_wins { left.winner } else { right.winner };
            let lasts = left_key.slope == right_key.slope;
            return Match { winner, tied, until: if lasts { until } else { now + 1 } };
        }
        let (winner, ahead, behind) =
            if lead > 0 { (left, left_key, right_key) } else { (right, right_key, left_key) };
        let caught_up = match behind.slope.saturating_sub(ahead.slope) {
            0 => u64::MAX,
            gain => now.saturating_add(time_to_gain(lead.unsigned_abs(), gain)),
        };
        Match { until: until.min(caught_up), ..winner }
    }
}

/// Whole nanoseconds until a lead is made up for, rounded up.
fn time_to_gain(lead: u128, gain: u64) -> u64 {
    match u64::try_from(lead) {
        Ok(lead) => lead.div_ceil(gain),
        Err(_) => u64::try_from(lead.div_ceil(gain.into())).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests;
