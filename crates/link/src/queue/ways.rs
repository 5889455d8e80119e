//! A set-associative hash: every key has a few places, so that two keys rarely share one.

/// Places that a key may take.
const WAYS: usize = 8;

/// The place found for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Here already.
    Known(usize),
    /// A place that was free.
    Free(usize),
    /// A place that another key keeps.
    Shared(usize),
}

/// Keys by place.
#[derive(Debug)]
pub(super) struct Ways {
    tags: Vec<u64>,
}

impl Ways {
    /// A table of `places`, a multiple of the ways.
    pub fn new(places: usize) -> Self {
        Self { tags: vec![0; places] }
    }

    /// The place of `key`, a spread hash; `is_taken` tells whether a place is in use. A free place becomes the key's.
    pub fn find(&mut self, key: u64, is_taken: impl Fn(usize) -> bool) -> Place {
        let home = super::hash::index(key, self.tags.len());
        let first = home - home % WAYS;
        let places = || (0..WAYS).map(|way| first + (home + way) % WAYS);
        if let Some(place) = places().find(|place| is_taken(*place) && self.tags[*place] == key) {
            return Place::Known(place);
        }
        match places().find(|place| !is_taken(*place)) {
            Some(place) => {
                self.tags[place] = key;
                Place::Free(place)
            }
            None => Place::Shared(home),
        }
    }
}
