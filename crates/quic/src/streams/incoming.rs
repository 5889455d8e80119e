//! Frames from the peer.

use leobench_base::SimTime;
use leobench_transport::endpoint::Report;

use super::id::{StreamKind, index, side};
use super::receive::Arrival;
use super::{StreamEvent, Streams};
use crate::wire::{Directionality, ErrorCode, Frame, MAX_STREAMS, StreamId, TransportError};

/// The part of a stream that a frame is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The one that sends.
    Send,
    /// The one that receives.
    Receive,
}

impl Streams {
    /// A frame arrived. Ignores those that do not concern streams, and `DATA_BLOCKED`, which changes nothing.
    ///
    /// # Errors
    /// If the peer violates the protocol.
    pub(crate) fn on_frame(&mut self, now: SimTime, frame: &Frame) -> Result<(), TransportError> {
        let outcome = match *frame {
            Frame::Stream { id, offset, len, fin, .. } => {
                self.on_stream(now, id, (offset, len, fin))
            }
            Frame::ResetStream { id, code, final_size } => {
                self.on_reset_stream(now, id, code, final_size)
            }
            Frame::StopSending { id, code } => self.on_stop_sending(id, code),
            Frame::MaxData(limit) => {
                self.max_data = self.max_data.max(limit);
                self.prune_control();
                self.note_blocked();
                Ok(())
            }
            Frame::MaxStreamData { id, limit } => self.on_max_stream_data(id, limit),
            Frame::MaxStreams { kind, limit } => self.on_max_streams(kind, limit),
            Frame::StreamDataBlocked { id, .. } => self.enter(id, Part::Receive),
            Frame::StreamsBlocked { kind, limit } => self.on_streams_blocked(kind, limit),
            _ => Ok(()),
        };
        outcome.map_err(|error| error.in_frame(frame.frame_type()))
    }

    /// Checks that a frame may be about this part of a stream, and opens the peer's streams up to it. Afterwards, a part
    /// that is missing is in a final state.
    #[inline]
    fn enter(&mut self, id: StreamId, part: Part) -> Result<(), TransportError> {
        let kind = StreamKind::of(id);
        let own = kind.initiator == self.role;
        if kind.direction == Directionality::Unidirectional && own == (part == Part::Receive) {
            // RFC 9000 sections 19.4, 19.5, 19.8, 19.10 and 19.13.
            let reason = match part {
                Part::Receive => "data on a stream that only this end sends on",
                Part::Send => "a request about a stream that only its sender sends on",
            };
            return Err(TransportError::new(ErrorCode::STREAM_STATE_ERROR, reason));
        }
        let opened = self.table.opened(kind);
        if index(id) < opened {
            return Ok(());
        }
        if own {
            let reason = "a frame for a stream that was not opened yet";
            return Err(TransportError::new(ErrorCode::STREAM_STATE_ERROR, reason));
        }
        // RFC 9000 section 4.6: "An endpoint that receives a frame with a stream ID exceeding the limit it has sent MUST treat
        // this as a connection error of type STREAM_LIMIT_ERROR".
        if index(id) >= self.peer_may_open[side(kind.direction)].limit {
            return Err(TransportError::new(
                ErrorCode::STREAM_LIMIT_ERROR,
                "more streams than allowed",
            ));
        }
        // Section 3.2: "Opening a stream with a given ID opens all lower-numbered streams of that type".
        for _ in opened..=index(id) {
            let stream = self.stream(kind);
            let id = self.table.open(kind, stream);
            self.event(StreamEvent::Opened(id));
        }
        Ok(())
    }

    /// Bytes that the peer may still send within the connection's limit.
    fn receive_room(&self) -> u64 {
        self.credit.limit() - self.totals.received
    }

    fn on_stream(
        &mut self,
        now: SimTime,
        id: StreamId,
        data: (u64, u64, bool),
    ) -> Result<(), TransportError> {
        let (room, rtt) = (self.receive_room(), self.rtt);
        let part = if let Some(part) = self.table.receive(id) {
            part
        } else {
            self.enter(id, Part::Receive)?;
            let Some(part) = self.table.receive(id) else {
                // It has ended.
                if let Some(arrivals) = &mut self.arrivals {
                    arrivals.on_duplicate(data.1);
                }
                return Ok(());
            };
            part
        };
        let arrival = part.on_data(now, data, room, rtt, self.arrivals.as_deref_mut())?;
        let (due, done) = (part.is_credit_due(), part.is_done());
        let stopped = part.is_stopped();
        self.on_arrival(now, id, arrival);
        if due {
            self.queue_credit(id);
        }
        if done {
            if !stopped {
                self.event(StreamEvent::Finished(id));
            }
            self.clean(id);
            self.prune_control();
        }
        Ok(())
    }

