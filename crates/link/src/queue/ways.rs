//! A set-associative hash: every key has a few slots, so that two keys rarely share one.

/// Slots that a key may take.
const WAYS: usize = 8;

/// The slot that a look-up finds for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// Here already.
    Known(usize),
    /// A slot that was free.
    Free(usize),
    /// A slot that another key keeps.
    Shared(usize),
}

/// Keys by slot.
#[derive(Debug)]
pub(super) struct Ways {
    tags: Vec<u64>,
}

impl Ways {
    /// A table of `slots`, a multiple of the ways.
    pub fn new(slots: usize) -> Self {
        Self { tags: vec![0; slots] }
    }

    /// The slot of `key`, a spread hash; `is_taken` tells whether a slot is in use. A free slot becomes the key's.
    pub fn find(&mut self, key: u64, is_taken: impl Fn(usize) -> bool) -> Lookup {
        let home = super::hash::index(key, self.tags.len());
        let first = home - home % WAYS;
        let slots = || (0..WAYS).map(|way| first + (home + way) % WAYS);
        if let Some(slot) = slots().find(|slot| is_taken(*slot) && self.tags[*slot] == key) {
            return Lookup::Known(slot);
        }
        match slots().find(|slot| !is_taken(*slot)) {
            Some(slot) => {
                self.tags[slot] = key;
                Lookup::Free(slot)
            }
            None => Lookup::Shared(home),
        }
    }
}
