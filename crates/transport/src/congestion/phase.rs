//! Changes of phase as recorded events, for any transport.

use super::CongestionControl;
use crate::endpoint::{Event, PathId};

/// Turns the changes of a path's phase into events: the end of slow start, recovery, the states of BBR.
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseWatch {
    last: Option<&'static str>,
}

impl PhaseWatch {
    /// The event to record if the phase has changed since the last call; the first call only takes note.
    pub fn look(&mut self, algorithm: &dyn CongestionControl, path: PathId) -> Option<Event> {
        let phase = algorithm.phase(path);
        // The same name is nearly always the same text: a look at its address spares the comparison.
        if self.last.is_some_and(|last| std::ptr::eq(last, phase)) {
            return None;
        }
        self.change(phase, algorithm, path)
    }

    #[cold]
    fn change(
        &mut self,
        phase: &'static str,
        algorithm: &dyn CongestionControl,
        path: PathId,
    ) -> Option<Event> {
        let last = self.last.replace(phase).filter(|last| *last != phase)?;
        let detail = format!("{last} -> {phase}: window {}", algorithm.window(path));
        Some(Event { kind: "phase", detail })
    }
}
