//! A set of streams, walked in the order of their numbers.

/// Streams of a flow, a bit each.
#[derive(Clone, Debug)]
pub(crate) struct StreamSet {
    words: Vec<u64>,
}

impl StreamSet {
    /// None of `streams` streams.
    pub(crate) fn new(streams: usize) -> Self {
        Self { words: vec![0; streams.div_ceil(64)] }
    }

    /// Puts a stream in, or takes it out.
    pub(crate) fn set(&mut self, stream: usize, member: bool) {
        let bit = 1 << (stream % 64);
        if member {
            self.words[stream / 64] |= bit;
        } else {
            self.words[stream / 64] &= !bit;
        }
    }

    /// Whether a stream is in it.
    pub(crate) fn contains(&self, stream: usize) -> bool {
        self.words[stream / 64] & 1 << (stream % 64) != 0
    }

    /// The first stream in it whose number is at least `from`; in constant time for the usual handful of streams, a
    /// 64th of linear for many.
    pub(crate) fn first_from(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.words.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.words.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}
