//! Algorithm 2: where a path begins, by what its interface or the others met before.

use std::collections::VecDeque;

use leobench_base::LinkId;

use crate::endpoint::PathId;

/// Entries at most, of which the one that was used the longest time ago goes first. Only a connection that opens path after
/// path without a report has as many.
const MOST_ENTRIES: usize = 64;

/// Whose windows they are: an interface outlives its paths. A path of which no report has come stands for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Link(LinkId),
    Path(PathId),
}

/// The windows at congestion of one interface (`W_r`).
#[derive(Clone, Debug)]
struct Entry {
    key: Key,
    /// In bytes, the newest last.
    windows: VecDeque<f64>,
}

impl Entry {
    fn largest(&self) -> Option<f64> {
        self.windows.iter().copied().reduce(f64::max)
    }
}

/// The windows at congestion of all interfaces of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The entry used last is the last.
    entries: Vec<Entry>,
}

impl History {
    fn take(&mut self, key: Key) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }

    /// Congestion at a window, of which the last `most` count.
    pub fn record(&mut self, key: Key, window: f64, most: u32) {
        let windows = VecDeque::new();
        let mut entry = self.take(key).unwrap_or(Entry { key, windows });
        entry.windows.push_back(window);
        let excess = entry.windows.len().saturating_sub(most as usize);
        entry.windows.drain(..excess);
        if self.entries.len() >= MOST_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(entry);
    }

    /// The last window recorded was none of congestion.
    pub fn take_back(&mut self, key: Key) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == key) {
            entry.windows.pop_back();
        }
    }

    /// A report tells the interface of a path: the windows of the path are the interface's.
    pub fn identify(&mut self, path: PathId, link: LinkId, most: u32) {
        let windows = self.take(Key::Path(path)).map(|entry| entry.windows);
        for window in windows.into_iter().flatten() {
            self.record(Key::Link(link), window, most);
        }
    }

    /// Forgets the windows of an interface.
    pub fn forget(&mut self, key: Key) {
        self.take(key);
    }

    /// The largest window of an interface, or without any, of all others (lines 3 to 12).
    pub fn largest(&self, key: Key) -> Option<f64> {
        let own = self.entries.iter().find(|entry| entry.key == key);
        let largest = || self.entries.iter().filter_map(Entry::largest).reduce(f64::max);
        own.and_then(Entry::largest).or_else(largest)
    }
}
