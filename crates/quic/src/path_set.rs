//! The paths of a connection.

use std::ops::{Index, IndexMut};

use leobench_transport::endpoint::{PathId, PathSample};

use super::path::Path;

/// The paths of a connection by number, which is never used again (draft-ietf-quic-multipath section 3.1). Those that are gone are
/// taken out, all but the first, whose connection IDs the handshake has agreed on.
pub(super) struct PathSet {
    first: Path,
    /// The others, in order.
    others: Vec<Path>,
    /// The number of the next path to be made.
    next: usize,
    /// The last samples of those that were taken out.
    former: Vec<PathSample>,
}

impl PathSet {
    /// The first path alone.
    pub(super) fn new(first: Path) -> Self {
        Self { first, others: Vec::new(), next: 1, former: Vec::new() }
    }

    /// The number of the next path to be made.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Adds a path of the next number.
    pub(super) fn push(&mut self, path: Path) {
        debug_assert_eq!(path.id, PathId(self.next as u32), "paths are made in order");
        self.others.push(path);
        self.next += 1;
    }

    /// Takes a path but the first out, and keeps what its last sample says.
    pub(super) fn remove(&mut self, at: usize, last: Option<PathSample>) {
        if let Some(place) = self.place(at) {
            self.others.remove(place);
        }
        self.former.extend(last);
    }

    /// The last samples of the paths that were taken out.
    pub(super) fn former(&self) -> &[PathSample] {
        &self.former
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&Path> {
        if at == 0 { Some(&self.first) } else { self.place(at).map(|place| &self.others[place]) }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Path> {
        if at == 0 {
            return Some(&mut self.first);
        }
        self.place(at).map(|place| &mut self.others[place])
    }

    /// The paths that are there, in order.
    #[inline]
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Path> + Clone {
        std::iter::once(&self.first).chain(&self.others)
    }

    #[inline]
    pub(super) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Path> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// The paths that are there, with their numbers.
    #[inline]
    pub(super) fn numbered(&self) -> impl DoubleEndedIterator<Item = (usize, &Path)> + Clone {
        self.iter().map(|path| (path.id.0 as usize, path))
    }

    /// The number of the first path of which this holds.
    #[inline]
    pub(super) fn position(&self, holds: impl Fn(&Path) -> bool) -> Option<usize> {
        self.iter().find(|path| holds(path)).map(|path| path.id.0 as usize)
    }

    /// The place of a path among those after the first.
    fn place(&self, at: usize) -> Option<usize> {
        self.others.binary_search_by_key(&PathId(at as u32), |path| path.id).ok()
    }
}

impl Index<usize> for PathSet {
    type Output = Path;

    #[inline]
    fn index(&self, at: usize) -> &Path {
        self.get(at).expect("a path that is there")
    }
}

impl IndexMut<usize> for PathSet {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut Path {
        self.get_mut(at).expect("a path that is there")
    }
}
