//! Control frames of streams that wait to be sent, with the values they have by then (RFC 9000 section 13.3).

use std::collections::VecDeque;

use super::Streams;
use super::id::side;
use super::packet::Payload;
use crate::sent_frame::SentFrame;
use crate::wire::{Directionality, Frame, StreamId, varint_size};

/// Which control frames wait.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) resets: VecDeque<StreamId>,
    pub(super) stops: VecDeque<StreamId>,
    pub(super) max_data: bool,
    pub(super) max_stream_data: VecDeque<StreamId>,
    /// By directionality.
    pub(super) max_streams: [bool; 2],
    pub(super) data_blocked: bool,
    pub(super) stream_data_blocked: VecDeque<StreamId>,
    pub(super) streams_blocked: [bool; 2],
}

impl Pending {
    /// Whether the peer is to be told that data waits for credit.
    pub(super) fn is_blocked(&self) -> bool {
        self.data_blocked || !self.stream_data_blocked.is_empty()
    }

    /// Drops what the peer was to be told of its limits.
    pub(super) fn forget_blocked(&mut self) {
        (self.data_blocked, self.streams_blocked) = (false, [false; 2]);
        self.stream_data_blocked.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        let flags = [self.max_data, self.data_blocked, self.max_streams[0], self.max_streams[1]];
        self.resets.is_empty()
            && self.stops.is_empty()
            && self.max_stream_data.is_empty()
            && self.stream_data_blocked.is_empty()
            && self.streams_blocked == [false; 2]
            && flags == [false; 4]
    }
}

/// Bytes of the longest variable-length integer.
const LARGEST_VARINT: u64 = 8;

const DIRECTIONS: [Directionality; 2] =
    [Directionality::Bidirectional, Directionality::Unidirectional];

impl Streams {
    /// Puts in all control frames that there is room for.
    pub(super) fn fill_control(&mut self, payload: &mut Payload<'_>) {
        if self.pending.is_empty() {
            return;
        }
        self.fill_resets(payload);
        self.fill_stops(payload);
        self.fill_limits(payload);
        self.fill_blocked(payload);
    }

    #[inline(never)]
    fn fill_resets(&mut self, payload: &mut Payload<'_>) {
        while let Some(&id) = self.pending.resets.front() {
            if let Some(part) = self.table.send(id) {
                if let Some(code) = part.reset_code() {
                    let final_size = part.sent();
                    let frame = Frame::ResetStream { id, code, final_size };
                    if !payload.add(frame, SentFrame::ResetStream(id)) {
                        return;
                    }
                }
                part.queued.reset = false;
            }
            self.pending.resets.pop_front();
        }
    }

    #[inline(never)]
    fn fill_stops(&mut self, payload: &mut Payload<'_>) {
        while let Some(&id) = self.pending.stops.front() {
            if let Some(part) = self.table.receive(id) {
                if let Some(code) = part.stop_code() {
                    let frame = Frame::StopSending { id, code };
                    if !payload.add(frame, SentFrame::StopSending(id)) {
                        return;
                    }
                }
                part.stop_queued = false;
            }
            self.pending.stops.pop_front();
        }
    }

    #[inline(never)]
    fn fill_limits(&mut self, payload: &mut Payload<'_>) {
        // The limit grows when its frame leaves: until then, there must be room for the largest one.
        if self.pending.max_data && payload.room > LARGEST_VARINT {
            let limit = self.credit.advertise();
            payload.add(Frame::MaxData(limit), SentFrame::MaxData);
            self.pending.max_data = false;
        }
        while let Some(&id) = self.pending.max_stream_data.front() {
            if let Some(part) = self.table.receive(id) {
                if part.wants_credit() {
                    if payload.room <= varint_size(id.0) + LARGEST_VARINT {
                        return;
                    }
                    let limit = part.credit.advertise();
                    let frame = Frame::MaxStreamData { id, limit };
                    payload.add(frame, SentFrame::MaxStreamData(id));
                }
                part.credit_queued = false;
            }
            self.pending.max_stream_data.pop_front();
        }
        for kind in DIRECTIONS {
            if self.pending.max_streams[side(kind)] && payload.room > LARGEST_VARINT {
                let limit = self.peer_may_open[side(kind)].advertise();
                let frame = Frame::MaxStreams { kind, limit };
                payload.add(frame, SentFrame::MaxStreams(kind));
                self.pending.max_streams[side(kind)] = false;
            }
        }
    }

