//! Streams of the flow that travel in datagrams (RFC 9221). Their messages are cut into datagrams, which leave once, each whole
//! in one packet. The scheduler of streams shares packets among them as among the others. A datagram that is larger than its share waits
//! until the shares of its stream add up to its size, as in deficit round robin (Shreedhar and Varghese 1995, SIGCOMM, section 3). Flow
//! control does not hold them back (section 5.3), and their stream IDs stay unused.

use std::collections::VecDeque;

use bytes::Bytes as Payload;
use leobench_base::packet::Datagram;
use leobench_base::{Bytes, SimDuration, SimTime, StreamIndex};
use leobench_transport::buffer::{Attributes, Carried, Message};
use leobench_transport::endpoint::Report;
use typed_index_collections::TiVec;

use super::Streams;
use super::fill::Progress;
use super::packet::Payload as Packet;
use crate::sent_frame::SentFrame;
use crate::wire::{Frame, varint_size};

/// The longest bytes that name a datagram: four variable-length integers, two of which are of four bytes at most.
const LONGEST_NAME: u64 = 8 + 8 + 8 + 8;

/// The streams of the flow that travel in datagrams, with the data that waits on them.
pub(super) struct DatagramStreams {
    /// By stream of the flow, none for the others.
    queues: TiVec<StreamIndex, Option<Queue>>,
    /// Bytes of the largest datagram; zero if the peer takes none, or is not known yet.
    largest: u64,
    /// Bytes that wait.
    waiting: u64,
    /// Streams whose shares add up to their next datagram, which goes before anything that the scheduler chooses.
    due: VecDeque<StreamIndex>,
}

/// The data that waits on one stream.
struct Queue {
    /// How long after its creation something is dropped that was not sent.
    lifetime: Option<SimDuration>,
    written: VecDeque<Written>,
    /// Messages written so far.
    messages: u64,
    /// Bytes of its shares that it has not used.
    saved: u64,
    /// Whether it is among those due.
    is_due: bool,
}

/// A message or a datagram that waits.
struct Written {
    created: SimTime,
    message: u64,
    /// The number of its next datagram.
    id: u64,
    left: u64,
    /// Whether it is cut into datagrams.
    is_cut: bool,
}

impl DatagramStreams {
    /// The streams with these attributes, if any of them travels in datagrams.
    pub(super) fn new(streams: &[Attributes]) -> Option<Box<Self>> {
        let queue = |stream: &Attributes| {
            let lifetime = stream.deadline;
            let (written, messages, saved, is_due) = (VecDeque::new(), 0, 0, false);
            let queue = Queue { lifetime, written, messages, saved, is_due };
            (stream.carried == Carried::Datagrams).then_some(queue)
        };
        let queues: TiVec<_, _> = streams.iter().map(queue).collect();
        let any = queues.iter().any(Option::is_some);
        any.then(|| Box::new(Self { queues, largest: 0, waiting: 0, due: VecDeque::new() }))
    }

    /// Whether a stream is one of them.
    pub(super) fn has(&self, stream: StreamIndex) -> bool {
        self.queues[stream].is_some()
    }

    fn queue(&mut self, stream: StreamIndex) -> Option<&mut Queue> {
        self.queues[stream].as_mut()
    }

    /// The first of them whose number is at least `from`.
    fn first_from(&self, from: StreamIndex) -> Option<StreamIndex> {
        (from.index()..self.queues.len()).map(StreamIndex::from).find(|stream| self.has(*stream))
    }

    /// Bytes that wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Whether a datagram waits that the peer takes.
    pub(super) fn is_ready(&self) -> bool {
        self.largest > 0 && self.waiting > 0
    }

    /// The next datagram of a stream.
    fn next(&self, stream: StreamIndex) -> Option<Datagram> {
        let Written { message, id, left, is_cut, .. } =
            *self.queues[stream].as_ref()?.written.front()?;
        let payload = if is_cut { left.min(self.largest) } else { left } as u32;
        Some(Datagram { message, id, stream, payload })
    }

    /// So many bytes at the front of a stream were sent or dropped.
    fn advance(&mut self, stream: StreamIndex, bytes: u64) {
        self.waiting -= bytes;
        let Some(queue) = self.queue(stream) else { return };
        if let Some(front) = queue.written.front_mut() {
            front.left -= bytes;
            front.id += 1;
            if front.left == 0 {
                queue.written.pop_front();
            }
        }
        if queue.written.is_empty() {
            queue.saved = 0;
        }
    }

