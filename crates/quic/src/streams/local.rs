//! Calls of the local application: writing to the flow's streams, and opening, writing to, ending, abandoning and stopping
//! others.

use leobench_base::{SimTime, StreamIndex};
use leobench_transport::buffer::Message;

use super::Streams;
use super::id::{StreamKind, side};
use crate::wire::{Directionality, StreamId};

impl Streams {
    /// The application writes a message to a stream of the flow.
    pub(crate) fn push(&mut self, stream: StreamIndex, message: Message) {
        let Some(flows) = &mut self.flows else { return };
        flows.push(stream, message);
        if self.is_datagrams(stream) {
            return self.push_message(stream, message);
        }
        if self.has_message_streams(stream) {
            return self.push_own(stream, message);
        }
        if !self.established {
            return;
        }
        let id = self.flow_id(stream);
        let is_opened = self.table.opened(StreamKind::of(id)) > stream.index() as u64;
        match self.table.send(id).filter(|part| !part.is_reset()) {
            Some(part) => {
                if part.credit() == 0 {
                    self.note_stream_blocked(id);
                }
                self.note_blocked();
            }
            None if is_opened => self.abandoned += message.size.get(),
            None => {}
        }
    }

    /// The application has written everything to the flow's streams: they end when they are drained.
    pub(crate) fn finish(&mut self) {
        if std::mem::replace(&mut self.finishing, true) {
            return;
        }
        for stream in self.flow_streams() {
            self.finish_if_drained(stream);
        }
    }

    fn finish_if_drained(&mut self, stream: StreamIndex) {
        let Some(flows) = &self.flows else { return };
        let is_apart = self.is_datagrams(stream) || self.has_message_streams(stream);
        if is_apart || flows.buffer().streams()[stream].backlog() > 0 {
            return;
        }
        let id = self.flow_id(stream);
        if let Some(part) = self.table.send(id).filter(|part| part.is_open()) {
            part.finish();
            self.queue_again(id);
        }
    }

    pub(super) fn flow_id(&self, stream: StreamIndex) -> StreamId {
        self.own_kind(Directionality::Unidirectional).id(stream.index() as u64)
    }

    /// Lets the scheduler pass over a stream of the flow, or choose it again.
    pub(super) fn hold(&mut self, stream: StreamIndex, held: bool) {
        if let Some(flows) = &mut self.flows {
            flows.hold(stream, held);
        }
    }

    /// Opens the streams of the flow that the peer allows.
    pub(super) fn open_flows(&mut self) {
        let kind = self.own_kind(Directionality::Unidirectional);
        let count = self.flow_count() as u64;
        let allowed = self.may_open[side(kind.direction)];
        while self.table.opened(kind) < count.min(allowed) {
            let stream = StreamIndex::from(self.table.opened(kind) as usize);
            let opened = self.stream(kind);
            let id = self.table.open(kind, opened);
            if self.is_datagrams(stream) || self.has_message_streams(stream) {
                continue;
            }
            if self.table.send(id).is_some_and(|part| part.credit() > 0) {
                self.hold(stream, false);
            } else if self.backlog(stream) > 0 {
                self.note_stream_blocked(id);
            }
            if self.finishing {
                self.finish_if_drained(stream);
            }
        }
        if self.table.opened(kind) < count {
            self.note_streams_blocked(kind.direction);
        }
    }

    pub(super) fn backlog(&self, stream: StreamIndex) -> u64 {
        self.flows.as_ref().map_or(0, |flows| flows.buffer().streams()[stream].backlog())
    }

    /// Opens a stream outside the flow, if the peer allows another one.
    pub(crate) fn open(&mut self, direction: Directionality) -> Option<StreamId> {
        let kind = self.own_kind(direction);
        let opened = self.table.opened(kind);
        let reserved = match direction {
            Directionality::Unidirectional => self.flow_count() as u64,
            Directionality::Bidirectional => 0,
        };
        if !self.established || opened < reserved {
            return None;
        }
        if opened >= self.may_open[side(direction)] {
            self.note_streams_blocked(direction);
            return None;
        }
        let stream = self.stream(kind);
        Some(self.table.open(kind, stream))
    }

