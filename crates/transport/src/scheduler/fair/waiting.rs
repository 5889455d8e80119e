//! The streams with bytes waiting, in the order of their levels.

use std::collections::BTreeSet;

use leobench_base::StreamIndex;
use typed_index_collections::{TiVec, ti_vec};

/// The streams with bytes waiting.
///
/// A stream that was served keeps its place until somebody asks for an order. Where all streams share the packet, nobody does.
pub(super) struct Waiting {
    places: TiVec<StreamIndex, Place>,
    ranks: BTreeSet<Rank>,
    /// Those that are not where they belong.
    moved: Vec<StreamIndex>,
}

/// The place of a stream in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nowhere: it has nothing waiting.
    Nowhere,
    /// Under its rank.
    Settled(Rank),
    /// Under a rank that it had before it was served.
    Stale(Rank),
}

/// The rank of a waiting stream, lowest first: its level, in units of 2^-40 bytes for a weight of one (weights have up
/// to 30 bits), and in the last 32 bits its number, so that ranks are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u128);

impl Rank {
    /// The rank of a stream of this weight that was served so many bytes.
    pub(super) fn new(stream: StreamIndex, weight: u64, served: u64) -> Self {
        let level = match weight {
            weight if weight.is_power_of_two() => {
                u128::from(served) << (40 - weight.trailing_zeros())
            }
            // Digit by digit in base 2^20, as 128 bits are slow to divide. Remainders have up to 30 bits, like weights.
            weight => {
                let (whole, rest) = (served / weight, served % weight);
                let (first, rest) = ((rest << 20) / weight, (rest << 20) % weight);
                (u128::from(whole) << 40) | u128::from((first << 20) | ((rest << 20) / weight))
            }
        };
        Self((level << 32) | stream.index() as u128)
    }

    pub(super) fn stream(self) -> StreamIndex {
        (self.0 as u32 as usize).into()
    }
}

impl Waiting {
    /// None of so many streams.
    pub(super) fn new(streams: usize) -> Self {
        Self { places: ti_vec![Place::Nowhere; streams], ranks: BTreeSet::new(), moved: Vec::new() }
    }

    /// How many streams there are.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether a stream is one of them.
    pub(super) fn contains(&self, stream: StreamIndex) -> bool {
        self.places[stream] != Place::Nowhere
    }

    /// Adds a stream under its rank.
    pub(super) fn insert(&mut self, rank: Rank) {
        self.places[rank.stream()] = Place::Settled(rank);
        self.ranks.insert(rank);
    }

    /// Notes that a stream was served.
    #[inline]
    pub(super) fn on_served(&mut self, stream: StreamIndex) {
        if let Place::Settled(rank) = self.places[stream] {
            self.places[stream] = Place::Stale(rank);
            self.moved.push(stream);
        }
    }

    /// Removes a stream.
    pub(super) fn remove(&mut self, stream: StreamIndex) {
        let place = std::mem::replace(&mut self.places[stream], Place::Nowhere);
        if let Place::Settled(rank) | Place::Stale(rank) = place {
            self.ranks.remove(&rank);
        }
        if let Place::Stale(_) = place {
            self.moved.retain(|other| *other != stream);
        }
    }

    /// Moves the streams that were served to where their ranks, by stream, put them.
    pub(super) fn settle(&mut self, rank: impl Fn(StreamIndex) -> Rank) {
        for stream in self.moved.drain(..) {
            if let Place::Stale(before) = self.places[stream] {
                self.ranks.remove(&before);
            }
            let rank = rank(stream);
            self.places[stream] = Place::Settled(rank);
            self.ranks.insert(rank);
        }
    }

    /// Those after the lowest `passed`, lowest first, if all are settled.
    pub(super) fn after(&self, passed: usize) -> impl Iterator<Item = StreamIndex> {
        self.ranks.iter().skip(passed).map(|rank| rank.stream())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// In units of 2^-40 bytes, rounded down.
        #[test]
        fn ranks_are_levels(served in 0u64..1 << 60, weight in 1u64..=1 << 30, stream in 0usize..1 << 31) {
            let stream = stream.into();
            let rank = Rank::new(stream, weight, served);
            prop_assert_eq!(rank.0 >> 32, (u128::from(served) << 40) / u128::from(weight));
            prop_assert_eq!(rank.stream(), stream);
        }

        /// Streams come back to where their new ranks put them; until then they are counted, and listed.
        #[test]
        fn those_that_were_served_move(
            served in prop::collection::vec(0u64..50, 1..40),
            steps in prop::collection::vec((0usize..40, 0u64..50, 0u8..4), 0..60),
        ) {
            let mut served = TiVec::from(served);
            let mut waiting = Waiting::new(served.len());
            let mut present = ti_vec![true; served.len()];
            for (stream, served) in served.iter_enumerated() {
                waiting.insert(Rank::new(stream, 1, *served));
            }
            for (stream, more, what) in steps {
                let stream = StreamIndex::from(stream % served.len());
                match what {
                    0 => waiting.settle(|stream| Rank::new(stream, 1, served[stream])),
                    1 => {
                        waiting.remove(stream);
                        present[stream] = false;
                    }
                    _ if present[stream] => {
                        served[stream] += more;
                        waiting.on_served(stream);
                    }
                    _ => {}
                }
                prop_assert_eq!(waiting.contains(stream), present[stream]);
                let count = present.iter().filter(|present| **present).count();
                prop_assert_eq!((waiting.len(), waiting.after(0).count()), (count, count));
            }
            waiting.settle(|stream| Rank::new(stream, 1, served[stream]));
            let mut plain: Vec<_> = served.keys().filter(|stream| present[*stream]).collect();
            plain.sort_by_key(|stream| (served[*stream], *stream));
            prop_assert!(waiting.after(0).eq(plain.iter().copied()));
        }
    }
}
