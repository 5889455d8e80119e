//! Loss recovery as it looks from packets acknowledged and lost, for algorithms whose window is not a matter of loss.

use leobench_base::SimTime;

use super::{Acked, Congestion};

/// The recovery period (RFC 9002 section 7.3.2): until a packet is acknowledged that was sent after it began, or for as
/// long as the transport says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    start: Option<SimTime>,
    active: bool,
    ended: bool,
}

impl Recovery {
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Packets were lost: whether recovery begins, which a collapse does always.
    pub fn on_loss(&mut self, congestion: &Congestion) -> bool {
        let begins = self.start.is_none_or(|start| congestion.sent > start);
        if begins || congestion.persistent {
            *self = Self { start: Some(congestion.now), active: true, ended: false };
        }
        begins
    }

    pub fn on_ack(&mut self, acked: &Acked) {
        let after = self.start.is_none_or(|start| acked.sent > start);
        if self.active && after && !acked.recovering {
            self.active = false;
            self.ended = true;
        }
    }

    /// Whether it has ended since the last call.
    pub fn take_end(&mut self) -> bool {
        std::mem::take(&mut self.ended)
    }

    /// What was lost was not.
    pub fn cancel(&mut self) {
        self.active = false;
        self.ended = false;
    }
}
