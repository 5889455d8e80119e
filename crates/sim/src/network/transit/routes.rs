//! Routes that packets carry along.

use std::num::NonZeroU32;

/// The number of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RouteId(NonZeroU32);

impl RouteId {
    fn new(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// All routes that a link has now or that a packet still follows, each with the number of these users.
#[derive(Default)]
pub(super) struct Routes {
    kept: Vec<(Vec<u32>, u32)>,
    free: Vec<RouteId>,
}

impl Routes {
    /// Adds a route with one user: its lasers in order.
    pub(super) fn add(&mut self, lasers: Vec<u32>) -> RouteId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.kept.push((Vec::new(), 0));
            RouteId::new(self.kept.len() - 1)
        });
        self.kept[id.index()] = (lasers, 1);
        id
    }

    /// One user more.
    pub(super) fn keep(&mut self, id: RouteId) {
        self.kept[id.index()].1 += 1;
    }

    /// One user less; without any, the route is forgotten.
    pub(super) fn release(&mut self, id: RouteId) {
        let (lasers, users) = &mut self.kept[id.index()];
        *users -= 1;
        if *users == 0 {
            *lasers = Vec::new();
            self.free.push(id);
        }
    }

    /// The laser after so many others; none behind the last one.
    pub(super) fn laser(&self, id: RouteId, passed: usize) -> Option<u32> {
        self.kept[id.index()].0.get(passed).copied()
    }

    /// Number of routes with users.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.kept.len() - self.free.len()
    }
}
