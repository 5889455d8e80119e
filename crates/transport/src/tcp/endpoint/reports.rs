//! Reports of an endpoint to its application: bytes sent and delivered, room to write, and events.

use leobench_base::StreamIndex;

use super::TcpEndpoint;
use crate::endpoint::{Outbox, Report};

impl TcpEndpoint {
    pub(super) fn report(&mut self, outbox: &mut Outbox) {
        if self.outgoing.buffer().is_some() {
            let room = self.outgoing.limit();
            if room > self.reported_room {
                self.reported_room = room;
                outbox.reports.push(Report::Room { stream: StreamIndex::FIRST, offset: room });
            }
            let offset = self.outgoing.plaintext_sent(self.sender.nxt());
            if offset > self.reported_sent {
                self.reported_sent = offset;
                outbox.reports.push(Report::Sent { stream: StreamIndex::FIRST, offset });
            }
        }
        self.report_delivered(outbox);
        let control = &mut self.sender.control;
        for events in [&mut self.events, &mut control.events] {
            if !events.is_empty() {
                outbox.events.append(events);
            }
        }
        if !control.verdicts.is_empty() {
            outbox.verdicts.append(&mut control.verdicts);
        }
    }

    pub(super) fn report_delivered(&mut self, outbox: &mut Outbox) {
        let offset = self.delivered();
        if offset > self.reported_delivered {
            self.reported_delivered = offset;
            outbox.reports.push(Report::Delivered { stream: StreamIndex::FIRST, offset });
        }
    }

    /// Application data handed to the application of this end, if it receives.
    pub(super) fn delivered(&self) -> u64 {
        if !self.receives {
            0
        } else if self.tls {
            self.receiver.plaintext()
        } else {
            self.exchange.delivered(&self.receiver)
        }
    }
}