    #[inline]
    fn on_arrival(&mut self, now: SimTime, id: StreamId, arrival: Arrival) {
        self.totals.received += arrival.growth;
        self.on_consumed(now, arrival.consumed);
        let (start, end) = arrival.complete;
        if end > start {
            self.event(StreamEvent::Readable { id, start, end });
            if StreamKind::of(id).direction == Directionality::Unidirectional {
                let number = index(id);
                let first = self.message_streams_from.unwrap_or(u64::MAX);
                self.report(match number.checked_sub(first) {
                    Some(number) => Report::Part { number, bytes: end - start },
                    None => Report::Delivered { stream: (number as usize).into(), offset: end },
                });
            }
        }
    }

    /// Received bytes were read or discarded: the peer may send as many more.
    #[inline]
    pub(super) fn on_consumed(&mut self, now: SimTime, bytes: u64) {
        if bytes > 0 {
            self.credit.consume(now, bytes, self.rtt);
            self.pending.max_data |= self.credit.is_due();
        }
    }

    #[cold]
    fn on_reset_stream(
        &mut self,
        now: SimTime,
        id: StreamId,
        code: u64,
        size: u64,
    ) -> Result<(), TransportError> {
        self.enter(id, Part::Receive)?;
        let room = self.receive_room();
        let Some(part) = self.table.receive(id) else { return Ok(()) };
        let arrival = part.on_reset(now, size, room)?;
        let stopped = part.is_stopped();
        self.on_arrival(now, id, arrival);
        if !stopped {
            self.event(StreamEvent::Reset { id, code });
        }
        self.clean(id);
        self.prune_control();
        Ok(())
    }

    #[cold]
    fn on_stop_sending(&mut self, id: StreamId, code: u64) -> Result<(), TransportError> {
        self.enter(id, Part::Send)?;
        let Some(part) = self.table.send(id) else { return Ok(()) };
        let was_reset = part.is_reset();
        let is_news = part.on_stop(code);
        if part.is_reset() && !was_reset {
            self.on_abandoned(id);
        }
        if is_news {
            self.event(StreamEvent::Stopped { id, code });
        }
        Ok(())
    }

    #[cold]
    fn on_max_stream_data(&mut self, id: StreamId, limit: u64) -> Result<(), TransportError> {
        self.enter(id, Part::Send)?;
        self.raise(id, limit);
        Ok(())
    }

    /// Raises the peer's limit on the data of a stream.
    pub(super) fn raise(&mut self, id: StreamId, limit: u64) {
        let Some(part) = self.table.send(id) else { return };
        if part.raise(limit) {
            self.release(id);
            self.queue_ready(id);
            self.prune_control();
            self.note_blocked();
        }
    }

    #[cold]
    fn on_max_streams(&mut self, kind: Directionality, limit: u64) -> Result<(), TransportError> {
        // RFC 9000 section 19.11: "Receipt of a frame that permits opening of a stream larger than this limit (2^60) MUST be
        // treated as a connection error of type FRAME_ENCODING_ERROR."
        if limit > MAX_STREAMS {
            return Err(TransportError::new(
                ErrorCode::FRAME_ENCODING_ERROR,
                "more than 2^60 streams",
            ));
        }
        if limit > self.may_open[side(kind)] {
            let before = std::mem::replace(&mut self.may_open[side(kind)], limit);
            self.pending.streams_blocked[side(kind)] = false;
            self.on_permitted(kind, before, limit);
            if kind == Directionality::Unidirectional && self.established {
                self.open_flows();
                self.release_messages();
                self.note_blocked();
            }
        }
        Ok(())
    }

    #[cold]
    fn on_streams_blocked(
        &mut self,
        kind: Directionality,
        limit: u64,
    ) -> Result<(), TransportError> {
        // RFC 9000 section 19.14.
        if limit > MAX_STREAMS {
            return Err(TransportError::new(
                ErrorCode::STREAM_LIMIT_ERROR,
                "more than 2^60 streams",
            ));
        }
        // A peer that waits need not wait for a larger step.
        let streams = &self.peer_may_open[side(kind)];
        self.pending.max_streams[side(kind)] |= streams.target() > limit;
        Ok(())
    }
}
