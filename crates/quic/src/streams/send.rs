//! The sending part of a stream (RFC 9000 section 3.1). It keeps offsets, no data.

use leobench_transport::ranges::RangeSet;

/// The states of RFC 9000 figure 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendState {
    /// Nothing has been sent.
    Ready,
    /// Data is being sent.
    Send,
    /// All data and the end have been sent.
    DataSent,
    /// And acknowledged: a final state.
    DataRecvd,
    /// The stream was abandoned.
    ResetSent,
    /// And the peer knows: a final state.
    ResetRecvd,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    /// The application may write on.
    Open,
    /// It must be sent, for the first time or again.
    Due,
    Sent,
    Acked,
}

/// The sending part of a stream.
#[derive(Debug)]
pub(super) struct SendPart {
    state: SendState,
    /// The peer's limit on its bytes.
    limit: u64,
    /// Bytes sent at least once: the offset of the next new byte.
    sent: u64,
    /// Bytes that the application has written; what waits in a send buffer does not count.
    written: u64,
    fin: Fin,
    /// All bytes below are acknowledged.
    acked: u64,
    /// And these beyond.
    ahead: RangeSet,
    /// Bytes to send again.
    lost: RangeSet,
    /// The error code of the reset.
    code: u64,
    /// The peer wants no more of a stream that was sent in full, with this code.
    stopped: Option<u64>,
    /// The limit at which it was last found blocked.
    blocked_at: Option<u64>,
    /// In which queues the stream is.
    pub(super) queued: Queued,
}

/// Queues that a sending part is in.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a stream may be in any of the queues")]
pub(super) struct Queued {
    /// Something must be sent again, or only the end.
    pub(super) again: bool,
    /// New data waits, and the limit of the stream lets it go.
    pub(super) ready: bool,
    pub(super) reset: bool,
    pub(super) blocked: bool,
}

