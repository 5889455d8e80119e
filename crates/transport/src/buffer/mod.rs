//! The application's send buffer: messages waiting in front of each stream (Khan et al. 2023, Computer Networks,
//! section 5.1), with what schedulers and recorders want to know about them kept up to date in constant time.

mod set;

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime, StreamIndex};
use smallvec::SmallVec;
use typed_index_collections::TiSlice;

pub use set::StreamSet;

/// A message an application hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its size; at least one byte.
    pub size: Bytes,
    /// When the application scheduled it.
    pub created: SimTime,
}

leobench_base::words! {
    /// How the messages of a stream travel.
    pub enum Carried {
        /// In the transport's own way: in a reliable stream over QUIC and TCP, in datagrams over UDP.
        Stream = "stream",
        /// In datagrams, which are never sent again (RFC 9221 over QUIC).
        Datagrams = "datagrams",
        /// Each in a reliable stream of its own over QUIC, so that lost data of one delays no other.
        StreamPerMessage = "stream_per_message",
    }
}

leobench_base::words! {
    /// The sender's action on a message whose deadline has passed.
    pub enum OnDeadline {
        /// It sends on, and the message is delivered late.
        Deliver = "deliver",
        /// It cancels the message, whose stream is reset (RFC 9000 section 3.1): nothing more of it is sent, nor sent again.
        Cancel = "cancel",
    }
}

/// Priority and deadline that the application gives a stream, for schedulers that use them, and how its messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// From 0, the most urgent, to 7 (RFC 9218 section 4.1).
    pub urgency: u8,
    /// Whether a part of its data is of use before the rest has come (RFC 9218 section 4.2).
    pub incremental: bool,
    /// How long after its creation a message is due, if it is.
    pub deadline: Option<SimDuration>,
    /// How its messages travel.
    pub carried: Carried,
    /// The sender's action on a message whose deadline has passed.
    pub on_deadline: OnDeadline,
}

impl Default for Attributes {
    /// Those of RFC 9218 section 4: urgency 3, not incremental; no deadline, and a reliable stream.
    fn default() -> Self {
        Self {
            urgency: 3,
            incremental: false,
            deadline: None,
            carried: Carried::Stream,
            on_deadline: OnDeadline::Deliver,
        }
    }
}

/// The waiting messages of one stream: what a scheduler may see of it.
#[derive(Clone, Debug, Default)]
pub struct StreamBuffer {
    attributes: Attributes,
    waiting: VecDeque<Waiting>,
    backlog: u64,
    taken: u64,
    arrived: u64,
    created_sum: u128,
}

/// Memory a message takes while it waits: queues grow by doubling.
pub const MEMORY_PER_WAITING_MESSAGE: Bytes = Bytes::new(2 * size_of::<Waiting>() as u64);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    left: u64,
    created: SimTime,
}

impl StreamBuffer {
    /// The stream's priority and deadline.
    pub fn attributes(&self) -> Attributes {
        self.attributes
    }

    /// Bytes waiting.
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Bytes taken out since the start: the stream offset of the next waiting byte.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Messages waiting, a partly taken one included.
    pub fn messages(&self) -> usize {
        self.waiting.len()
    }

    /// Messages that have arrived since the start.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// When the latest waiting message was created.
    pub fn tail_created(&self) -> Option<SimTime> {
        self.waiting.back().map(|message| message.created)
    }

    /// When the oldest waiting message is due, if it is.
    pub fn head_deadline(&self) -> Option<SimTime> {
        let due = self.head_created()?.as_nanos().checked_add(self.attributes.deadline?.as_nanos());
        due.map(SimTime::from_nanos)
    }

    /// When the oldest waiting message was created.
    pub fn head_created(&self) -> Option<SimTime> {
        self.waiting.front().map(|message| message.created)
    }

    /// How long the oldest waiting message has waited.
    pub fn head_age(&self, now: SimTime) -> SimDuration {
        self.head_created().map_or(SimDuration::ZERO, |created| now.saturating_since(created))
    }

    /// The sum of the waiting messages' creation times, in nanoseconds.
    pub fn created_sum(&self) -> u128 {
        self.created_sum
    }

    /// The sum of the waiting messages' sojourn times, in nanoseconds.
    pub fn sojourn_sum(&self, now: SimTime) -> u128 {
        (u128::from(now.as_nanos()) * self.waiting.len() as u128).saturating_sub(self.created_sum)
    }

    fn push(&mut self, message: Message) {
        let size = message.size.get();
        self.waiting.push_back(Waiting { left: size, created: message.created });
        self.backlog += size;
        self.arrived += 1;
        self.created_sum += u128::from(message.created.as_nanos());
    }

