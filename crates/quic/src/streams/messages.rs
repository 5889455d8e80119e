//! Streams of the flow whose messages travel in QUIC streams of their own, behind those of the flow, as objects do in Media over QUIC
//! (draft-ietf-moq-transport). The scheduler of streams shares packets among them as among the others, and the messages of each leave in
//! order of creation. Lost data of one message delays no other.
//!
//! A message can be cancelled when its deadline passes: its stream is reset (RFC 9000 section 3.1) unless all of it was acknowledged.

use std::collections::VecDeque;

use leobench_base::{SimDuration, SimTime, StreamIndex};
use leobench_transport::buffer::{Attributes, Carried, Message, OnDeadline};
use leobench_transport::endpoint::Report;
use leobench_transport::scheduler::stream_header;
use typed_index_collections::TiVec;

use super::Streams;
use super::fill::Progress;
use super::id::side;
use super::packet::Payload;
use crate::earliest::earliest;
use crate::wire::{Directionality, StreamId};

/// The error code of a stream whose deadline has passed (draft-ietf-moq-transport, "Delivery Timeout").
const DELIVERY_TIMEOUT: u64 = 2;

/// The streams of the flow whose messages travel in streams of their own.
pub(super) struct MessageStreams {
    /// By stream of the flow, none for the others.
    queues: TiVec<StreamIndex, Option<Queue>>,
    /// The streams that have a queue.
    members: Vec<StreamIndex>,
}

/// The messages of one stream.
struct Queue {
    /// How long after its creation a message is cancelled.
    lifetime: Option<SimDuration>,
    /// Messages that wait, travel, or are acknowledged behind one that travels, in order of creation.
    messages: VecDeque<Written>,
    /// Messages written so far.
    count: u64,
    /// How many at the front of `messages` have been sent in full.
    sent: usize,
}

/// A message.
#[derive(Clone, Copy)]
struct Written {
    number: u64,
    created: SimTime,
    size: u64,
    /// Bytes not sent.
    left: u64,
    /// Its stream, once that is open.
    id: Option<StreamId>,
}

impl MessageStreams {
    /// The streams with these attributes, if the messages of any have streams of their own.
    pub(super) fn new(streams: &[Attributes]) -> Option<Box<Self>> {
        let queue = |stream: &Attributes| {
            let cancels = stream.on_deadline == OnDeadline::Cancel;
            let lifetime = stream.deadline.filter(|_| cancels);
            let queue = Queue { lifetime, messages: VecDeque::new(), count: 0, sent: 0 };
            (stream.carried == Carried::StreamPerMessage).then_some(queue)
        };
        let queues: TiVec<StreamIndex, _> = streams.iter().map(queue).collect();
        let members: Vec<_> = queues.keys().filter(|it| queues[*it].is_some()).collect();
        (!members.is_empty()).then(|| Box::new(Self { queues, members }))
    }

    /// Whether a stream is one of them.
    #[inline]
    pub(super) fn has(&self, stream: StreamIndex) -> bool {
        self.queues[stream].is_some()
    }

    fn queue(&mut self, stream: StreamIndex) -> Option<&mut Queue> {
        self.queues[stream].as_mut()
    }

    fn head(&self, stream: StreamIndex) -> Option<Written> {
        let queue = self.queues[stream].as_ref()?;
        queue.messages.get(queue.sent).copied()
    }

    /// The stream of the flow, and the place among its messages, of a message's stream.
    fn find(&self, id: StreamId) -> Option<(StreamIndex, usize)> {
        self.members.iter().find_map(|stream| {
            let messages = &self.queues[*stream].as_ref()?.messages;
            let place = messages.iter().position(|message| message.id == Some(id))?;
            Some((*stream, place))
        })
    }
}

impl Queue {
    /// When its oldest message is cancelled.
    fn due(&self) -> Option<SimTime> {
        let created = self.messages.front()?.created.as_nanos();
        created.checked_add(self.lifetime?.as_nanos()).map(SimTime::from_nanos)
    }

