//! The progress of what an end writes on a stream, in calls that return once the transport has taken it.

use leobench_transport::endpoint::Report;

use crate::scenario::BlocksUntil;

/// How far a stream has got, in bytes from its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) written: u64,
    sent: u64,
    /// Offset up to which the transport's send buffer has room.
    room: u64,
}

impl Progress {
    /// Learns from a report about this stream.
    pub(super) fn on_report(&mut self, report: Report) {
        match report {
            Report::Sent { offset, .. } => self.sent = offset,
            Report::Room { offset, .. } => self.room = offset,
            Report::Delivered { .. }
            | Report::Datagram { .. }
            | Report::Lost { .. }
            | Report::Opened { .. }
            | Report::Part { .. }
            | Report::Cancelled { .. } => {}
        }
    }

    /// Whether the call that wrote last returns.
    pub(super) fn returns(self, until: BlocksUntil) -> bool {
        match until {
            BlocksUntil::Unsent(most) => self.written - self.sent <= most.get(),
            BlocksUntil::Taken => self.written <= self.room,
        }
    }
}
