//! The receiving part of a stream (RFC 9000 section 3.2). The application reads at once whatever is complete, so that
//! "Data Recvd" and "Reset Recvd" pass into "Data Read" and "Reset Read" immediately.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime};
use leobench_transport::arrivals::Arrivals;
use leobench_transport::ranges::RangeSet;

use super::credit::{Credit, ReceiveWindow};
use crate::wire::{ErrorCode, MAX_VARINT, TransportError};

/// The states of RFC 9000 figure 3 that last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiveState {
    /// Data is being received.
    Recv,
    /// The end is known, and data is missing.
    SizeKnown,
    /// All data has been received and read: a final state.
    DataRead,
    /// The sender has abandoned it, or its rest is not wanted: a final state.
    ResetRead,
}

/// The receiving part of a stream.
#[derive(Debug)]
pub(super) struct ReceivePart {
    state: ReceiveState,
    pub(super) credit: Credit,
    /// One past the last byte received.
    highest: u64,
    /// All bytes below have been received.
    complete: u64,
    /// And these beyond.
    ahead: RangeSet,
    /// When they arrived, in order and disjoint; nothing unless that is measured.
    early: VecDeque<Early>,
    /// Bytes of the whole stream, once known.
    size: Option<u64>,
    /// The error code of the request to stop.
    stop: Option<u64>,
    /// Whether a `STOP_SENDING` frame is queued.
    pub(super) stop_queued: bool,
    /// Whether a `MAX_STREAM_DATA` frame is queued.
    pub(super) credit_queued: bool,
}

/// Bytes that arrived before earlier ones of their stream.
#[derive(Clone, Copy, Debug)]
struct Early {
    start: u64,
    end: u64,
    at: SimTime,
}

/// The changes to a receiving part caused by a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Bytes by which the highest offset grew, which count against the connection's limit.
    pub(super) growth: u64,
    /// Bytes consumed: read by the application, or discarded.
    pub(super) consumed: u64,
    /// Bytes that the application can read in order, and could before.
    pub(super) complete: (u64, u64),
}

impl ReceivePart {
    pub(super) fn new(window: ReceiveWindow) -> Self {
        Self {
            state: ReceiveState::Recv,
            credit: Credit::new(window),
            highest: 0,
            complete: 0,
            ahead: RangeSet::default(),
            early: VecDeque::new(),
            size: None,
            stop: None,
            stop_queued: false,
            credit_queued: false,
        }
    }

    pub(super) fn state(&self) -> ReceiveState {
        self.state
    }

