//! A set of streams, walked in the order of their numbers.

use leobench_base::StreamIndex;
use smallvec::{SmallVec, smallvec};

/// Streams of a flow, a bit each.
#[derive(Clone, Debug)]
pub struct StreamSet {
    /// A flow of up to 64 streams has them in place.
    words: SmallVec<[u64; 1]>,
    /// By word, a bit: whether it has any.
    filled: SmallVec<[u64; 1]>,
}

impl StreamSet {
    /// None of `streams` streams.
    pub fn new(streams: usize) -> Self {
        let words = streams.div_ceil(64);
        Self { words: smallvec![0; words], filled: smallvec![0; words.div_ceil(64)] }
    }

    /// Puts a stream in, or takes it out.
    pub fn set(&mut self, stream: StreamIndex, member: bool) {
        let stream = stream.index();
        let word = stream / 64;
        set_bit(&mut self.words, stream, member);
        set_bit(&mut self.filled, word, self.words[word] != 0);
    }

    /// Whether a stream is in it.
    pub fn contains(&self, stream: StreamIndex) -> bool {
        let stream = stream.index();
        self.words[stream / 64] & 1 << (stream % 64) != 0
    }

    /// Whether no stream is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.filled.iter().all(|word| *word == 0)
    }

    /// The first stream in it.
    #[inline]
    pub fn first(&self) -> Option<StreamIndex> {
        let block = self.filled.iter().position(|filled| *filled != 0)?;
        Some(self.first_in(block, self.filled[block]))
    }

    /// The first stream in it whose number is at least `from`; in constant time for up to 4,096 streams.
    pub fn first_from(&self, from: StreamIndex) -> Option<StreamIndex> {
        let from = from.index();
        let word = from / 64;
        let bits = self.words.get(word)? & (u64::MAX << (from % 64));
        if bits != 0 {
            return Some(number(word, bits));
        }
        let mut block = (word + 1) / 64;
        let mut filled = self.filled.get(block)? & (u64::MAX << ((word + 1) % 64));
        while filled == 0 {
            block += 1;
            filled = *self.filled.get(block)?;
        }
        Some(self.first_in(block, filled))
    }

    /// The first stream of the words that are filled in a block.
    fn first_in(&self, block: usize, filled: u64) -> StreamIndex {
        let word = block * 64 + filled.trailing_zeros() as usize;
        number(word, self.words[word])
    }
}

/// The first stream of a word with these bits. Streams have numbers of 32 bits.
fn number(word: usize, bits: u64) -> StreamIndex {
    ((word as u32 * 64 + bits.trailing_zeros()) as usize).into()
}

fn set_bit(words: &mut [u64], index: usize, to: bool) {
    let bit = 1 << (index % 64);
    if to {
        words[index / 64] |= bit;
    } else {
        words[index / 64] &= !bit;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(
            changes in prop::collection::vec((0usize..10_000, any::<bool>()), 1..60),
            from in 0usize..10_001,
        ) {
            let (mut set, mut plain) = (StreamSet::new(10_000), BTreeSet::new());
            for (stream, member) in changes {
                // Close to each other, and far apart.
                for stream in [stream, stream / 100].map(StreamIndex::from) {
                    set.set(stream, member);
                    if member { plain.insert(stream); } else { plain.remove(&stream); }
                    prop_assert_eq!(set.contains(stream), member);
                }
            }
            prop_assert_eq!(set.is_empty(), plain.is_empty());
            let from = from.into();
            prop_assert_eq!(set.first_from(from), plain.range(from..).next().copied());
            let mut walked = Vec::new();
            let mut next = set.first();
            while let Some(stream) = next {
                walked.push(stream);
                next = set.first_from(stream.next());
            }
            prop_assert_eq!(walked, plain.into_iter().collect::<Vec<_>>());
        }
    }
}
