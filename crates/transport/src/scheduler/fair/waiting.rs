//! The streams with bytes waiting, in the order of their levels.

use std::collections::BTreeSet;

/// The streams with bytes waiting.
///
/// A stream that was served keeps its place until somebody asks for an order. Where all streams share the packet, nobody does;
/// where there are more, those that were served move together, once per packet.
pub(super) struct Waiting {
    places: Vec<Place>,
    ranks: Ranks,
    /// Those that are not where they belong.
    moved: Vec<u32>,
    /// The first ranks of a tree, where they were asked for.
    front: [Rank; TOGETHER],
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
    pub(super) fn new(stream: usize, weight: u64, served: u64) -> Self {
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
        Self((level << 32) | stream as u128)
    }

    pub(super) fn stream(self) -> usize {
        self.0 as u32 as usize
    }
}

impl Waiting {
    /// None of so many streams.
    pub(super) fn new(streams: usize) -> Self {
        let (ranks, moved, front) = (Ranks::default(), Vec::new(), [Rank(0); TOGETHER]);
        Self { places: vec![Place::Nowhere; streams], ranks, moved, front }
    }

    /// How many streams there are.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether a stream is one of them.
    pub(super) fn contains(&self, stream: usize) -> bool {
        self.places[stream] != Place::Nowhere
    }

    /// Adds a stream under its rank.
    pub(super) fn insert(&mut self, rank: Rank) {
        self.places[rank.stream()] = Place::Settled(rank);
        self.ranks.insert_all(&mut [rank]);
    }

    /// Notes that a stream was served.
    #[inline]
    pub(super) fn on_served(&mut self, stream: usize) {
        if let Place::Settled(rank) = self.places[stream] {
            self.places[stream] = Place::Stale(rank);
            self.note_moved(stream as u32);
        }
    }

    #[inline(never)]
    fn note_moved(&mut self, stream: u32) {
        self.moved.push(stream);
    }

    /// Removes a stream.
    #[inline(never)]
    pub(super) fn remove(&mut self, stream: usize) {
        match self.places[stream] {
            Place::Nowhere => return,
            Place::Settled(rank) => self.ranks.remove(rank),
            Place::Stale(rank) => {
                self.ranks.remove(rank);
                self.moved.retain(|other| *other != stream as u32);
            }
        }
        self.places[stream] = Place::Nowhere;
    }

    /// Moves the streams that were served to where their ranks, by stream, put them.
    pub(super) fn settle(&mut self, rank: impl Fn(usize) -> Rank) {
        if self.moved.is_empty() {
            return;
        }
        self.remove_moved();
        let mut ranks = [Rank(0); TOGETHER];
        for moved in self.moved.chunks(TOGETHER) {
            let ranks = &mut ranks[..moved.len()];
            for (place, stream) in ranks.iter_mut().zip(moved) {
                *place = rank(*stream as usize);
                self.places[*stream as usize] = Place::Settled(*place);
            }
            self.ranks.insert_all(ranks);
        }
        self.moved.clear();
    }

    fn remove_moved(&mut self) {
        let is_stale = |rank: &Rank| matches!(self.places[rank.stream()], Place::Stale(_));
        let front = self.ranks.few().get(..self.moved.len());
        // Those that shared the last packet are the lowest.
        if front.is_some_and(|front| front.iter().all(is_stale)) {
            self.ranks.start += self.moved.len();
            return;
        }
        for stream in &self.moved {
            if let Place::Stale(rank) = self.places[*stream as usize] {
                self.ranks.remove(rank);
            }
        }
    }

    /// The first ranks, up to `count` or [`TOGETHER`]: the lowest if all are settled.
    #[inline]
    pub(super) fn first(&mut self, count: usize) -> &[Rank] {
        if !self.ranks.many.is_empty() {
            self.look_into_tree();
            return &self.front[..count.min(TOGETHER).min(self.ranks.many.len())];
        }
        let few = self.ranks.few();
        &few[..count.min(few.len())]
    }

    #[cold]
    fn look_into_tree(&mut self) {
        for (place, rank) in self.front.iter_mut().zip(&self.ranks.many) {
            *place = *rank;
        }
    }

    /// Those after the lowest `passed`, lowest first, if all are settled.
    pub(super) fn after(&self, passed: usize) -> impl Iterator<Item = usize> {
        self.ranks.after(passed).map(Rank::stream)
    }
}

/// As many streams get their ranks together.
const TOGETHER: usize = 16;

/// Ranks, the lowest first.
#[derive(Default)]
struct Ranks {
    /// Up to [`FEW`] of them, from `start` on: those that were served move from the front to the back, which costs next to
    /// nothing here.
    few: Vec<Rank>,
    start: usize,
    /// All of them if there are, or were, more.
    many: BTreeSet<Rank>,
}

/// As many ranks as are moved about faster than a tree is searched.
const FEW: usize = 1_024;

/// Ranks at either end that are looked at before the others: those of streams that share a packet are close together.
const NEAR: usize = 16;

impl Ranks {
    fn few(&self) -> &[Rank] {
        &self.few[self.start..]
    }

    fn len(&self) -> usize {
        self.few().len() + self.many.len()
    }