    fn remove(&mut self, place: usize) -> Option<Written> {
        self.sent -= usize::from(place < self.sent);
        self.messages.remove(place)
    }
}

impl Streams {
    /// Whether the messages of a stream of the flow have streams of their own.
    #[inline]
    pub(super) fn has_message_streams(&self, stream: StreamIndex) -> bool {
        self.messages.as_ref().is_some_and(|messages| messages.has(stream))
    }

    /// When the next message is cancelled unless it is acknowledged before.
    #[inline]
    pub(crate) fn cancellation(&self) -> Option<SimTime> {
        let messages = self.messages.as_ref()?;
        let queues = messages.members.iter().filter_map(|stream| messages.queues[*stream].as_ref());
        queues.filter_map(Queue::due).fold(None, |first, due| earliest(first, Some(due)))
    }

    /// Cancels the messages whose deadline has passed.
    pub(crate) fn cancel_due(&mut self, now: SimTime) {
        if self.cancellation().is_none_or(|due| due > now) {
            return;
        }
        for member in 0..self.messages.as_ref().map_or(0, |messages| messages.members.len()) {
            let Some(messages) = &mut self.messages else { return };
            let stream = messages.members[member];
            while let Some(messages) = &mut self.messages
                && let Some(queue) = messages.queue(stream)
                && queue.due().is_some_and(|due| due <= now)
                && let Some(message) = queue.remove(0)
            {
                self.cancel(stream, message);
            }
            self.settle_messages(stream);
        }
        self.prune_control();
    }

    /// Gives up a message that is not queued any more, unless it was acknowledged behind another one.
    fn cancel(&mut self, stream: StreamIndex, message: Written) {
        let Written { number, size, left, id, .. } = message;
        if let Some(id) = id {
            if self.table.send(id).is_none() {
                return;
            }
            self.reset(id, DELIVERY_TIMEOUT);
        }
        if let Some(flows) = self.flows.as_mut().filter(|_| left > 0) {
            flows.take(stream, left);
            let offset = flows.buffer().streams()[stream].taken();
            self.report(Report::Sent { stream, offset });
        }
        self.report(Report::Cancelled { stream, message: number, sent: size - left });
    }

    /// The stream of a message was abandoned: nothing more of it is sent.
    pub(super) fn on_message_abandoned(&mut self, id: StreamId) {
        let Some(messages) = &mut self.messages else { return };
        let Some((stream, place)) = messages.find(id) else { return };
        if let Some(message) = messages.queue(stream).and_then(|queue| queue.remove(place)) {
            self.cancel(stream, message);
            self.settle_messages(stream);
        }
    }

    /// A stream is in a final state: drops the messages that are acknowledged, up to the oldest that is not.
    pub(super) fn forget_acked(&mut self) {
        let Self { messages: Some(messages), table, .. } = self else { return };
        for stream in &messages.members {
            let Some(queue) = &mut messages.queues[*stream] else { continue };
            while queue.sent > 0
                && let Some(id) = queue.messages.front().and_then(|message| message.id)
                && table.send(id).is_none()
            {
                queue.remove(0);
            }
        }
    }

    /// The application writes a message that gets a stream of its own.
    pub(super) fn push_own(&mut self, stream: StreamIndex, message: Message) {
        let Some(queue) = self.messages.as_mut().and_then(|messages| messages.queue(stream)) else {
            return;
        };
        let (created, size, number) = (message.created, message.size.get(), queue.count);
        queue.count += 1;
        queue.messages.push_back(Written { number, created, size, left: size, id: None });
        if self.established {
            self.settle_messages(stream);
            self.note_blocked();
        }
    }

    /// Lets the scheduler choose the streams whose messages have streams of their own, as far as the peer's limits let them send.
    pub(super) fn release_messages(&mut self) {
        for member in 0..self.messages.as_ref().map_or(0, |messages| messages.members.len()) {
            let Some(messages) = &self.messages else { return };
            self.settle_messages(messages.members[member]);
        }
    }

