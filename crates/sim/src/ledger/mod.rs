//! The ledger of a flow's messages: which were created, sent, delivered or lost, and how long they took.

use std::collections::VecDeque;

use leobench_base::packet::Datagram;
use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_transport::buffer::Message;
use leobench_transport::endpoint::Report;
use smallvec::SmallVec;

use crate::record::MessageRow;

mod age;
mod deliveries;
mod statistics;

pub use age::Age;
pub(crate) use deliveries::Deliveries;
pub use statistics::Statistics;

/// Memory a message takes until it is delivered or lost: queues grow by doubling.
pub(crate) const MEMORY_PER_OPEN_MESSAGE: Bytes = Bytes::new(2 * size_of::<Open>() as u64);

/// How long after it was first sent a message can arrive that its sender has taken for lost. Ours: longer than queues and
/// interruptions hold packets, and short enough that lost messages take little memory.
const PATIENCE: SimDuration = SimDuration::from_secs(10);

/// Message accounting of one flow, in constant time per message.
///
/// A reliable stream is a stream of bytes: its messages end where their sizes add up to, and are delivered in order,
/// each once. An unreliable message is delivered when all its datagrams have arrived, in any order; it is lost as soon
/// as the network has dropped one of them ([`lost`](Self::lost)), or its sender has taken one for lost. The sender may be wrong:
/// for ten seconds, such a message is delivered after all if the rest of it arrives. So only messages that wait or
/// travel take memory.
///
/// Order of calls at an instant: the reports of a poll before the packets of that poll enter the network.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct FlowLedger {
    /// Messages neither delivered nor lost.
    open: u64,
    /// Messages that take memory: those, and others of a stream behind them.
    kept: u64,
    deliveries: Option<Deliveries>,
    /// Over all streams; none of a flow with one stream, whose own they are.
    total: Option<Box<Statistics>>,
    /// Most flows have one.
    streams: SmallVec<[StreamLedger; 1]>,
    /// Whether a message has no end.
    endless: bool,
}

/// The messages of one stream that are neither delivered nor lost, in order of creation.
#[derive(Clone, Debug)]
#[repr(C)]
struct StreamLedger {
    created_bytes: u64,
    delivered_bytes: u64,
    /// The end of the first message in `open`.
    first_end: u64,
    /// Offset of the first message with nothing sent yet, or else of the next one to be created.
    unsent: u64,
    open: VecDeque<Open>,
    statistics: Statistics,
    /// Number of the first message in `open`.
    first: u64,
    /// How many at the front of `open` have been sent at least in part.
    sent: usize,
    /// How many in `open` their sender has taken for lost.
    doubted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    start: u64,
    size: u64,
    created: SimTime,
    first_sent: Option<SimTime>,
    /// Payload that arrived in datagrams.
    arrived: u64,
    state: State,
}

/// The state of a message that takes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Neither delivered nor lost.
    Open,
    /// Taken for lost by its sender, though it may still arrive.
    Doubted,
    /// Delivered or lost, behind an older message that is neither yet.
    Closed,
}

impl FlowLedger {
    /// An empty ledger for `streams` streams; statistics leave out what happens before `warm_up`.
    pub fn new(streams: usize, warm_up: SimTime) -> Self {
        let statistics = Statistics::new(warm_up);
        Self {
            streams: (0..streams).map(|_| StreamLedger::new(statistics.clone())).collect(),
            open: 0,
            kept: 0,
            total: (streams != 1).then(|| Box::new(statistics)),
            deliveries: None,
            endless: false,
        }
    }

    /// The same of a flow with a message that never ends.
    #[must_use]
    pub fn endless(self) -> Self {
        Self { endless: true, ..self }
    }

    /// The same with a record of what is delivered in every step of time.
    #[must_use]
    pub(crate) fn with_deliveries(mut self, step: SimDuration) -> Self {
        self.deliveries = Some(Deliveries::new(step));
        self
    }

    /// The same with the streams' deadlines, by number, counted from a message's creation.
    #[must_use]
    pub fn with_deadlines(
        mut self,
        deadlines: impl IntoIterator<Item = Option<SimDuration>>,
    ) -> Self {
        for (stream, deadline) in self.streams.iter_mut().zip(deadlines) {
            stream.statistics.deadline = deadline;
        }
        self
    }

