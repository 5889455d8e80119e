//! Acknowledgement and loss of sent frames (RFC 9000 section 13.3).

use super::id::side;
use super::{StreamEvent, Streams};
use crate::sent_frame::SentFrame;
use crate::wire::StreamId;

impl Streams {
    /// A packet that carried this was acknowledged.
    pub(crate) fn on_acked(&mut self, carried: &SentFrame) {
        match *carried {
            SentFrame::Stream { id, start, len, fin } => {
                let Some(part) = self.table.send(id) else { return };
                part.on_acked(start, start + u64::from(len), fin);
                if part.is_done() {
                    self.event(StreamEvent::Acked(id));
                    self.clean(id);
                    self.forget_acked();
                    self.prune();
                } else if part.queued.again && !part.has_again() {
                    self.prune();
                }
            }
            SentFrame::ResetStream(id) => {
                let Some(part) = self.table.send(id) else { return };
                part.on_reset_acked();
                self.clean(id);
                self.prune();
            }
            _ => {}
        }
    }

    /// A packet that carried this is taken as lost, or a probe must repeat it: it is sent again as far as it still matters,
    /// limits with their current values.
    pub(crate) fn on_lost(&mut self, carried: &SentFrame) {
        match *carried {
            SentFrame::Stream { id, start, len, fin } => {
                let Some(part) = self.table.send(id) else { return };
                let was_reset = part.is_reset();
                part.on_lost(start, start + u64::from(len), fin);
                if part.is_reset() && !was_reset {
                    self.on_abandoned(id);
                } else {
                    self.queue_again(id);
                }
            }
            SentFrame::ResetStream(id) => {
                let Some(part) = self.table.send(id) else { return };
                if part.reset_code().is_some() && !part.queued.reset {
                    part.queued.reset = true;
                    self.pending.resets.push_back(id);
                }
            }
            SentFrame::StopSending(id) => {
                let Some(part) = self.table.receive(id) else { return };
                if part.stop_code().is_some() && !part.stop_queued {
                    part.stop_queued = true;
                    self.pending.stops.push_back(id);
                }
            }
            SentFrame::MaxData => self.pending.max_data = true,
            SentFrame::MaxStreamData(id) => self.queue_credit(id),
            SentFrame::MaxStreams(kind) => self.pending.max_streams[side(kind)] = true,
            SentFrame::DataBlocked => {
                self.pending.data_blocked =
                    self.connection_credit() == 0 && self.blocked_at == Some(self.max_data);
            }
            SentFrame::StreamDataBlocked(id) => {
                let Some(part) = self.table.send(id) else { return };
                if part.is_blocked() && !part.queued.blocked {
                    part.queued.blocked = true;
                    self.pending.stream_data_blocked.push_back(id);
                }
            }
            SentFrame::StreamsBlocked(kind) => {
                let limit = Some(self.may_open[side(kind)]);
                self.pending.streams_blocked[side(kind)] =
                    self.opening_blocked_at[side(kind)] == limit;
            }
            _ => {}
        }
    }

    /// Has the limit of a stream be sent, if it still matters.
    pub(super) fn queue_credit(&mut self, id: StreamId) {
        let Some(part) = self.table.receive(id) else { return };
        if part.wants_credit() && !part.credit_queued {
            part.credit_queued = true;
            self.pending.max_stream_data.push_back(id);
        }
    }
}
