//! The common part of managers that use one path at a time: which one, and which one is to replace it.

use super::{Candidate, PathState, Want};

/// The path in use, and the one that is opened to replace it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Active {
    /// The candidate in use.
    current: usize,
    /// The candidate that replaces it once it is usable, and whether its path was opened.
    next: Option<(usize, bool)>,
    /// The candidate that was tried last: the next try goes on behind it.
    tried: usize,
}

impl Active {
    /// The candidate in use.
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// Moves to the replacement if that is usable by now, and gives it up if its path was closed.
    pub(super) fn advance(&mut self, candidates: &[Candidate]) {
        let Some((next, was_opened)) = self.next else { return };
        match candidates[next].path {
            _ if !candidates[next].is_up => self.next = None,
            PathState::Usable => {
                (self.next, self.current) = (None, next);
            }
            PathState::Closed if was_opened => self.next = None,
            PathState::Closed => {}
            PathState::Opening | PathState::Silent(_) => self.next = Some((next, true)),
        }
    }

    /// Has the next candidate in order that is up replace the current one, of those that `suits`; one that answers comes before one
    /// that does not.
    pub(super) fn replace(&mut self, candidates: &[Candidate], suits: impl Fn(&Candidate) -> bool) {
        if self.next.is_some() {
            return;
        }
        let count = candidates.len();
        let all = (1..=count).map(|step| (self.tried + step) % count);
        let others = all.filter(|at| *at != self.current);
        let suitable = others.filter(|at| candidates[*at].is_up && suits(&candidates[*at]));
        let is_silent = |at: &usize| matches!(candidates[*at].path, PathState::Silent(_));
        let Some(next) = suitable.min_by_key(is_silent) else { return };
        self.tried = next;
        self.next = Some((next, candidates[next].path != PathState::Closed));
        self.advance(candidates);
    }

    /// The current path is fine: nothing is to replace it.
    pub(super) fn keep(&mut self) {
        self.next = None;
    }

    /// Asks for the path in use, and for the one that is to replace it.
    pub(super) fn want(&self, wants: &mut [Want]) {
        wants[self.current] = Want::Path;
        if let Some((next, _)) = self.next {
            wants[next] = Want::Path;
        }
    }
}

impl Candidate {
    /// Whether its path has failed: its interface is gone, or nobody answers after so many probe timeouts.
    pub(super) fn has_failed(&self, after: u32) -> bool {
        let is_silent = matches!(self.path, PathState::Silent(timeouts) if timeouts >= after);
        !self.is_up || is_silent || self.path == PathState::Closed
    }
}
