//! The messages that an application keeps until it knows that they have been delivered, to send them again over another
//! connection.

use std::collections::VecDeque;

use leobench_base::{Bytes, SimTime, StreamIndex};

use crate::buffer::{Attributes, Message, SendBuffer};

/// The messages of one stream: those that may have to be sent again.
#[derive(Debug)]
pub(super) struct Log {
    attributes: Attributes,
    /// Whether a connection starts at the first byte; messages delivered so far are then kept as one.
    starts_over: bool,
    /// Messages not delivered as far as is known; what remains of the first.
    messages: VecDeque<Message>,
    /// Bytes before them, and when the first byte of all was created.
    delivered: u64,
    created: Option<SimTime>,
    /// Bytes and messages so far.
    written: u64,
    count: u64,
}

impl Log {
    pub(super) fn new(attributes: Attributes, starts_over: bool) -> Self {
        Self {
            attributes,
            starts_over,
            messages: VecDeque::new(),
            delivered: 0,
            created: None,
            written: 0,
            count: 0,
        }
    }

    /// The application wrote a message.
    pub(super) fn push(&mut self, message: Message) {
        self.created.get_or_insert(message.created);
        self.messages.push_back(message);
        self.written += message.size.get();
        self.count += 1;
    }

    /// Everything below `offset` has been delivered.
    pub(super) fn acknowledge(&mut self, offset: u64) {
        let mut rest = offset.saturating_sub(self.delivered);
        self.delivered += rest;
        while let Some(head) = self.messages.front_mut().filter(|_| rest > 0) {
            let part = rest.min(head.size.get());
            rest -= part;
            head.size = head.size.saturating_sub(Bytes::new(part));
            if head.size.is_zero() {
                self.messages.pop_front();
            }
        }
    }

    /// Whether everything written has been delivered.
    pub(super) fn is_empty(&self) -> bool {
        self.delivered == self.written
    }

    /// A send buffer with all that a new connection may have to send.
    pub(super) fn buffer(&self) -> SendBuffer {
        let before = self.created.filter(|_| self.starts_over && self.delivered > 0);
        let before = before.map(|created| Message { size: Bytes::new(self.delivered), created });
        let taken = if self.starts_over { 0 } else { self.delivered };
        let waiting = self.messages.len() as u64 + u64::from(before.is_some());
        let arrived = self.count.saturating_sub(waiting);
        let mut buffer = SendBuffer::from_offset(self.attributes, taken, arrived);
        for message in before.into_iter().chain(self.messages.iter().copied()) {
            buffer.push(StreamIndex::FIRST, message);
        }
        buffer
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::SimDuration;

    use super::*;

    fn log(starts_over: bool) -> Log {
        let mut log = Log::new(Attributes::default(), starts_over);
        for (size, at) in [(100, 1), (200, 2), (300, 3)] {
            let created = SimTime::ZERO + SimDuration::from_secs(at);
            log.push(Message { size: Bytes::new(size), created });
        }
        log
    }

    fn seconds(time: Option<SimTime>) -> f64 {
        time.unwrap().as_secs_f64()
    }

    #[test]
    fn what_was_delivered_is_not_sent_again() {
        let mut log = log(false);
        log.acknowledge(150);
        log.acknowledge(120);
        let buffer = log.buffer();
        let stream = &buffer.streams()[StreamIndex::FIRST];
        assert_eq!((stream.taken(), stream.backlog()), (150, 450));
        assert_eq!((stream.messages(), stream.arrived()), (2, 3));
        assert!((seconds(stream.head_created()) - 2.0).abs() < 1e-9);
        assert!(!log.is_empty());
        log.acknowledge(600);
        assert!(log.is_empty());
        assert_eq!(log.buffer().backlog(), 0);
    }

    #[test]
    fn starting_over_keeps_every_byte_and_few_messages() {
        let mut log = log(true);
        log.acknowledge(350);
        let buffer = log.buffer();
        let stream = &buffer.streams()[StreamIndex::FIRST];
        assert_eq!((stream.taken(), stream.backlog()), (0, 600));
        assert_eq!((stream.messages(), stream.arrived()), (2, 3));
        assert!((seconds(stream.head_created()) - 1.0).abs() < 1e-9);
        log.acknowledge(600);
        assert!(log.is_empty());
        assert_eq!(log.buffer().backlog(), 600);
    }
}