    /// The same with the ages of the streams for which it is true, by number.
    #[must_use]
    pub fn with_ages(mut self, measured: impl IntoIterator<Item = bool>) -> Self {
        for (stream, measured) in self.streams.iter_mut().zip(measured) {
            stream.statistics.age = measured.then(Box::default);
        }
        self
    }

    /// The application wrote a message; returns its number within the stream.
    pub fn created(&mut self, stream: usize, message: Message) -> u64 {
        assert!(!message.size.is_zero(), "a message has at least one byte");
        self.open += 1;
        self.kept += 1;
        if let Some(total) = &mut self.total {
            total.created(message.created);
        }
        self.streams[stream].created(message)
    }

    /// Takes in a report that neither begins nor completes a message, as most do; returns the bytes delivered. `None` if
    /// the report is another, or if deliveries are recorded: then [`report`](Self::report) takes it in.
    #[inline]
    pub fn progress(&mut self, now: SimTime, report: Report) -> Option<u64> {
        match report {
            Report::Sent { stream, offset } => (offset <= self.streams[stream].unsent).then_some(0),
            Report::Room { .. } => Some(0),
            Report::Delivered { stream, offset } => {
                let stream = &mut self.streams[stream];
                if offset >= stream.first_end || self.deliveries.is_some() {
                    return None;
                }
                let arrived = stream.advance(now, offset);
                if let Some(total) = &mut self.total {
                    total.arrived(now, arrived);
                }
                Some(arrived)
            }
            Report::Datagram(_) | Report::Lost { .. } => None,
        }
    }

    /// Takes in what happened to data of the flow, and appends the messages it completes to `finished`; returns the
    /// bytes delivered.
    pub fn report(&mut self, now: SimTime, report: Report, finished: &mut Vec<MessageRow>) -> u64 {
        let known = finished.len();
        let stream = match report {
            Report::Sent { stream, .. }
            | Report::Delivered { stream, .. }
            | Report::Room { stream, .. } => stream,
            Report::Datagram(datagram) => datagram.stream as usize,
            Report::Lost { datagram: Datagram { stream, message, .. }, dropped } => {
                self.given_up(now, (stream as usize, message), dropped, finished);
                return 0;
            }
        };
        let kept = self.streams[stream].open.len();
        let arrived = match report {
            Report::Sent { stream, offset } => {
                self.streams[stream].sent(now, offset);
                0
            }
            Report::Delivered { stream, offset } => {
                self.streams[stream].delivered(now, stream, offset, finished)
            }
            Report::Room { .. } | Report::Lost { .. } => 0,
            Report::Datagram(datagram) => {
                let found = self.streams[stream].datagram(now, datagram, finished);
                if let Some(created) = found {
                    self.open += 1;
                    if let Some(total) = &mut self.total {
                        total.found(created);
                    }
                }
                datagram.payload.into()
            }
        };
        self.kept -= (kept - self.streams[stream].open.len()) as u64;
        if let Some(total) = &mut self.total {
            total.arrived(now, arrived);
            for row in &finished[known..] {
                total.delivered(now, row.created);
            }
        }
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.add(now, Bytes::new(arrived));
        }
        self.open -= (finished.len() - known) as u64;
        arrived
    }

    /// The network dropped a datagram of an unreliable message, which can no longer be delivered: appends it to
    /// `finished`, unless an earlier datagram of it was dropped already.
    pub fn lost(
        &mut self,
        now: SimTime,
        stream: usize,
        message: u64,
        finished: &mut Vec<MessageRow>,
    ) {
        self.given_up(now, (stream, message), true, finished);
    }

    /// A message is lost, for good or as far as its sender can tell.
    fn given_up(
        &mut self,
        now: SimTime,
        (stream, message): (usize, u64),
        for_good: bool,
        finished: &mut Vec<MessageRow>,
    ) {
        let ledger = &mut self.streams[stream];
        let Some(index) = ledger.index_of(message) else { return };
        let Open { created, state, .. } = ledger.open[index];
        if state == State::Open {
            if let Some(total) = &mut self.total {
                total.lost(now, created);
            }
            ledger.statistics.lost(now, created);
            ledger.doubt(index);
            self.open -= 1;
        }
        let kept = ledger.open.len();
        if for_good {
            ledger.close(index, stream, None, finished);
        }
        ledger.forget(now, stream, finished);
        self.kept -= (kept - ledger.open.len()) as u64;
    }

    /// Messages that take memory.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }

    /// Memory that the record of deliveries takes.
    pub(crate) fn deliveries_memory(&self) -> Bytes {
        self.deliveries.as_ref().map_or(Bytes::ZERO, Deliveries::memory)
    }

    /// Whether no message is waiting or on its way.
    pub fn is_drained(&self) -> bool {
        self.open == 0
    }

    /// Whether a run that ends when every byte has arrived waits for this flow.
    pub fn is_awaited(&self) -> bool {
        !self.is_drained() && !self.endless
    }

    /// At the end of the run: takes out the messages that were neither delivered nor lost, by stream and number.
    pub fn take_open(&mut self, end: SimTime) -> impl Iterator<Item = MessageRow> + '_ {
        for stream in &mut self.streams {
            for message in stream.open.iter().filter(|message| message.state == State::Open) {
                stream.statistics.left_open(end, message.created);
            }
        }
        self.streams
            .iter_mut()
            .enumerate()
            .flat_map(|(stream, ledger)| std::iter::from_fn(move || ledger.pop(stream)).flatten())
    }

    /// The flow's statistics, over all its streams; deadlines are those of streams.
    pub fn statistics(&self) -> &Statistics {
        self.total.as_deref().unwrap_or_else(|| &self.streams[0].statistics)
    }

    /// Returns the bytes delivered in every step of time, if they are recorded.
    pub(crate) fn deliveries(&self) -> Option<&Deliveries> {
        self.deliveries.as_ref()
    }

    /// Statistics of each stream by number.
    pub fn streams(&self) -> impl ExactSizeIterator<Item = &Statistics> {
        self.streams.iter().map(|stream| &stream.statistics)
    }
}