    #[inline]
    fn take(&mut self, bytes: u64) {
        assert!(bytes <= self.backlog, "{bytes} bytes taken from {}", self.backlog);
        self.backlog -= bytes;
        self.taken += bytes;
        match self.waiting.front_mut() {
            Some(head) if bytes < head.left => head.left -= bytes,
            _ => self.take_messages(bytes),
        }
    }

    /// Takes bytes that reach the end of a message.
    #[inline(never)]
    fn take_messages(&mut self, bytes: u64) {
        let mut rest = bytes;
        while rest > 0 {
            let Some(head) = self.waiting.front_mut() else { break };
            if rest < head.left {
                head.left -= rest;
                return;
            }
            rest -= head.left;
            self.created_sum -= u128::from(head.created.as_nanos());
            self.waiting.pop_front();
        }
    }
}

/// The send buffers of all streams of a flow.
#[derive(Clone, Debug)]
pub struct SendBuffer {
    /// Most flows have one.
    streams: SmallVec<[StreamBuffer; 1]>,
    /// Those that have bytes waiting and are not held.
    occupied: StreamSet,
    /// Those that flow control holds.
    held: StreamSet,
    backlog: u64,
    taken: u64,
}

impl SendBuffer {
    /// Empty buffers for streams with the attributes given.
    pub fn new(streams: &[Attributes]) -> Self {
        let empty = |&attributes| StreamBuffer { attributes, ..StreamBuffer::default() };
        Self {
            streams: streams.iter().map(empty).collect(),
            occupied: StreamSet::new(streams.len()),
            held: StreamSet::new(streams.len()),
            backlog: 0,
            taken: 0,
        }
    }

    /// The empty buffer of a single stream from which `taken` bytes of `arrived` messages have been taken.
    pub fn from_offset(attributes: Attributes, taken: u64, arrived: u64) -> Self {
        let mut buffer = Self::new(&[attributes]);
        buffer.taken = taken;
        (buffer.streams[0].taken, buffer.streams[0].arrived) = (taken, arrived);
        buffer
    }

    /// Puts a message behind the others of its stream.
    pub fn push(&mut self, stream: StreamIndex, message: Message) {
        self.streams[stream.index()].push(message);
        self.backlog += message.size.get();
        self.mark(stream);
    }

    /// Leaves a stream out of [`next_occupied`](Self::next_occupied) while flow control lets none of its bytes go, or
    /// takes it in again.
    pub fn hold(&mut self, stream: StreamIndex, held: bool) {
        self.held.set(stream, held);
        self.mark(stream);
    }

    fn mark(&mut self, stream: StreamIndex) {
        let waiting = self.streams[stream.index()].backlog > 0;
        self.occupied.set(stream, waiting && !self.held.contains(stream));
    }

    /// Whether a stream has bytes waiting and is not held.
    pub fn is_occupied(&self, stream: StreamIndex) -> bool {
        self.occupied.contains(stream)
    }

    /// Takes `bytes` out of the front of a stream.
    ///
    /// # Panics
    /// If fewer are waiting.
    #[inline]
    pub fn take(&mut self, stream: StreamIndex, bytes: u64) {
        self.streams[stream.index()].take(bytes);
        self.backlog -= bytes;
        self.taken += bytes;
        // Otherwise nothing changes, as before it had bytes waiting too.
        if self.streams[stream.index()].backlog == 0 {
            self.mark(stream);
        }
    }

    /// Bytes waiting in all streams.
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Bytes taken out of all streams since the start.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// All streams by number, idle ones included.
    pub fn streams(&self) -> &TiSlice<StreamIndex, StreamBuffer> {
        TiSlice::from_ref(&self.streams)
    }

    /// The first stream with bytes waiting, and not held, whose number is at least `from`, else the first of all; in
    /// constant time for up to 4,096 streams.
    pub fn next_occupied(&self, from: StreamIndex) -> Option<StreamIndex> {
        self.occupied.first_from(from).or_else(|| self.occupied.first())
    }

    /// Whether any stream has bytes waiting, and is not held.
    #[inline]
    pub fn has_occupied(&self) -> bool {
        !self.occupied.is_empty()
    }

    /// The stream that alone has bytes waiting, if exactly one has.
    pub fn only_occupied(&self) -> Option<StreamIndex> {
        let first = self.occupied.first()?;
        (self.next_occupied(first.next()) == Some(first)).then_some(first)
    }
}

#[cfg(test)]
mod tests;
