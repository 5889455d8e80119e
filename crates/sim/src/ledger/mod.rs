//! The ledger of a flow's messages: which were created, sent, delivered or lost, and how long they took.

use leobench_base::packet::Datagram;
use leobench_base::{Bytes, SimDuration, SimTime, StreamIndex};
use leobench_transport::buffer::Message;
use leobench_transport::endpoint::Report;
use smallvec::SmallVec;

use crate::record::MessageRow;

mod age;
mod deliveries;
mod own_streams;
mod statistics;
mod stream;

pub use age::Age;
pub(crate) use deliveries::Deliveries;
use own_streams::OwnStreams;
pub use statistics::{Cancellations, Statistics};
pub(crate) use stream::MEMORY_PER_OPEN_MESSAGE;
use stream::{Open, State, StreamLedger};

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
    /// The messages that have streams of their own, if any had one.
    own: Option<Box<OwnStreams>>,
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
            own: None,
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

    /// The same with counts of the cancelled messages of the streams for which it is true, by number; their messages have streams of their
    /// own.
    #[must_use]
    pub fn with_cancellations(mut self, counted: impl IntoIterator<Item = bool>) -> Self {
        for (stream, counted) in self.streams.iter_mut().zip(counted) {
            stream.statistics.cancellations = counted.then(Box::default);
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
    pub fn created(&mut self, stream: StreamIndex, message: Message) -> u64 {
        assert!(!message.size.is_zero(), "a message has at least one byte");
        self.open += 1;
        self.kept += 1;
        if let Some(total) = &mut self.total {
            total.created(message.created);
        }
        self.streams[stream.index()].created(message)
    }

    /// Takes in a report that neither begins nor completes a message, as most do; returns the bytes delivered. `None` if
    /// the report is another, or if deliveries are recorded: then [`report`](Self::report) takes it in.
    #[inline]
    pub fn progress(&mut self, now: SimTime, report: Report) -> Option<u64> {
        match report {
            Report::Sent { stream, offset } => {
                (offset <= self.streams[stream.index()].unsent).then_some(0)
            }
            Report::Room { .. } => Some(0),
            Report::Delivered { stream, offset } => {
                let stream = &mut self.streams[stream.index()];
                if offset >= stream.first_end || self.deliveries.is_some() {
                    return None;
                }
                let arrived = stream.advance(now, offset);
                if let Some(total) = &mut self.total {
                    total.arrived(now, arrived);
                }
                Some(arrived)
            }
            Report::Datagram { .. }
            | Report::Lost { .. }
            | Report::Opened { .. }
            | Report::Part { .. }
            | Report::Cancelled { .. } => None,
        }
    }

    /// Whether a report may complete messages.
    pub(crate) fn may_complete(&self, report: Report) -> bool {
        match report {
            Report::Sent { .. } | Report::Room { .. } => false,
            Report::Delivered { stream, offset } => {
                offset >= self.streams[stream.index()].first_end
            }
            Report::Datagram { .. }
            | Report::Lost { .. }
            | Report::Opened { .. }
            | Report::Part { .. }
            | Report::Cancelled { .. } => true,
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
            Report::Datagram { datagram, .. } => datagram.stream,
            Report::Lost { datagram: Datagram { stream, message, .. }, dropped } => {
                self.given_up(now, (stream, message), dropped, finished);
                return 0;
            }
            Report::Part { number, bytes } => return self.part(now, (number, bytes), finished),
            Report::Opened { stream, message, number } => {
                self.opened(stream, message, number);
                return 0;
            }
            Report::Cancelled { stream, message, sent } => {
                self.cancelled(now, (stream, message), sent, finished);
                return 0;
            }
        };
        let kept = self.streams[stream.index()].open.len();
        let arrived = match report {
            Report::Sent { stream, offset } => {
                self.streams[stream.index()].sent(now, offset);
                0
            }
            Report::Delivered { stream, offset } => {
                self.streams[stream.index()].delivered(now, stream, offset, finished)
            }
            Report::Room { .. }
            | Report::Lost { .. }
            | Report::Opened { .. }
            | Report::Part { .. }
            | Report::Cancelled { .. } => 0,
            Report::Datagram { datagram, .. } => {
                let found = self.streams[stream.index()].datagram(now, datagram, finished);
                if let Some(created) = found {
                    self.open += 1;
                    if let Some(total) = &mut self.total {
                        total.found(created);
                    }
                }
                datagram.payload.into()
            }
        };
        self.kept -= (kept - self.streams[stream.index()].open.len()) as u64;
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
        stream: StreamIndex,
        message: u64,
        finished: &mut Vec<MessageRow>,
    ) {
        self.given_up(now, (stream, message), true, finished);
    }

    /// A message is lost, for good or as far as its sender can tell.
    fn given_up(
        &mut self,
        now: SimTime,
        (stream, message): (StreamIndex, u64),
        for_good: bool,
        finished: &mut Vec<MessageRow>,
    ) {
        let ledger = &mut self.streams[stream.index()];
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
        self.streams.iter_mut().enumerate().flat_map(|(stream, ledger)| {
            std::iter::from_fn(move || ledger.pop(stream.into())).flatten()
        })
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

#[cfg(test)]
mod tests;
