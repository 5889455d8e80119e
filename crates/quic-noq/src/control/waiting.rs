//! Acknowledgements wait until the losses that they reveal have been told (RFC 9002 appendix A.7). The stack reports them the
//! other way round.

use std::sync::atomic::Ordering::Relaxed;

use leobench_base::SimTime;
use leobench_transport::congestion::{AckEnd, Acked};
use leobench_transport::endpoint::PathId;

use super::{Control, ControlState};

/// An acknowledgement, or a part of it, that the controller is still to be told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    Acked(PathId, Acked),
    End(PathId, SimTime),
}

impl Waiting {
    /// Bytes that leave flight with it.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Acked(_, acked) => acked.size.get(),
            Self::End(..) => 0,
        }
    }
}

impl Control {
    /// Tells the controller the acknowledgements that the stack has reported, now that it has reported their losses.
    pub(crate) fn flush(&self) {
        if !self.live.has_waiting.load(Relaxed) {
            return;
        }
        self.live.has_waiting.store(false, Relaxed);
        let mut state = self.lock();
        let mut waiting = std::mem::take(&mut state.waiting);
        for told in waiting.drain(..) {
            match told {
                Waiting::Acked(path, acked) => {
                    let in_flight = self.in_flight();
                    self.leave_flight(acked.size.get());
                    state.algorithm.on_ack(path, &Acked { in_flight, ..acked });
                }
                Waiting::End(path, now) => self.end_ack(&mut state, path, now),
            }
        }
        state.waiting = waiting;
    }

    /// Does so before the stack reports on the next acknowledgement of the same datagram.
    pub(crate) fn flush_ended(&self) {
        if matches!(self.lock().waiting.last(), Some(Waiting::End(..))) {
            self.flush();
        }
    }

    fn end_ack(&self, state: &mut ControlState, path: PathId, now: SimTime) {
        state.algorithm.on_ack_end(path, &AckEnd::new(now, self.in_flight()));
        self.publish(state, path);
        self.record_phase(state, path);
        if let Some(latest) = state.latest_rtt() {
            state.rtts.record(latest.as_nanos());
        }
        self.log_metrics(state, path);
    }

    pub(super) fn wait(&self, state: &mut ControlState, told: Waiting) {
        state.waiting.push(told);
        self.live.has_waiting.store(true, Relaxed);
    }
}
