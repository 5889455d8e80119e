//! The paths of a connection.

use std::ops::{Index, IndexMut};

use leobench_transport::endpoint::{PathId, PathSample};
use leobench_transport::path_map::PathMap;

use super::path::Path;

/// The paths of a connection by number, which is never used again (draft-ietf-quic-multipath section 3.1). Those that are gone are
/// taken out, all but the first, whose connection IDs the handshake has agreed on.
pub(super) struct PathSet {
    paths: PathMap<Path>,
    /// The number of the next path to be made.
    next: usize,
    /// The last samples of those that were taken out.
    former: Vec<PathSample>,
}

impl PathSet {
    /// The first path alone.
    pub(super) fn new(first: Path) -> Self {
        let mut paths = PathMap::default();
        paths.insert(first.id, first);
        Self { paths, next: 1, former: Vec::new() }
    }

    /// The number of the next path to be made.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Adds a path of the next number.
    pub(super) fn push(&mut self, path: Path) {
        debug_assert_eq!(path.id, PathId(self.next as u32), "paths are made in order");
        self.paths.insert(path.id, path);
        self.next += 1;
    }

    /// Takes a path out, and keeps what its last sample says.
    pub(super) fn remove(&mut self, at: usize, last: Option<PathSample>) {
        self.paths.remove(PathId(at as u32));
        self.former.extend(last);
    }

    /// The last samples of the paths that were taken out.
    pub(super) fn former(&self) -> &[PathSample] {
        &self.former
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&Path> {
        self.paths.get(PathId(at as u32))
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Path> {
        self.paths.get_mut(PathId(at as u32))
    }

    /// The paths that are there, in order.
    #[inline]
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Path> + Clone {
        self.paths.values()
    }

    #[inline]
    pub(super) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Path> {
        self.paths.values_mut()
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
