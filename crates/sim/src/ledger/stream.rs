//! The ledger of one stream's messages.

use std::collections::VecDeque;

use leobench_base::packet::Datagram;
use leobench_base::{Bytes, SimDuration, SimTime, StreamIndex};
use leobench_transport::buffer::Message;

use super::statistics::Statistics;
use crate::record::MessageRow;

/// Memory a message takes until it is delivered or lost: queues grow by doubling.
pub(crate) const MEMORY_PER_OPEN_MESSAGE: Bytes = Bytes::new(2 * size_of::<Open>() as u64);

/// How long after it was first sent a message can arrive that its sender has taken for lost. Ours: longer than queues and
/// interruptions hold packets, and short enough that lost messages take little memory.
const PATIENCE: SimDuration = SimDuration::from_secs(10);

/// The messages of one stream that are neither delivered nor lost, in order of creation.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct StreamLedger {
    pub(super) created_bytes: u64,
    pub(super) delivered_bytes: u64,
    /// The end of the first message in `open`.
    pub(super) first_end: u64,
    /// Offset of the first message with nothing sent yet, or else of the next one to be created.
    pub(super) unsent: u64,
    pub(super) open: VecDeque<Open>,
    pub(super) statistics: Statistics,
    /// Number of the first message in `open`.
    pub(super) first: u64,
    /// How many at the front of `open` have been sent at least in part.
    pub(super) sent: usize,
    /// How many in `open` their sender has taken for lost.
    pub(super) doubted: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) created: SimTime,
    pub(super) first_sent: Option<SimTime>,
    /// Payload that arrived in datagrams.
    pub(super) arrived: u64,
    pub(super) state: State,
}

/// The state of a message that takes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Neither delivered nor lost.
    Open,
    /// Taken for lost by its sender, though it may still arrive.
    Doubted,
    /// Cancelled by its sender, which had sent all of it: it may still arrive.
    Cancelled,
    /// Delivered or lost, behind an older message that is neither yet.
    Closed,
}

impl StreamLedger {
    pub(super) fn new(statistics: Statistics) -> Self {
        Self {
            created_bytes: 0,
            delivered_bytes: 0,
            first_end: u64::MAX,
            unsent: 0,
            open: VecDeque::new(),
            statistics,
            first: 0,
            sent: 0,
            doubted: 0,
        }
    }

    pub(super) fn created(&mut self, message: Message) -> u64 {
        self.statistics.created(message.created);
        self.open.push_back(Open {
            start: self.created_bytes,
            size: message.size.get(),
            created: message.created,
            first_sent: None,
            arrived: 0,
            state: State::Open,
        });
        self.created_bytes += message.size.get();
        self.look();
        self.first + self.open.len() as u64 - 1
    }

    pub(super) fn sent(&mut self, now: SimTime, offset: u64) {
        assert!(offset <= self.created_bytes, "byte {offset} sent of {}", self.created_bytes);
        while let Some(message) = self.open.get_mut(self.sent)
            && message.start < offset
        {
            message.first_sent = Some(now);
            self.sent += 1;
        }
        self.look();
    }

    /// Notes where the next message ends and where one begins, so that most reports need not look at messages.
    fn look(&mut self) {
        self.first_end = self.open.front().map_or(u64::MAX, |first| first.start + first.size);
        self.unsent = self.open.get(self.sent).map_or(self.created_bytes, |unsent| unsent.start);
    }

    /// All bytes below `offset` were delivered; returns how many of them are new.
    #[inline]
    pub(super) fn advance(&mut self, now: SimTime, offset: u64) -> u64 {
        let range = self.delivered_bytes..=self.created_bytes;
        assert!(range.contains(&offset), "byte {offset} delivered outside of {range:?}");
        let arrived = offset - self.delivered_bytes;
        self.statistics.arrived(now, arrived);
        self.delivered_bytes = offset;
        arrived
    }