    /// Lets the scheduler choose a stream if its next message can be sent, or pass over it.
    fn settle_messages(&mut self, stream: StreamIndex) {
        let direction = Directionality::Unidirectional;
        let head = self.messages.as_ref().and_then(|messages| messages.head(stream));
        let is_free = match head.map(|head| head.id) {
            None => true,
            Some(None) => {
                self.table.opened(self.own_kind(direction)) < self.may_open[side(direction)]
            }
            Some(Some(id)) => {
                let is_permitted = self.is_permitted(id);
                let part = self.table.send(id).filter(|part| part.unsent() == 0);
                is_permitted && part.is_some_and(|part| part.credit() > 0 && !part.is_reset())
            }
        };
        self.hold(stream, !is_free || !self.established);
        match head {
            Some(Written { id: None, .. }) if !is_free && self.established => {
                self.note_streams_blocked(direction);
            }
            Some(Written { id: Some(id), .. })
                if self.table.send(id).is_some_and(|part| part.credit() == 0) =>
            {
                self.note_stream_blocked(id);
            }
            _ => {}
        }
    }

    /// The peer lets the stream of a message send more.
    pub(super) fn release_message(&mut self, id: StreamId) {
        let found = self.messages.as_ref().and_then(|messages| messages.find(id));
        if let Some((stream, _)) = found {
            self.settle_messages(stream);
        }
    }

    /// The stream of the next message, which is opened if need be: if the peer allows another, and `room` takes some of its bytes.
    fn message_stream(&mut self, stream: StreamIndex, room: u64) -> Option<StreamId> {
        let head = self.messages.as_ref()?.head(stream)?;
        if head.id.is_some() {
            return head.id;
        }
        let kind = self.own_kind(Directionality::Unidirectional);
        if room <= stream_header(kind.id(self.table.opened(kind)).0, 0) {
            return None;
        }
        let id = self.open(kind.direction)?;
        let queue = self.messages.as_mut()?.queue(stream)?;
        queue.messages[queue.sent].id = Some(id);
        let number = super::id::index(id) - self.flow_count() as u64;
        self.report(Report::Opened { stream, message: head.number, number });
        Some(id)
    }

    /// A stream has a share of a packet, which goes to its oldest messages.
    #[inline(never)]
    pub(super) fn send_messages(
        &mut self,
        (stream, mut share): (StreamIndex, u64),
        payload: &mut Payload<'_>,
        progress: &mut Progress,
    ) {
        while share > 0
            && let Some(id) = self.message_stream(stream, payload.room)
            && let Some(sent) = self.send_message(id, (stream, share), payload)
        {
            share -= sent;
            progress.has_sent = true;
        }
        progress.is_cut |= share > 0 && payload.room > 0;
        self.settle_messages(stream);
    }

    /// Sends a share's bytes of the next message of a stream; how many, if any.
    fn send_message(
        &mut self,
        id: StreamId,
        (stream, share): (StreamIndex, u64),
        payload: &mut Payload<'_>,
    ) -> Option<u64> {
        let credit = self.connection_credit();
        let flows = self.flows.as_mut()?;
        let queue = self.messages.as_mut()?.queue(stream)?;
        let head = queue.messages.get_mut(queue.sent)?;
        let part = self.table.send(id).filter(|part| part.unsent() == 0)?;
        let want = share.min(head.left).min(part.credit()).min(credit);
        let ends = want == head.left;
        if want == 0 {
            return None;
        }
        let (sent, fin) = payload.add_stream(id, part.sent(), want, ends)?;
        part.on_sent(sent, fin);
        head.left -= sent;
        if head.left == 0 {
            queue.sent += 1;
        }
        flows.take(stream, sent);
        let offset = flows.buffer().streams()[stream].taken();
        self.totals.sent += sent;
        self.report(Report::Sent { stream, offset });
        Some(sent)
    }
}