    /// Whether nothing remains to be done.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, ReceiveState::DataRead | ReceiveState::ResetRead)
    }

    /// Checks a new end of the data, and whether it is the final one. `room` is what the connection's limit leaves.
    fn check(&self, end: u64, is_final: bool, room: u64) -> Result<u64, TransportError> {
        let beyond = self.size.is_some_and(|size| end > size || is_final && end != size);
        if beyond || is_final && end < self.highest {
            // RFC 9000 section 4.5.
            let reason = "data beyond the final size of a stream, or another final size";
            return Err(TransportError::new(ErrorCode::FINAL_SIZE_ERROR, reason));
        }
        if end > self.credit.limit() {
            // RFC 9000 section 4.1.
            return Err(TransportError::new(
                ErrorCode::FLOW_CONTROL_ERROR,
                "data beyond the limit of a stream",
            ));
        }
        let growth = end.saturating_sub(self.highest);
        if growth > room {
            let reason = "data beyond the limit of the connection";
            return Err(TransportError::new(ErrorCode::FLOW_CONTROL_ERROR, reason));
        }
        Ok(growth)
    }

    /// A STREAM frame arrived. `room` is what the connection's limit leaves; `arrivals` are measured, if any.
    pub(super) fn on_data(
        &mut self,
        now: SimTime,
        (offset, len, fin): (u64, u64, bool),
        room: u64,
        rtt: Option<SimDuration>,
        arrivals: Option<&mut Arrivals>,
    ) -> Result<Arrival, TransportError> {
        // RFC 9000 section 19.8: "The largest offset delivered on a stream [...] cannot exceed 2^62-1".
        let end = offset.checked_add(len).filter(|end| *end <= MAX_VARINT);
        let Some(end) = end else {
            return Err(TransportError::new(
                ErrorCode::FRAME_ENCODING_ERROR,
                "a stream offset above 2^62 - 1",
            ));
        };
        let growth = self.check(end, fin, room)?;
        self.highest += growth;
        if fin {
            self.size = Some(end);
            self.state = ReceiveState::SizeKnown;
        }
        let before = self.complete;
        if self.stop.is_some() {
            return Ok(self.discard(now, growth, rtt));
        }
        match arrivals {
            None => self.add(offset, end),
            Some(arrivals) => self.add_measured(now, (offset, end), arrivals),
        }
        let consumed = self.complete - before;
        if consumed > 0 {
            self.credit.consume(now, consumed, rtt);
        }
        if self.size == Some(self.complete) {
            self.state = ReceiveState::DataRead;
        }
        Ok(Arrival { growth, consumed, complete: (before, self.complete) })
    }

    #[inline]
    fn add(&mut self, start: u64, end: u64) {
        if start > self.complete {
            if end > start {
                self.ahead.insert(start, end);
            }
            return;
        }
        self.complete = self.complete.max(end);
        while let Some((first, last)) = self.ahead.first()
            && first <= self.complete
        {
            self.complete = self.complete.max(last);
            self.ahead.remove_below(last);
        }
    }

    /// Adds bytes, and measures which of them are new, and how long those waited that can be read now.
    fn add_measured(&mut self, now: SimTime, (start, end): (u64, u64), arrivals: &mut Arrivals) {
        let in_order = start <= self.complete;
        let mut from = start.max(self.complete);
        let mut fresh = 0;
        while let Some((first, last)) = self.ahead.first_gap(from, end) {
            fresh += last - first;
            from = last;
            if in_order {
                arrivals.on_delivered(last - first, SimDuration::ZERO);
            } else {
                self.note_early(Early { start: first, end: last, at: now });
            }
        }
        arrivals.on_duplicate(end - start - fresh);
        self.add(start, end);
        while let Some(early) = self.early.front().filter(|early| early.start < self.complete) {
            arrivals.on_delivered(early.end - early.start, now.saturating_since(early.at));
            self.early.pop_front();
        }
    }

    /// Notes when bytes arrived that nothing has been noted of; mostly behind all others.
    fn note_early(&mut self, new: Early) {
        match self.early.back_mut() {
            Some(last) if last.end == new.start && last.at == new.at => last.end = new.end,
            Some(last) if last.start > new.start => {
                let place = self.early.partition_point(|early| early.start < new.start);
                self.early.insert(place, new);
            }
            _ => self.early.push_back(new),
        }
    }

    /// Discards all that has come and was not read.
    fn discard(&mut self, now: SimTime, growth: u64, rtt: Option<SimDuration>) -> Arrival {
        let consumed = self.highest - self.credit.consumed();
        self.credit.consume(now, consumed, rtt);
        self.ahead.clear();
        self.early.clear();
        if self.size.is_some() {
            self.state = ReceiveState::ResetRead;
        }
        Arrival { growth, consumed, complete: (self.complete, self.complete) }
    }

    /// A `RESET_STREAM` frame arrived.
    pub(super) fn on_reset(
        &mut self,
        now: SimTime,
        size: u64,
        room: u64,
    ) -> Result<Arrival, TransportError> {
        let growth = self.check(size, true, room)?;
        self.highest += growth;
        self.size = Some(size);
        Ok(self.discard(now, growth, None))
    }

    /// Asks the sender to stop; what of the data was received and not read, and whether that is news.
    pub(super) fn stop(&mut self, now: SimTime, code: u64) -> Option<Arrival> {
        if self.is_done() || self.stop.is_some() {
            return None;
        }
        self.stop = Some(code);
        Some(self.discard(now, 0, None))
    }

    /// Whether this end asked the sender to stop: then the application hears no more of the stream.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// The error code of a request to stop that still matters.
    pub(super) fn stop_code(&self) -> Option<u64> {
        self.stop.filter(|_| !self.is_done())
    }

    /// Whether the sender should learn a new limit. Once the size is known, no limit matters.
    #[inline]
    pub(super) fn is_credit_due(&self) -> bool {
        self.state == ReceiveState::Recv && self.stop.is_none() && self.credit.is_due()
    }

    /// Whether limits still matter to the sender.
    pub(super) fn wants_credit(&self) -> bool {
        self.state == ReceiveState::Recv && self.stop.is_none()
    }
}

#[cfg(test)]
impl ReceivePart {
    /// Ranges kept.
    pub(super) fn ranges(&self) -> usize {
        self.ahead.len()
    }
}
