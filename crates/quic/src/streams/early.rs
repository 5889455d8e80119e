//! Streams whose data was sent in 0-RTT packets, by the limits that the peer had in an earlier connection (RFC 9000 section
//! 7.4.1).

use super::Streams;
use super::id::{KINDS, StreamKind, index, side};
use crate::wire::{Directionality, StreamId, TransportParameters};

impl Streams {
    /// The peer accepts 0-RTT data, and has limits that are not smaller now.
    pub(crate) fn on_early_accepted(&mut self, params: &TransportParameters) {
        self.on_peer_params(params);
        for id in self.own_streams() {
            let limit = self.initial_limit(id);
            self.raise(id, limit);
        }
        self.note_blocked();
    }

    /// The peer has rejected 0-RTT data, which was in so many packets: it is sent anew, by the limits of now.
    pub(crate) fn on_early_rejected(&mut self, params: &TransportParameters, packets: u64) {
        (self.max_data, self.may_open) = (0, [0; 2]);
        self.on_peer_params(params);
        (self.blocked_at, self.opening_blocked_at) = (None, [None; 2]);
        self.pending.forget_blocked();
        self.pending.resets.clear();
        self.again.clear();
        self.ready.clear();
        self.totals.sent = 0;
        self.totals.retransmitted_packets += packets;
        let streams = self.own_streams();
        for &id in &streams {
            let limit = self.initial_limit(id);
            let flow = self.flow_of(id);
            let Some(part) = self.table.send(id) else { continue };
            let waited = if flow.is_some() { 0 } else { part.unsent() };
            let sent = part.restart(limit);
            self.totals.retransmitted += sent;
            if !part.is_reset() {
                self.waiting += part.unsent() - waited;
            }
            if let Some(stream) = flow {
                self.hold(stream, true);
            }
        }
        for id in streams {
            self.begin_again(id);
        }
        self.release_messages();
        self.note_blocked();
    }

    /// Streams that the peer's limit lets this end use again.
    pub(super) fn on_permitted(&mut self, direction: Directionality, from: u64, to: u64) {
        let kind = self.own_kind(direction);
        for number in from..to.min(self.table.opened(kind)) {
            self.begin_again(kind.id(number));
        }
    }

    /// Whether the peer's limit on the number of streams allows a stream. It does not if 0-RTT data had a larger limit.
    pub(super) fn is_permitted(&self, id: StreamId) -> bool {
        let kind = StreamKind::of(id);
        kind.initiator != self.role || index(id) < self.may_open[side(kind.direction)]
    }

    /// A stream of this end queues again whatever it has to send, if the peer allows it.
    fn begin_again(&mut self, id: StreamId) {
        if !self.is_permitted(id) {
            self.note_streams_blocked(StreamKind::of(id).direction);
            return;
        }
        let Some(part) = self.table.send(id) else { return };
        if part.is_reset() {
            part.queued.reset = true;
            self.pending.resets.push_back(id);
            return;
        }
        self.release(id);
        self.queue_ready(id);
        self.queue_again(id);
    }

    /// Lets the scheduler choose a stream of the flow, if nothing of it has to be sent before and its limit allows more.
    pub(super) fn release(&mut self, id: StreamId) {
        let Some(stream) = self.flow_of(id) else { return self.release_message(id) };
        let part = self.table.send(id);
        if part.is_some_and(|part| part.unsent() == 0 && part.credit() > 0 && !part.is_reset()) {
            self.hold(stream, false);
        }
    }

    /// All streams that this end has opened.
    fn own_streams(&self) -> Vec<StreamId> {
        let kinds = (0..KINDS as u64).map(|bits| StreamKind::of(StreamId(bits)));
        let own = kinds.filter(|kind| kind.initiator == self.role);
        own.flat_map(|kind| (0..self.table.opened(kind)).map(move |number| kind.id(number)))
            .collect()
    }

    /// The peer's initial limit on the data of a stream that this end has opened.
    fn initial_limit(&self, id: StreamId) -> u64 {
        match StreamKind::of(id).direction {
            Directionality::Unidirectional => self.initial.unidirectional,
            Directionality::Bidirectional => self.initial.own,
        }
        .min(crate::wire::MAX_VARINT)
    }
}
