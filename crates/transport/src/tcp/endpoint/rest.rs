//! An end whose sending half has nothing to do, as that of a receiver: it acknowledges, and looks at nothing else.

use leobench_base::{Ecn, SimTime};

use super::TcpEndpoint;
use crate::endpoint::Outbox;

impl TcpEndpoint {
    /// Whether the sending half, which waits for no timer, has nothing to do until it gets something to send, or an acknowledgement
    /// [with news](crate::tcp::sender::Ack::has_no_news). The applications' exchange must be over, or not begun.
    pub(super) fn may_rest(&self) -> bool {
        let nothing_follows = self.outgoing.buffer().is_none() && self.outgoing.is_open();
        let no_exchange = self.receiver.resumed().is_none();
        self.secure && nothing_follows && no_exchange && self.sender.may_rest(&self.outgoing)
    }

    /// Acts as an end that rests; returns the next wake-up.
    pub(super) fn rest(&mut self, now: SimTime, outbox: &mut Outbox) -> Option<SimTime> {
        let own = self.lend(now, outbox);
        if self.receiver.deadline().is_some_and(|at| at <= now) {
            let acknowledgement = self.acknowledgement(now);
            self.emit(now, acknowledgement, Ecn::NotEct);
        }
        outbox.packets = std::mem::replace(&mut self.packets, own);
        self.report_delivered(outbox);
        // Time must advance.
        self.receiver.deadline().map(|wake| wake.max(SimTime::from_nanos(now.as_nanos() + 1)))
    }
}