    /// The first data of a stream if it is not worth sending: its deadline has passed, or it has no room in any packet.
    fn useless(&self, now: SimTime, stream: StreamIndex) -> Option<Datagram> {
        let queue = self.queues[stream].as_ref()?;
        let Written { created, message, id, left, is_cut } = *queue.written.front()?;
        let late = |lifetime| now.saturating_since(created) > lifetime;
        let payload = left.min(u32::MAX.into()) as u32;
        let useless = queue.lifetime.is_some_and(late) || !is_cut && left > self.largest;
        useless.then_some(Datagram { message, id, stream, payload })
    }
}

impl Streams {
    /// Whether a stream of the flow travels in datagrams.
    #[inline]
    pub(super) fn is_datagrams(&self, stream: StreamIndex) -> bool {
        self.datagrams.as_ref().is_some_and(|datagrams| datagrams.has(stream))
    }

    /// Whether datagrams wait to be sent.
    #[inline]
    pub(super) fn has_datagrams(&self) -> bool {
        self.datagrams.as_ref().is_some_and(|datagrams| self.established && datagrams.is_ready())
    }

    /// Whether nothing but datagrams waits.
    pub(super) fn has_only_datagrams(&self) -> bool {
        let backlog = self.flows.as_ref().map_or(0, |flows| flows.buffer().backlog());
        let datagrams = self.datagrams.as_ref().map_or(0, |datagrams| datagrams.waiting());
        datagrams > 0 && datagrams == backlog && self.waiting == 0
    }

