//! Which message travels in which stream of its own.

use std::collections::VecDeque;

use leobench_base::packet::Datagram;
use leobench_base::{SimTime, StreamIndex};
use leobench_transport::endpoint::Report;

use super::FlowLedger;
use super::stream::{Open, State};
use crate::record::MessageRow;

/// The messages that have streams of their own, by the numbers of those streams.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnStreams {
    /// Number of the first in `messages`.
    first: u64,
    /// Stream and number of each message.
    messages: VecDeque<(StreamIndex, u64)>,
}

impl OwnStreams {
    /// A message gets the stream of a number.
    pub(super) fn open(&mut self, number: u64, stream: StreamIndex, message: u64) {
        let next = self.first + self.messages.len() as u64;
        assert_eq!(number, next, "streams are opened in order");
        self.messages.push_back((stream, message));
    }

    /// The message in the stream of a number, unless it is forgotten.
    pub(super) fn get(&self, number: u64) -> Option<(StreamIndex, u64)> {
        self.messages.get(number.checked_sub(self.first)? as usize).copied()
    }

    /// Forgets the oldest messages as long as nobody waits for them.
    pub(super) fn forget(&mut self, is_settled: impl Fn(StreamIndex, u64) -> bool) {
        while let Some((stream, message)) = self.messages.front()
            && is_settled(*stream, *message)
        {
            self.messages.pop_front();
            self.first += 1;
        }
    }
}

impl FlowLedger {
    /// A message gets a stream of its own.
    pub(super) fn opened(&mut self, stream: StreamIndex, message: u64, number: u64) {
        let own = self.own.get_or_insert_default();
        own.open(number, stream, message);
        let streams = &self.streams;
        own.forget(|stream, message| streams[stream.index()].index_of(message).is_none());
    }

    /// Bytes of a message arrived in a stream of its own; they arrive as those of a datagram do.
    pub(super) fn part(
        &mut self,
        now: SimTime,
        (number, bytes): (u64, u64),
        finished: &mut Vec<MessageRow>,
    ) -> u64 {
        // One that nobody waits for any more.
        let own = self.own.as_ref().and_then(|own| own.get(number));
        let Some((stream, message)) = own else { return 0 };
        let payload = u32::try_from(bytes).unwrap_or(u32::MAX);
        let datagram = Datagram { message, id: 0, stream, payload };
        let arrived = self.report(now, Report::Datagram { datagram, is_marked: false }, finished);
        match bytes - u64::from(payload) {
            0 => arrived,
            rest => arrived + self.part(now, (number, rest), finished),
        }
    }

    /// The sender cancelled a message, of which it had sent some bytes. In a stream that it shares with others, which does not count
    /// cancellations, these follow those bytes.
    pub(super) fn cancelled(
        &mut self,
        now: SimTime,
        (stream, message): (StreamIndex, u64),
        sent: u64,
        finished: &mut Vec<MessageRow>,
    ) {
        let ledger = &mut self.streams[stream.index()];
        let Some(index) = ledger.index_of(message) else { return };
        let Open { created, size, .. } = ledger.open[index];
        ledger.statistics.cancelled(created, sent, size - sent);
        if ledger.statistics.cancellations.is_none() {
            ledger.cut(index, size - sent);
        }
        self.given_up(now, (stream, message), sent < size, finished);
        let ledger = &mut self.streams[stream.index()];
        if let Some(index) = ledger.index_of(message) {
            ledger.open[index].state = State::Cancelled;
        }
    }
}
