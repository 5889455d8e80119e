//! The paths of a connection.

use std::ops::{Index, IndexMut};

use leobench_base::{SimDuration, SimTime};
use leobench_transport::endpoint::{PathId, PathSample};
use smallvec::SmallVec;

use super::path::Path;
use crate::recovery::Control;

/// The paths of a connection by ID, which is never used again (draft-ietf-quic-multipath section 3.1). Those that are gone are
/// taken out, all but the first, whose connection IDs the handshake has agreed on.
pub(crate) struct PathSet {
    first: Path,
    /// The others, in order.
    others: Vec<Path>,
    /// The ID of the next path to be made.
    next: PathId,
    /// The last samples of those that were taken out.
    former: Vec<PathSample>,
    /// Those on which packets are sent, in order.
    open: SmallVec<[PathId; 8]>,
}

impl PathSet {
    /// The path of the handshake, and the only one unless both ends have agreed on several.
    pub(crate) const FIRST: PathId = PathId(0);

    /// The first path alone.
    pub(crate) fn new(first: Path) -> Self {
        let open = SmallVec::from_slice(&[Self::FIRST]);
        Self { first, others: Vec::new(), next: PathId(1), former: Vec::new(), open }
    }

    #[inline]
    pub(crate) fn first(&self) -> &Path {
        &self.first
    }

    #[inline]
    pub(crate) fn first_mut(&mut self) -> &mut Path {
        &mut self.first
    }

    /// The path for packets that any path may carry: the first usable one or, if there is none, the first open one.
    pub(crate) fn current(&self) -> PathId {
        let usable = self.position(Path::is_usable);
        usable.or_else(|| self.position(Path::is_open)).unwrap_or(Self::FIRST)
    }

    /// The ID of the next path to be made.
    pub(crate) fn next(&self) -> PathId {
        self.next
    }

    /// Adds a path of the next ID.
    pub(crate) fn push(&mut self, path: Path) {
        debug_assert_eq!(path.id, self.next, "paths are made in order");
        self.others.push(path);
        self.next.0 += 1;
    }

    /// Takes a path but the first out, and keeps what its last sample says.
    pub(crate) fn remove(&mut self, id: PathId, last: Option<PathSample>) {
        if let Some(place) = self.place(id) {
            self.others.remove(place);
        }
        self.former.extend(last);
    }

    /// The last samples of the paths that were taken out.
    pub(crate) fn former(&self) -> &[PathSample] {
        &self.former
    }

    #[inline]
    pub(crate) fn get(&self, id: PathId) -> Option<&Path> {
        if id == Self::FIRST {
            return Some(&self.first);
        }
        self.place(id).map(|place| &self.others[place])
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PathId) -> Option<&mut Path> {
        if id == Self::FIRST {
            return Some(&mut self.first);
        }
        self.place(id).map(|place| &mut self.others[place])
    }

    /// The paths that are there, in order.
    #[inline]
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Path> + Clone {
        std::iter::once(&self.first).chain(&self.others)
    }

    #[inline]
    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Path> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// The paths that are there but for one.
    pub(crate) fn except(&self, id: PathId) -> impl Iterator<Item = &Path> {
        self.iter().filter(move |path| path.id != id)
    }

    /// Those on which packets are sent, in order.
    #[inline]
    pub(crate) fn open(&self) -> &SmallVec<[PathId; 8]> {
        &self.open
    }

    /// Whether packets are sent on several.
    #[inline]
    pub(crate) fn has_several_open(&self) -> bool {
        self.open.len() > 1
    }

    /// Notes which paths are open, after one was opened or abandoned.
    pub(crate) fn refresh_open(&mut self) {
        self.open = self.iter().filter(|path| path.is_open()).map(|path| path.id).collect();
    }

    /// The largest probe timeout of those that are open.
    pub(crate) fn longest_probe_timeout(&self) -> SimDuration {
        let open = self.iter().filter(|path| path.is_open());
        let longest = open.map(Path::probe_timeout).max();
        longest.unwrap_or_else(|| self.first.probe_timeout())
    }

    /// The longest round trip of those that are open, one of which has just seen `rtt`.
    #[inline]
    pub(crate) fn longest_rtt(&self, rtt: SimDuration) -> SimDuration {
        let open = self.iter().filter(|path| path.is_open());
        open.filter_map(|path| path.recovery.rtt().latest()).fold(rtt, SimDuration::max)
    }

    /// Whether data may be sent on another path than this one.
    pub(crate) fn has_other_usable(&self, id: PathId) -> bool {
        self.except(id).any(Path::is_usable)
    }

    /// Whether a path may carry data, and has room for a full packet now.
    pub(crate) fn has_room_for_data(&self, now: SimTime, id: PathId, control: &Control) -> bool {
        let path = &self[id];
        let is_preferred = |other: &Path| other.is_usable() && other.reserve() < path.reserve();
        path.is_usable() && path.may_send(now, control) && !self.iter().any(is_preferred)
    }

    /// The first path of which this holds.
    #[inline]
    pub(crate) fn position(&self, holds: impl Fn(&Path) -> bool) -> Option<PathId> {
        self.iter().find(|path| holds(path)).map(|path| path.id)
    }

    /// The place of a path among those after the first. Its callers are many, and most have one path.
    #[inline(never)]
    fn place(&self, id: PathId) -> Option<usize> {
        self.others.binary_search_by_key(&id, |path| path.id).ok()
    }
}

impl Index<PathId> for PathSet {
    type Output = Path;

    #[inline]
    fn index(&self, id: PathId) -> &Path {
        self.get(id).expect("a path that is there")
    }
}

impl IndexMut<PathId> for PathSet {
    #[inline]
    fn index_mut(&mut self, id: PathId) -> &mut Path {
        self.get_mut(id).expect("a path that is there")
    }
}
