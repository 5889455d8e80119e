//! Finds the stream with the largest key among many, while keys grow with time: a kinetic tournament (Basch, Guibas and
//! Hershberger 1999, "Data structures for mobile data", Journal of Algorithms 31).
//!
//! Streams play matches in a binary tree. A match stores its winner and the time until which the result is certain.
//! After that time, or after a change of a stream below, the match is replayed at the next query. A change or a query
//! therefore costs the logarithm of the number of participating streams, and a second change of a stream between two
//! queries costs almost nothing.

use leobench_base::{RngTree, SimRng, SimTime, StreamIndex};
use typed_index_collections::{TiVec, ti_vec};

/// The key for comparing streams at the time t in nanoseconds: `slope * t + offset`.
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

    /// The difference to another key at `now`.
    fn lead(self, other: Self, now: u64) -> i128 {
        let grown = |key: Self| i128::from(key.slope) * i128::from(now);
        self.offset - other.offset
            + if self.slope == other.slope { 0 } else { grown(self) - grown(other) }
    }
}

/// The result of a match, or the entry of a single stream.
#[derive(Clone, Copy, Debug)]
struct Match {
    winner: StreamIndex,
    /// The number of streams below that share the largest key; zero if no stream participates.
    tied: u32,
    /// The key of the winner.
    key: Key,
    /// The first nanosecond in which this result may be invalid; zero if it must be replayed in any case.
    until: u64,
}

/// The position of a stream that does not participate.
const NOWHERE: u32 = u32::MAX;

/// A tournament of streams. Streams with the same largest key win with equal probability, drawn again whenever one of
/// them has changed.
///
/// A match between two winners is drawn in proportion to the number of streams that tie with each, so all of them have
/// the same chance. A draw is used at most once: the winner of the tournament is then suspended or updated, and every
/// match it played is replayed.
pub(super) struct Tournament {
    /// The matches before match `m` are at `2 m` and `2 m + 1`, the participating streams, without gaps, from `entries`
    /// on.
    matches: Vec<Match>,
    entries: usize,
    /// The final of all participants: the root of the smallest subtree that begins with the first entry and contains
    /// them.
    last: usize,
    /// The number of participants.
    count: usize,
    /// The position that changed last.
    changed: usize,
    /// The position of each stream.
    places: TiVec<StreamIndex, u32>,
    rng: SimRng,
}

impl Tournament {
    /// A tournament of up to `streams` streams, without participants.
    pub(super) fn new(streams: usize, rng: &RngTree) -> Self {
        let entries = streams.next_power_of_two();
        let empty =
            Match { winner: StreamIndex::FIRST, tied: 0, key: Key::constant(0), until: u64::MAX };
        Self {
            matches: vec![empty; 2 * entries],
            entries,
            last: entries,
            count: 0,
            changed: entries,
            places: ti_vec![NOWHERE; streams],
            rng: rng.child("ties").rng(),
        }
    }

    /// Adds a stream with this key, updates its key, or removes it.
    pub(super) fn set(&mut self, stream: StreamIndex, key: Option<Key>) {
        match (self.places[stream], key) {
            (NOWHERE, None) => {}
            (NOWHERE, Some(key)) => {
                let place = self.entries + self.count;
                self.count += 1;
                if self.count > self.entries / self.last {
                    self.last /= 2;
                    self.matches[self.last].until = 0;
                }
                self.enter(stream, place, key);
            }
            (place, Some(key)) => self.enter(stream, place as usize, key),
            (place, None) => self.leave(stream, place as usize),
        }
    }

    fn enter(&mut self, stream: StreamIndex, place: usize, key: Key) {
        self.places[stream] = place as u32;
        self.matches[place] = Match { winner: stream, tied: 1, key, until: u64::MAX };
        self.replay_from(place);
    }

    /// Moves the stream at the last position to the free one.
    fn leave(&mut self, stream: StreamIndex, place: usize) {
        self.places[stream] = NOWHERE;
        self.count -= 1;
        let end = self.entries + self.count;
        if place != end {
            let moved = self.matches[end];
            self.places[moved.winner] = place as u32;
            self.matches[place] = moved;
            self.replay_from(place);
        }
        self.matches[end].tied = 0;
        self.replay_from(end);
        while self.last < self.entries && 2 * self.count <= self.entries / self.last {
            self.last *= 2;
        }
    }

    /// Marks the matches of an entry for replay.
    fn replay_from(&mut self, place: usize) {
        self.changed = place;
        let mut index = place;
        while index > self.last {
            index /= 2;
            // A match marked for replay has marked those above it.
            if self.matches[index].until == 0 {
                break;
            }
            self.matches[index].until = 0;
        }
    }

    /// Suspends a participating stream, or resumes it with the key it has.
    pub(super) fn rest(&mut self, stream: StreamIndex, rests: bool) {
        let place = self.places[stream] as usize;
        self.matches[place].tied = (!rests).into();
        self.replay_from(place);
    }

    /// A stream with the largest key at `now`, which never decreases. With constant keys, the time may be zero
    /// throughout.
    pub(super) fn winner(&mut self, now: SimTime) -> Option<StreamIndex> {
        let now = now.as_nanos();
        // Usually one stream has changed: replay from its entry upwards, without a search.
        let mut index = self.changed / 2;
        while index >= self.last {
            self.play(index, now);
            index /= 2;
        }
        self.play(self.last, now);
        let last = &self.matches[self.last];
        (last.tied > 0).then_some(last.winner)
    }

    /// Replays a match and the matches below it, if they are marked.
    fn play(&mut self, index: usize, now: u64) {
        // Entries are always valid.
        if now < self.matches[index].until || index >= self.entries {
            return;
        }
        for before in [2 * index, 2 * index + 1] {
            if now >= self.matches[before].until {
                self.play(before, now);
            }
        }
        self.matches[index] = self.decide(2 * index, 2 * index + 1, now);
    }

    fn decide(&mut self, left: usize, right: usize, now: u64) -> Match {
        let sides = [&self.matches[left], &self.matches[right]];
        let tied = sides.map(|side| side.tied);
        let until = sides[0].until.min(sides[1].until);
        if tied[0] == 0 || tied[1] == 0 {
            return Match { until, ..*sides[usize::from(tied[0] == 0)] };
        }
        let lead = sides[0].key.lead(sides[1].key, now);
        if lead == 0 {
            let lasts = sides[0].key.slope == sides[1].key.slope;
            let until = if lasts { until } else { now + 1 };
            let all = tied[0] + tied[1];
            let winner = usize::from(self.rng.below(all.into()) >= tied[0].into());
            return Match { tied: all, until, ..*sides[winner] };
        }
        let winner = usize::from(lead < 0);
        let (winner, loser) = (sides[winner], sides[1 - winner]);
        let caught_up = match loser.key.slope.saturating_sub(winner.key.slope) {
            0 => u64::MAX,
            gain => now.saturating_add(time_to_gain(lead.unsigned_abs(), gain)),
        };
        Match { until: until.min(caught_up), ..*winner }
    }
}

/// Whole nanoseconds until a deficit is made up, rounded up.
fn time_to_gain(lead: u128, gain: u64) -> u64 {
    match u64::try_from(lead) {
        Ok(lead) => lead.div_ceil(gain),
        Err(_) => u64::try_from(lead.div_ceil(gain.into())).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests;