    #[inline(never)]
    pub(super) fn fill_blocked(&mut self, payload: &mut Payload<'_>) {
        if self.pending.data_blocked {
            let limit = self.max_data;
            let moot = self.connection_credit() > 0;
            self.pending.data_blocked =
                !moot && !payload.add(Frame::DataBlocked(limit), SentFrame::DataBlocked);
        }
        while let Some(&id) = self.pending.stream_data_blocked.front() {
            if let Some(part) = self.table.send(id) {
                if part.is_blocked() {
                    let limit = part.limit();
                    let frame = Frame::StreamDataBlocked { id, limit };
                    if !payload.add(frame, SentFrame::StreamDataBlocked(id)) {
                        return;
                    }
                }
                part.queued.blocked = false;
            }
            self.pending.stream_data_blocked.pop_front();
        }
        for kind in DIRECTIONS {
            if self.pending.streams_blocked[side(kind)] {
                let limit = self.may_open[side(kind)];
                let moot = self.opening_blocked_at[side(kind)] != Some(limit);
                let frame = Frame::StreamsBlocked { kind, limit };
                let carried = SentFrame::StreamsBlocked(kind);
                self.pending.streams_blocked[side(kind)] = !moot && !payload.add(frame, carried);
            }
        }
    }

    /// Drops control frames at the heads of the queues that no longer matter, so that nothing is pending without need.
    pub(super) fn prune_control(&mut self) {
        let Self { pending, table, .. } = self;
        let front = |queue: &VecDeque<StreamId>| queue.front().copied();
        while let Some(id) = front(&pending.resets)
            && table.send(id).is_none()
        {
            pending.resets.pop_front();
        }
        while let Some(id) = front(&pending.stops)
            && table.receive(id).is_none()
        {
            pending.stops.pop_front();
        }
        while let Some(id) = front(&pending.max_stream_data) {
            match table.receive(id) {
                Some(part) if part.wants_credit() => break,
                Some(part) => part.credit_queued = false,
                None => {}
            }
            pending.max_stream_data.pop_front();
        }
        while let Some(id) = front(&pending.stream_data_blocked) {
            match table.send(id) {
                Some(part) if part.is_blocked() => break,
                Some(part) => part.queued.blocked = false,
                None => {}
            }
            pending.stream_data_blocked.pop_front();
        }
        if self.connection_credit() > 0 {
            self.pending.data_blocked = false;
        }
    }

    /// Tells the peer once per limit that data waits which the connection's limit holds back (RFC 9000 section 4.1).
    pub(super) fn note_blocked(&mut self) {
        if self.established
            && self.connection_credit() == 0
            && self.has_new()
            && !self.has_only_datagrams()
            && self.blocked_at.replace(self.max_data) != Some(self.max_data)
        {
            self.pending.data_blocked = true;
        }
    }

    /// Tells the peer once per limit that more streams are wanted than it allows (RFC 9000 section 4.6).
    pub(super) fn note_streams_blocked(&mut self, kind: Directionality) {
        let limit = self.may_open[side(kind)];
        if self.opening_blocked_at[side(kind)].replace(limit) != Some(limit) {
            self.pending.streams_blocked[side(kind)] = true;
        }
    }

    /// Tells the peer once per limit that a stream's data waits which the stream's limit holds back.
    pub(super) fn note_stream_blocked(&mut self, id: StreamId) {
        let Some(part) = self.table.send(id) else { return };
        if part.note_blocked() && !part.queued.blocked {
            part.queued.blocked = true;
            self.pending.stream_data_blocked.push_back(id);
        }
    }
}