    /// Adds ranks, which it sorts.
    fn insert_all(&mut self, ranks: &mut [Rank]) {
        if !ranks.is_sorted() {
            ranks.sort_unstable();
        }
        if !self.many.is_empty() || self.few().len() + ranks.len() > FEW {
            self.many.extend(self.few.drain(..).skip(self.start));
            self.many.extend(&*ranks);
            self.start = 0;
            return;
        }
        if self.start > FEW {
            self.few.drain(..self.start);
            self.start = 0;
        }
        self.merge(ranks);
    }

    /// Puts sorted ranks where they belong among the few, the largest first: each of the others moves once.
    fn merge(&mut self, ranks: &[Rank]) {
        let mut end = self.few.len();
        self.few.extend(ranks);
        for (below, rank) in ranks.iter().enumerate().rev() {
            let place = self.start + lower(&self.few[self.start..end], *rank);
            if place < end {
                // Those above it make room for it, and for those below it that are to come.
                self.few.copy_within(place..end, place + below + 1);
            }
            self.few[place + below] = *rank;
            end = place;
        }
    }

    fn remove(&mut self, rank: Rank) {
        if self.few().is_empty() {
            self.many.remove(&rank);
            return;
        }
        let near = self.few().iter().take(NEAR).position(|other| *other == rank);
        match near {
            // The few before it move, not the many behind it.
            Some(place) => {
                self.few.copy_within(self.start..self.start + place, self.start + 1);
                self.start += 1;
            }
            None => {
                if let Ok(place) = self.few().binary_search(&rank) {
                    self.few.remove(self.start + place);
                }
            }
        }
    }

    /// Those after the first `passed`.
    fn after(&self, passed: usize) -> impl Iterator<Item = Rank> {
        let few = self.few().get(passed..).unwrap_or_default();
        few.iter().chain(self.many.iter().skip(passed)).copied()
    }
}

/// How many of these sorted ranks are lower, most likely almost all.
fn lower(ranks: &[Rank], rank: Rank) -> usize {
    match ranks.iter().rev().take(NEAR).position(|other| *other < rank) {
        Some(behind) => ranks.len() - behind,
        None => ranks.partition_point(|other| *other < rank),
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
            let rank = Rank::new(stream, weight, served);
            prop_assert_eq!(rank.0 >> 32, (u128::from(served) << 40) / u128::from(weight));
            prop_assert_eq!(rank.stream(), stream);
        }

        #[test]
        fn ranks_are_in_order(
            steps in prop::collection::vec((any::<bool>(), prop::collection::vec(0u128..60, 1..9)), 0..60),
            others in prop::sample::select(vec![0u128, FEW as u128 - 5, FEW as u128 + 5]),
            passed in 0usize..12,
        ) {
            let (mut ranks, mut plain) = (Ranks::default(), BTreeSet::new());
            for other in (0..others).map(|other| Rank(30 + 2 * other)) {
                ranks.insert_all(&mut [other]);
                plain.insert(other);
            }
            for (adds, numbers) in steps {
                let numbers: BTreeSet<_> = numbers.into_iter().map(Rank).collect();
                let (known, new): (Vec<_>, Vec<_>) = numbers.into_iter().partition(|rank| plain.contains(rank));
                if adds {
                    // In any order.
                    let mut new: Vec<_> = new.into_iter().rev().collect();
                    plain.extend(&new);
                    ranks.insert_all(&mut new);
                } else {
                    for rank in known {
                        ranks.remove(rank);
                        plain.remove(&rank);
                    }
                }
                prop_assert_eq!(ranks.len(), plain.len());
                prop_assert!(ranks.after(passed).eq(plain.iter().skip(passed).copied()));
            }
        }

        /// Streams come back to where their new ranks put them; until then they are counted, and listed.
        #[test]
        fn those_that_were_served_move(
            served in prop::collection::vec(0u64..50, 1..40),
            steps in prop::collection::vec((0usize..40, 0u64..50, 0u8..4), 0..60),
        ) {
            let mut served = served;
            let mut waiting = Waiting::new(served.len());
            let mut present = vec![true; served.len()];
            for (stream, served) in served.iter().enumerate() {
                waiting.insert(Rank::new(stream, 1, *served));
            }
            for (stream, more, what) in steps {
                let stream = stream % served.len();
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
            let mut plain: Vec<_> = (0..served.len()).filter(|stream| present[*stream]).collect();
            plain.sort_by_key(|stream| (served[*stream], *stream));
            prop_assert!(waiting.after(0).eq(plain.iter().copied()));
        }

        /// Few or many, and with fewer left than were asked for before.
        #[test]
        fn the_first_are_the_lowest(
            streams in prop::sample::select(vec![3, FEW, FEW + 20]),
            count in 1usize..12,
            gone in 0usize..1_040,
        ) {
            let mut waiting = Waiting::new(streams);
            (0..streams).rev().for_each(|stream| waiting.insert(Rank::new(stream, 1, 7 * stream as u64)));
            let first = |waiting: &mut Waiting| waiting.first(count).iter().map(|rank| rank.stream()).collect::<Vec<_>>();
            prop_assert!(first(&mut waiting).into_iter().eq(0..count.min(streams)));
            let gone = gone.min(streams);
            (0..gone).for_each(|stream| waiting.remove(stream));
            let count = count.min(streams - gone);
            prop_assert!(first(&mut waiting)[..count].iter().copied().eq(gone..gone + count));
        }
    }
}