    /// Writes `bytes` to a stream outside the flow; whether it takes them.
    pub(crate) fn write(&mut self, id: StreamId, bytes: u64) -> bool {
        if self.flow_of(id).is_some() {
            return false;
        }
        let Some(part) = self.table.send(id).filter(|part| part.is_open()) else { return false };
        part.write(bytes);
        self.waiting += bytes;
        self.queue_ready(id);
        true
    }

    /// Ends a stream outside the flow; whether that is possible.
    pub(crate) fn end(&mut self, id: StreamId) -> bool {
        if self.flow_of(id).is_some() {
            return false;
        }
        let Some(part) = self.table.send(id).filter(|part| part.is_open()) else { return false };
        part.finish();
        self.queue_again(id);
        true
    }

    /// Abandons a stream with an error code (`RESET_STREAM`); whether that is possible.
    pub(crate) fn reset(&mut self, id: StreamId, code: u64) -> bool {
        let Some(part) = self.table.send(id) else { return false };
        if !part.reset(code) {
            return false;
        }
        self.on_abandoned(id);
        true
    }

    /// A sending part was abandoned: its data waits no more, and the peer must know.
    pub(super) fn on_abandoned(&mut self, id: StreamId) {
        let is_permitted = self.is_permitted(id);
        let Some(part) = self.table.send(id) else { return };
        if is_permitted && !part.queued.reset {
            part.queued.reset = true;
            self.pending.resets.push_back(id);
        }
        let unsent = part.unsent();
        self.waiting -= unsent;
        if let Some(stream) = self.flow_of(id) {
            self.abandoned += self.backlog(stream);
            self.hold(stream, true);
        }
        self.on_message_abandoned(id);
        self.prune();
    }

    /// Asks the peer to send no more on a stream, with an error code (`STOP_SENDING`); whether that is possible.
    pub(crate) fn stop(&mut self, now: SimTime, id: StreamId, code: u64) -> bool {
        let Some(part) = self.table.receive(id) else { return false };
        let Some(arrival) = part.stop(now, code) else { return false };
        if part.stop_code().is_some() {
            part.stop_queued = true;
            self.pending.stops.push_back(id);
        }
        self.on_consumed(now, arrival.consumed);
        self.clean(id);
        self.prune_control();
        true
    }

    /// Has a stream wait for its turn, if its limit lets it send.
    pub(super) fn queue_ready(&mut self, id: StreamId) {
        let is_permitted = self.is_permitted(id);
        let Some(part) = self.table.send(id) else { return };
        if part.unsent() == 0 || part.is_reset() || !is_permitted {
            return;
        }
        if part.credit() == 0 {
            self.note_stream_blocked(id);
            return;
        }
        if !part.queued.ready {
            part.queued.ready = true;
            self.ready.push_back(id);
        }
        self.note_blocked();
    }

    /// Has a stream wait to send something again, or its end.
    pub(super) fn queue_again(&mut self, id: StreamId) {
        let is_permitted = self.is_permitted(id);
        let Some(part) = self.table.send(id) else { return };
        if is_permitted && part.has_again() && !part.queued.again {
            part.queued.again = true;
            self.again.push_back(id);
        }
    }

    /// Drops streams with nothing to send from the heads of the queues.
    pub(super) fn prune(&mut self) {
        while let Some(&id) = self.again.front() {
            match self.table.send(id) {
                Some(part) if part.has_again() => break,
                Some(part) => part.queued.again = false,
                None => {}
            }
            self.again.pop_front();
        }
        while let Some(&id) = self.ready.front() {
            match self.table.send(id) {
                Some(part) if part.unsent() > 0 && !part.is_reset() => break,
                Some(part) => part.queued.ready = false,
                None => {}
            }
            self.ready.pop_front();
        }
        self.prune_control();
    }
}