    /// Datagrams of up to so many bytes can be sent, or none.
    pub(crate) fn set_largest_datagram(&mut self, bytes: Option<u64>) {
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.largest = bytes.filter(|bytes| *bytes >= LONGEST_NAME).unwrap_or(0);
        }
    }

    /// Lets the scheduler choose the streams that travel in datagrams, if the peer takes any.
    pub(super) fn release_datagrams(&mut self) {
        let Some(datagrams) = self.datagrams.as_ref().filter(|it| it.largest > 0) else { return };
        let streams = datagrams.queues.keys();
        for stream in streams.filter(|stream| datagrams.has(*stream)).collect::<Vec<_>>() {
            self.hold(stream, false);
        }
    }

    /// The application writes a message to a stream that travels in datagrams.
    pub(super) fn push_message(&mut self, stream: StreamIndex, message: Message) {
        let Message { size, created } = message;
        let Some(datagrams) = &mut self.datagrams else { return };
        datagrams.waiting += size.get();
        if let Some(queue) = datagrams.queue(stream) {
            let (message, id, left) = (queue.messages, 0, size.get());
            queue.messages += 1;
            queue.written.push_back(Written { created, message, id, left, is_cut: true });
        }
    }

    /// The application sends a datagram on a stream of the flow.
    ///
    /// # Panics
    /// If the stream does not travel in datagrams.
    pub(crate) fn push_datagram(&mut self, datagram: Datagram, created: SimTime) {
        let Datagram { message, id, stream, payload } = datagram;
        let left = u64::from(payload);
        assert!(self.is_datagrams(stream), "{datagram:?} on a stream without datagrams");
        let Self { flows: Some(flows), datagrams: Some(datagrams), .. } = self else { return };
        flows.push(stream, Message { size: Bytes::new(left), created });
        datagrams.waiting += left;
        if let Some(queue) = datagrams.queue(stream) {
            queue.written.push_back(Written { created, message, id, left, is_cut: false });
        }
    }

    /// Adds the datagrams that do not wait for the scheduler: those that are due, and all if flow control holds everything else back.
    #[inline(never)]
    pub(super) fn fill_due(&mut self, now: SimTime, packet: &mut Packet<'_>) {
        let mut progress = Progress::default();
        self.send_due(now, packet, &mut progress);
        let mut next = StreamIndex::FIRST;
        while self.connection_credit() == 0
            && let Some(datagrams) = self.datagrams.as_ref().filter(|it| it.is_ready())
            && let Some(stream) = datagrams.first_from(next)
        {
            self.send_datagrams(now, (stream, u64::MAX), packet, &mut progress);
            next = stream.next();
        }
    }

    /// Sends the datagrams that are due, as far as there is room, in the order in which they became due.
    pub(super) fn send_due(
        &mut self,
        now: SimTime,
        packet: &mut Packet<'_>,
        progress: &mut Progress,
    ) {
        while let Some(stream) = self.datagrams.as_ref().and_then(|it| it.due.front().copied()) {
            self.drop_useless(now, stream, progress);
            let Some(datagrams) = &mut self.datagrams else { return };
            let next = datagrams.next(stream);
            if next.is_some_and(|next| !add_datagram(packet, next)) {
                return;
            }
            datagrams.due.pop_front();
            if let Some(queue) = datagrams.queue(stream) {
                queue.is_due = false;
                queue.saved =
                    queue.saved.saturating_sub(next.map_or(0, |next| next.payload.into()));
            }
            if let Some(next) = next {
                progress.has_sent = true;
                self.take_datagram(stream, next.payload.into());
            }
        }
    }

    /// A stream has a share of a packet: sends the datagrams that are no larger, and saves the rest of it for the next one.
    #[inline(never)]
    pub(super) fn send_datagrams(
        &mut self,
        now: SimTime,
        (stream, mut share): (StreamIndex, u64),
        packet: &mut Packet<'_>,
        progress: &mut Progress,
    ) {
        self.drop_useless(now, stream, progress);
        progress.is_cut = true;
        while let Some(next) = self.datagrams.as_ref().and_then(|it| it.next(stream)) {
            let bytes = u64::from(next.payload);
            if bytes > share || !add_datagram(packet, next) {
                return self.save(stream, share, size_of_frame(next) <= packet.room, progress);
            }
            share -= bytes;
            progress.has_sent = true;
            self.take_datagram(stream, bytes);
            self.drop_useless(now, stream, progress);
        }
    }

    /// A stream does not use a share for its next datagram, for which there is room or not.
    fn save(&mut self, stream: StreamIndex, share: u64, has_room: bool, progress: &mut Progress) {
        let Some(datagrams) = &mut self.datagrams else { return };
        let (next, largest) = (datagrams.next(stream), datagrams.largest);
        let Some(queue) = datagrams.queues[stream].as_mut() else { return };
        // More than a datagram is saved only where nobody else uses the room.
        queue.saved = queue.saved.saturating_add(share).min(2 * largest);
        if queue.is_due {
            return;
        }
        if next.is_some_and(|next| u64::from(next.payload) <= queue.saved) {
            queue.is_due = true;
            datagrams.due.push_back(stream);
        }
        progress.has_freed |= has_room;
    }

    /// Drops the first data of a stream as long as it is not worth sending.
    fn drop_useless(&mut self, now: SimTime, stream: StreamIndex, progress: &mut Progress) {
        while let Some(datagram) = self.datagrams.as_ref().and_then(|it| it.useless(now, stream)) {
            self.report(Report::Lost { datagram, dropped: true });
            self.take_datagram(stream, datagram.payload.into());
            progress.has_freed = true;
        }
    }

    /// Takes bytes of a datagram out of the send buffer.
    fn take_datagram(&mut self, stream: StreamIndex, bytes: u64) {
        let Self { flows: Some(flows), datagrams: Some(datagrams), .. } = self else { return };
        datagrams.advance(stream, bytes);
        flows.take(stream, bytes);
        let offset = flows.buffer().streams()[stream].taken();
        self.report(Report::Sent { stream, offset });
    }

    /// The content of a DATAGRAM frame arrived. One that is no datagram of a flow is ignored.
    pub(crate) fn on_datagram(&mut self, content: &[u8]) {
        if let Some(datagram) = Datagram::decode(content) {
            self.report(Report::Datagram { datagram, is_marked: false });
        }
    }

    /// The packet of a datagram was lost.
    pub(crate) fn on_datagram_lost(&mut self, datagram: Datagram) {
        self.report(Report::Lost { datagram, dropped: false });
    }
}

/// Puts a datagram into a packet, if there is room.
fn add_datagram(packet: &mut Packet<'_>, datagram: Datagram) -> bool {
    if size_of_frame(datagram) > packet.room {
        return false;
    }
    let content = content_of(datagram);
    let mut data = Vec::with_capacity(content as usize);
    datagram.encode(&mut data);
    let Datagram { message, id, stream, payload } = datagram;
    let payload = payload as u16;
    let frame = Frame::Datagram { data: Payload::from(data), explicit_len: true };
    packet.add(frame, SentFrame::Part { message, id, stream, payload })
}

/// Bytes of the content of a datagram's frame.
fn content_of(datagram: Datagram) -> u64 {
    u64::from(datagram.payload).max(datagram.header())
}

/// Bytes of a datagram's frame.
fn size_of_frame(datagram: Datagram) -> u64 {
    let content = content_of(datagram);
    1 + varint_size(content) + content
}