impl StreamLedger {
    fn new(statistics: Statistics) -> Self {
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

    fn created(&mut self, message: Message) -> u64 {
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

    fn sent(&mut self, now: SimTime, offset: u64) {
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
    fn advance(&mut self, now: SimTime, offset: u64) -> u64 {
        let range = self.delivered_bytes..=self.created_bytes;
        assert!(range.contains(&offset), "byte {offset} delivered outside of {range:?}");
        let arrived = offset - self.delivered_bytes;
        self.statistics.arrived(now, arrived);
        self.delivered_bytes = offset;
        arrived
    }

    /// The same where messages may end; returns the bytes that are new.
    fn delivered(
        &mut self,
        now: SimTime,
        stream: usize,
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
    fn datagram(
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
        let found = (message.state == State::Doubted).then_some(message.created);
        if let Some(created) = found {
            self.statistics.found(created);
        }
        self.close(index, stream as usize, Some(now), finished);
        found
    }

    /// The sender takes a message for lost.
    fn doubt(&mut self, index: usize) {
        self.open[index].state = State::Doubted;
        self.doubted += 1;
    }

    /// Closes the messages at the front that their sender has taken for lost and that nobody waits for any more.
    fn forget(&mut self, now: SimTime, stream: usize, finished: &mut Vec<MessageRow>) {
        while self.doubted > 0
            && let Some(front) = self.open.front().filter(|front| front.state == State::Doubted)
            && front.first_sent.is_none_or(|sent| now.saturating_since(sent) > PATIENCE)
        {
            self.close(0, stream, None, finished);
        }
    }

    /// Returns the index of an open message; `None` once it is closed.
    fn index_of(&self, number: u64) -> Option<usize> {
        let created = self.first + self.open.len() as u64;
        assert!(number < created, "message {number} is unknown among {created}");
        let index = number.checked_sub(self.first)? as usize;
        (self.open[index].state != State::Closed).then_some(index)
    }

    fn close(
        &mut self,
        index: usize,
        stream: usize,
        delivered: Option<SimTime>,
        finished: &mut Vec<MessageRow>,
    ) {
        let message = &mut self.open[index];
        self.doubted -= u64::from(message.state == State::Doubted);
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
    fn pop(&mut self, stream: usize) -> Option<Option<MessageRow>> {
        let message = self.open.pop_front()?;
        let open = message.state != State::Closed;
        let row = open.then(|| message.row(stream, self.first, None));
        self.first += 1;
        self.sent = self.sent.saturating_sub(1);
        self.look();
        Some(row)
    }
}

impl Open {
    fn row(&self, stream: usize, number: u64, delivered: Option<SimTime>) -> MessageRow {
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

#[cfg(test)]
mod tests;
