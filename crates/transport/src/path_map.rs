//! Values by path. Path numbers only grow, and the values of paths that are gone are removed: a connection may open
//! thousands of paths and have few at a time.

use smallvec::SmallVec;

use crate::endpoint::PathId;

/// A map from paths to values, in the order of the numbers. Looking up a path costs an index as long as none before it was removed,
/// and a binary search of the paths that are there otherwise.
#[derive(Clone, Debug)]
pub struct PathMap<T> {
    /// Most connections have one path.
    entries: SmallVec<[(PathId, T); 1]>,
}

impl<T> Default for PathMap<T> {
    fn default() -> Self {
        Self { entries: SmallVec::new() }
    }
}

impl<T> PathMap<T> {
    /// The entry of a path.
    #[inline]
    pub fn get(&self, path: PathId) -> Option<&T> {
        let entries = self.entries.as_slice();
        match entries.get(path.0 as usize) {
            Some((there, value)) if *there == path => Some(value),
            _ => entries.get(place(entries, path)?).map(|(_, value)| value),
        }
    }

    /// The entry of a path, to change it.
    #[inline]
    pub fn get_mut(&mut self, path: PathId) -> Option<&mut T> {
        let entries = self.entries.as_mut_slice();
        let at = match entries.get(path.0 as usize) {
            Some((there, _)) if *there == path => path.0 as usize,
            _ => place(entries, path)?,
        };
        entries.get_mut(at).map(|(_, value)| value)
    }

    /// Sets the value of a path. Returns the one that it had, if any.
    pub fn insert(&mut self, path: PathId, value: T) -> Option<T> {
        match self.search(path) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (path, value));
                None
            }
        }
    }

    /// Takes the value of a path out.
    pub fn remove(&mut self, path: PathId) -> Option<T> {
        let at = self.search(path).ok()?;
        Some(self.entries.remove(at).1)
    }

    /// The values, in the order of their paths.
    #[inline]
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    /// All entries in the order of their paths, to change them.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    fn search(&self, path: PathId) -> Result<usize, usize> {
        search(&self.entries, path)
    }
}

/// Index of the entry of a path behind one that was removed.
#[cold]
fn place<T>(entries: &[(PathId, T)], path: PathId) -> Option<usize> {
    search(entries, path).ok()
}

/// Index of the entry of a path, or where it would be.
fn search<T>(entries: &[(PathId, T)], path: PathId) -> Result<usize, usize> {
    entries.binary_search_by_key(&path, |(there, _)| *there)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0u32..12, prop::option::of(0u8..4)), 0..80)) {
            let (mut map, mut plain) = (PathMap::default(), BTreeMap::new());
            for (path, value) in steps {
                let path = PathId(path);
                let (was, known) = match value {
                    Some(value) => (map.insert(path, value), plain.insert(path, value)),
                    None => (map.remove(path), plain.remove(&path)),
                };
                prop_assert_eq!(was, known);
                for path in (0..13).map(PathId) {
                    prop_assert_eq!(map.get(path), plain.get(&path));
                    prop_assert_eq!(map.get_mut(path), plain.get_mut(&path));
                }
                prop_assert!(map.values().eq(plain.values()));
                prop_assert!(map.values_mut().eq(plain.values_mut()));
            }
        }
    }
}