    /// The same where messages may end; returns the bytes that are new.
    pub(super) fn delivered(
        &mut self,
        now: SimTime,
        stream: StreamIndex,
        offset: u64,
        finished: &mut Vec<MessageRow>,
    ) -> u64 {
        let arrived = self.advance(now, offset);
        while self.first_end <= offset {
            self.close(0, stream, Some(now), finished);
        }
        arrived
    }

    /// A part of a message arrived; returns when it was created if it is complete, and had been taken for lost.
    pub(super) fn datagram(
        &mut self,
        now: SimTime,
        Datagram { stream, message: number, payload, .. }: Datagram,
        finished: &mut Vec<MessageRow>,
    ) -> Option<SimTime> {
        self.statistics.arrived(now, payload.into());
        let index = self.index_of(number)?;
        let message = &mut self.open[index];
        message.arrived += u64::from(payload);
        assert!(message.arrived <= message.size, "more of message {number} arrived than was sent");
        if message.arrived < message.size {
            return None;
        }
        let found = message.state.may_arrive().then_some(message.created);
        if let Some(created) = found {
            self.statistics.found(created);
        }
        if message.state == State::Cancelled {
            self.statistics.not_cancelled(message.created, message.size);
        }
        self.close(index, stream, Some(now), finished);
        found
    }

    /// The sender takes a message for lost.
    pub(super) fn doubt(&mut self, index: usize) {
        self.open[index].state = State::Doubted;
        self.doubted += 1;
    }

    /// The last bytes of a message are never sent: those behind it begin earlier.
    pub(super) fn cut(&mut self, index: usize, bytes: u64) {
        self.created_bytes -= bytes;
        for message in self.open.range_mut(index + 1..) {
            message.start -= bytes;
        }
        self.look();
    }

    /// Closes the messages at the front that their sender has taken for lost and that nobody waits for any more.
    pub(super) fn forget(
        &mut self,
        now: SimTime,
        stream: StreamIndex,
        finished: &mut Vec<MessageRow>,
    ) {
        while self.doubted > 0
            && let Some(front) = self.open.front().filter(|front| front.state.may_arrive())
            && front.first_sent.is_none_or(|sent| now.saturating_since(sent) > PATIENCE)
        {
            self.close(0, stream, None, finished);
        }
    }

    /// Returns the index of an open message; `None` once it is closed.
    pub(super) fn index_of(&self, number: u64) -> Option<usize> {
        let created = self.first + self.open.len() as u64;
        assert!(number < created, "message {number} is unknown among {created}");
        let index = number.checked_sub(self.first)? as usize;
        (self.open[index].state != State::Closed).then_some(index)
    }

    pub(super) fn close(
        &mut self,
        index: usize,
        stream: StreamIndex,
        delivered: Option<SimTime>,
        finished: &mut Vec<MessageRow>,
    ) {
        let message = &mut self.open[index];
        self.doubted -= u64::from(message.state.may_arrive());
        message.state = State::Closed;
        if let Some(now) = delivered {
            self.statistics.delivered(now, message.created);
        }
        finished.push(message.row(stream, self.first + index as u64, delivered));
        while self.open.front().is_some_and(|message| message.state == State::Closed) {
            self.pop(stream);
        }
    }

    /// Takes the oldest message out; its row, unless that was handed out when the message was closed.
    #[expect(clippy::option_option, reason = "the outer one ends an iterator")]
    pub(super) fn pop(&mut self, stream: StreamIndex) -> Option<Option<MessageRow>> {
        let message = self.open.pop_front()?;
        let open = message.state != State::Closed;
        let row = open.then(|| message.row(stream, self.first, None));
        self.first += 1;
        self.sent = self.sent.saturating_sub(1);
        self.look();
        Some(row)
    }
}

impl State {
    /// Whether it counts as lost, and may still arrive.
    fn may_arrive(self) -> bool {
        matches!(self, Self::Doubted | Self::Cancelled)
    }
}

impl Open {
    fn row(&self, stream: StreamIndex, number: u64, delivered: Option<SimTime>) -> MessageRow {
        MessageRow {
            stream,
            number,
            size: Bytes::new(self.size),
            created: self.created,
            first_sent: self.first_sent,
            delivered,
        }
    }
}