impl SendPart {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            state: SendState::Ready,
            limit,
            sent: 0,
            written: 0,
            fin: Fin::Open,
            acked: 0,
            ahead: RangeSet::default(),
            lost: RangeSet::default(),
            code: 0,
            stopped: None,
            blocked_at: None,
            queued: Queued::default(),
        }
    }

    pub(super) fn state(&self) -> SendState {
        self.state
    }

    /// Whether nothing remains to be done.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, SendState::DataRecvd | SendState::ResetRecvd)
    }

    /// Whether it was abandoned.
    pub(super) fn is_reset(&self) -> bool {
        matches!(self.state, SendState::ResetSent | SendState::ResetRecvd)
    }

    /// Whether the application may write.
    pub(super) fn is_open(&self) -> bool {
        self.fin == Fin::Open && !self.is_reset()
    }

    /// Bytes sent at least once.
    #[inline]
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes acknowledged without a gap.
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// New bytes that the peer lets it send.
    #[inline]
    pub(super) fn credit(&self) -> u64 {
        self.limit - self.sent
    }

    /// Bytes written and not sent.
    pub(super) fn unsent(&self) -> u64 {
        self.written - self.sent
    }

    /// The application writes `bytes`.
    pub(super) fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// The application writes no more.
    pub(super) fn finish(&mut self) {
        self.fin = Fin::Due;
    }

    /// The peer sets a limit; whether it is a higher one, which matters to a stream that is not abandoned.
    pub(super) fn raise(&mut self, limit: u64) -> bool {
        let higher = limit > self.limit;
        self.limit = self.limit.max(limit);
        higher && !self.is_reset()
    }

    /// Takes note that data waits that the limit holds back; whether the peer should be told, which happens once per limit.
    pub(super) fn note_blocked(&mut self) -> bool {
        self.blocked_at.replace(self.limit) != Some(self.limit)
    }

    /// Whether the peer's limit still is the one that it was told of.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked_at == Some(self.limit) && self.credit() == 0 && !self.is_reset()
    }

    /// Whether a frame up to `end` ends the stream.
    #[inline]
    pub(super) fn ends_at(&self, end: u64) -> bool {
        matches!(self.fin, Fin::Due | Fin::Sent) && end == self.written
    }

    /// Whether its end must be sent, and no new data before it.
    fn is_fin_due(&self) -> bool {
        self.fin == Fin::Due && self.sent == self.written
    }

    /// Whether something must be sent again, or the end alone.
    pub(super) fn has_again(&self) -> bool {
        !self.is_reset() && (!self.lost.is_empty() || self.is_fin_due())
    }

    /// The first range to send again; an empty range for the end alone.
    pub(super) fn next_again(&self) -> Option<(u64, u64)> {
        if !self.has_again() {
            return None;
        }
        Some(self.lost.first().unwrap_or((self.sent, self.sent)))
    }

    /// The first part of a range that was sent and is not acknowledged; an empty range at its end if only the stream's end is
    /// missing.
    pub(super) fn first_unacked(&self, start: u64, end: u64, fin: bool) -> Option<(u64, u64)> {
        if self.is_reset() {
            return None;
        }
        let gap = self.ahead.first_gap(start.max(self.acked), end);
        gap.or_else(|| (fin && self.fin == Fin::Sent).then_some((end, end)))
    }

    /// New bytes leave, and perhaps the end.
    #[inline]
    pub(super) fn on_sent(&mut self, bytes: u64, fin: bool) {
        self.sent += bytes;
        self.written = self.written.max(self.sent);
        if self.state == SendState::Ready {
            self.state = SendState::Send;
        }
        if fin {
            self.on_fin_sent();
        }
    }

    /// Bytes from `start` leave again, and perhaps the end.
    pub(super) fn on_sent_again(&mut self, start: u64, bytes: u64, fin: bool) {
        self.lost.remove(start, start + bytes);
        if fin {
            self.on_fin_sent();
        }
    }

    fn on_fin_sent(&mut self) {
        self.fin = Fin::Sent;
        if matches!(self.state, SendState::Ready | SendState::Send) {
            self.state = SendState::DataSent;
        }
    }

    /// All of it is to be sent as if for the first time, by a limit of the peer, which has processed nothing. Returns how many
    /// bytes had been sent.
    pub(super) fn restart(&mut self, limit: u64) -> u64 {
        self.limit = limit;
        self.lost.clear();
        (self.blocked_at, self.queued) = (None, Queued::default());
        if matches!(self.state, SendState::Send | SendState::DataSent) {
            self.state = SendState::Ready;
        }
        if self.fin == Fin::Sent {
            self.fin = Fin::Due;
        }
        std::mem::take(&mut self.sent)
    }

    /// A frame was acknowledged.
    pub(super) fn on_acked(&mut self, start: u64, end: u64, fin: bool) {
        if self.is_reset() {
            return;
        }
        if start <= self.acked {
            self.acked = self.acked.max(end);
            while let Some((first, last)) = self.ahead.first()
                && first <= self.acked
            {
                self.acked = self.acked.max(last);
                self.ahead.remove_below(last);
            }
        } else if end > start {
            self.ahead.insert(start, end);
        }
        if !self.lost.is_empty() {
            self.lost.remove(start, end);
        }
        if fin {
            self.fin = Fin::Acked;
        }
        if self.fin == Fin::Acked && self.acked == self.written {
            self.state = SendState::DataRecvd;
        }
    }

    /// A frame was lost. What was acknowledged nevertheless is not sent again.
    pub(super) fn on_lost(&mut self, start: u64, end: u64, fin: bool) {
        if self.is_reset() || self.is_done() {
            return;
        }
        let mut from = start.max(self.acked);
        while let Some((first, last)) = self.ahead.first_gap(from, end) {
            self.lost.insert(first, last);
            from = last;
        }
        if fin && self.fin == Fin::Sent {
            self.fin = Fin::Due;
        }
        // RFC 9000 section 3.5: "If any outstanding data is declared lost, the endpoint SHOULD send a RESET_STREAM frame
        // instead of retransmitting the data."
        if let Some(code) = self.stopped
            && self.has_again()
        {
            self.reset(code);
        }
    }

    /// Abandons it; whether that changes anything.
    pub(super) fn reset(&mut self, code: u64) -> bool {
        if self.is_reset() || self.is_done() {
            return false;
        }
        self.state = SendState::ResetSent;
        self.code = code;
        self.lost.clear();
        self.ahead.clear();
        true
    }

    /// The error code of the reset, until the peer has it.
    pub(super) fn reset_code(&self) -> Option<u64> {
        (self.state == SendState::ResetSent).then_some(self.code)
    }

    pub(super) fn on_reset_acked(&mut self) {
        if self.state == SendState::ResetSent {
            self.state = SendState::ResetRecvd;
        }
    }

    /// The peer wants no more; whether that is news. The stream is abandoned unless all of it was sent.
    pub(super) fn on_stop(&mut self, code: u64) -> bool {
        match self.state {
            // RFC 9000 section 3.5: "An endpoint that receives a STOP_SENDING frame MUST send a RESET_STREAM frame if the
            // stream is in the "Ready" or "Send" state. [...] the endpoint MAY defer sending the RESET_STREAM frame until
            // the packets containing outstanding data are acknowledged or declared lost."
            SendState::Ready | SendState::Send => self.reset(code),
            SendState::DataSent if self.has_again() => self.reset(code),
            SendState::DataSent => self.stopped.replace(code).is_none(),
            _ => false,
        }
    }
}

#[cfg(test)]
impl SendPart {
    /// Ranges kept.
    pub(super) fn ranges(&self) -> usize {
        self.ahead.len() + self.lost.len()
    }
}
