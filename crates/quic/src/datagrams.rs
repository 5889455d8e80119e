//! Unreliable datagrams (RFC 9221): sent once, beside streams and under the same congestion control, and never sent again.

use std::collections::VecDeque;

use bytes::Bytes as Payload;

use crate::wire::{ErrorCode, Frame, TransportError, varint_size};

/// Bytes that wait to be sent at most, and bytes received that wait for the application at most.
pub(super) const QUEUE_SIZE: usize = 1 << 20;

/// The longest packet number: datagrams are limited to what fits beside it.
const LONGEST_NUMBER: u64 = 4;

/// Bytes of the header of a 1-RTT packet to a connection ID of so many bytes, with the longest number.
pub(super) const fn datagram_header(id: u64) -> u64 {
    1 + id + LONGEST_NUMBER
}

/// The largest datagram in a frame of up to so many bytes, if any.
pub(super) fn largest_datagram(frame: u64) -> Option<u64> {
    // A type of one byte and a length field of one to eight.
    let content = (1..=8).rev().filter_map(|field| frame.checked_sub(1 + field));
    content.filter(|content| 1 + varint_size(*content) + content <= frame).max()
}

/// Something that happened to a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DatagramEvent {
    /// The peer sent one.
    Received(Payload),
    /// The one of this number was acknowledged.
    Acked(u64),
    /// The one of this number was lost on the way, or a packet has no room for it any more. An acknowledgement may still follow
    /// if the loss proves spurious.
    Lost(u64),
}

/// Why a datagram is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DatagramError {
    /// The handshake is not complete, the peer takes none, or the connection is over.
    #[error("the peer does not accept datagrams, or not yet")]
    Unsupported,
    /// It has more than so many bytes, which is what a packet and the peer's limit have room for.
    #[error(
        "a datagram of more than {0} bytes does not fit in a packet, or exceeds the limit of the peer"
    )]
    TooLarge(u64),
    /// So many bytes wait that it has no room in the queue.
    #[error("{QUEUE_SIZE} bytes of datagrams are already waiting to be sent")]
    Full,
}

/// How many datagrams there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DatagramTotals {
    pub(super) sent: u64,
    pub(super) received: u64,
    /// Lost on the way, or without room in any packet.
    pub(super) lost: u64,
    /// Received while too many waited for the application: the oldest were dropped for them.
    pub(super) overrun: u64,
}

/// The datagrams of a connection, both ways.
pub(super) struct Datagrams {
    /// Largest frame that this end takes, and that the peer takes; zero for none.
    receives: u64,
    sends: u64,
    queue: VecDeque<Payload>,
    /// Bytes in the queue.
    waiting: usize,
    /// The number of the first datagram in the queue.
    next: u64,
    events: VecDeque<DatagramEvent>,
    /// Bytes received that wait for the application.
    unread: usize,
    keeps_events: bool,
    totals: DatagramTotals,
}

impl Datagrams {
    /// Those of an end that takes frames of up to `receives` bytes, or none.
    pub(super) fn new(receives: u64, keeps_events: bool) -> Self {
        Self {
            receives,
            sends: 0,
            queue: VecDeque::new(),
            waiting: 0,
            next: 0,
            events: VecDeque::new(),
            unread: 0,
            keeps_events,
            totals: DatagramTotals::default(),
        }
    }

    /// The peer takes frames of up to `bytes`, or none (`max_datagram_frame_size`).
    pub(super) fn on_peer_params(&mut self, bytes: u64) {
        self.sends = bytes;
    }

    /// Bytes of the largest datagram, where a packet has `room` for frames; none if the peer takes none.
    pub(super) fn largest(&self, room: u64) -> Option<u64> {
        largest_datagram(self.sends.min(room))
    }

    /// Queues a datagram for a packet with `room` for frames; the number by which events name it.
    ///
    /// # Errors
    /// If the peer takes none, or none so large, or the queue is full. The datagram is not sent then.
    pub(super) fn send(&mut self, data: Payload, room: u64) -> Result<u64, DatagramError> {
        let largest = self.largest(room).ok_or(DatagramError::Unsupported)?;
        if data.len() as u64 > largest {
            return Err(DatagramError::TooLarge(largest));
        }
        if self.waiting + data.len() > QUEUE_SIZE {
            return Err(DatagramError::Full);
        }
        self.waiting += data.len();
        self.queue.push_back(data);
        Ok(self.next + self.queue.len() as u64 - 1)
    }

    /// Whether none waits to be sent.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next frame with its number, if it fits in `room`. One that would fit in no packet is lost: `whole` is the room of
    /// a packet with nothing else.
    pub(super) fn frame(&mut self, room: u64, whole: u64) -> Option<(Frame, u64)> {
        while let Some(data) = self.queue.front() {
            let frame = Frame::Datagram { data: data.clone(), explicit_len: true };
            let size = frame.size();
            if size > room && size <= whole {
                return None;
            }
            let number = self.next;
            self.next += 1;
            self.waiting -= data.len();
            self.queue.pop_front();
            if size <= room {
                self.totals.sent += 1;
                return Some((frame, number));
            }
            self.on_lost(number);
        }
        None
    }

    /// The packet of a datagram was acknowledged.
    pub(super) fn on_acked(&mut self, number: u64) {
        self.event(DatagramEvent::Acked(number));
    }

    /// The packet of a datagram was lost.
    pub(super) fn on_lost(&mut self, number: u64) {
        self.totals.lost += 1;
        self.event(DatagramEvent::Lost(number));
    }

    /// A frame arrived, of `size` bytes.
    ///
    /// # Errors
    /// `PROTOCOL_VIOLATION` if this end takes none, or none so large (RFC 9221 section 3).
    pub(super) fn on_frame(&mut self, data: &Payload, size: u64) -> Result<(), TransportError> {
        if size > self.receives {
            let reason = match self.receives {
                0 => "a datagram, though none were offered to be taken",
                _ => "a larger datagram than offered to be taken",
            };
            return Err(TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason));
        }
        self.totals.received += 1;
        if self.keeps_events {
            self.unread += data.len();
            self.events.push_back(DatagramEvent::Received(data.clone()));
            self.make_room();
        }
        Ok(())
    }

    /// Drops the oldest datagrams that the application does not take (RFC 9221 section 5).
    fn make_room(&mut self) {
        while self.unread > QUEUE_SIZE {
            let oldest = |event: &DatagramEvent| matches!(event, DatagramEvent::Received(_));
            let Some(at) = self.events.iter().position(oldest) else { return };
            if let Some(DatagramEvent::Received(data)) = self.events.remove(at) {
                self.unread -= data.len();
                self.totals.overrun += 1;
            }
        }
    }

    /// The next event, if events are kept.
    pub(super) fn next_event(&mut self) -> Option<DatagramEvent> {
        let event = self.events.pop_front();
        if let Some(DatagramEvent::Received(data)) = &event {
            self.unread -= data.len();
        }
        event
    }

    /// Running totals.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "no application of a scenario reports datagrams of its own yet"
        )
    )]
    pub(super) fn totals(&self) -> DatagramTotals {
        self.totals
    }

    fn event(&mut self, event: DatagramEvent) {
        if self.keeps_events {
            self.events.push_back(event);
        }
    }
}
