//! Datagrams of the application in packets (RFC 9221).

use bytes::Bytes as Payload;

use super::Connection;
use super::transmit::PacketBuilder;
use crate::datagrams::{DatagramError, DatagramEvent};
use crate::sent_frame::SentFrame;

impl Connection {
    /// Queues a datagram; the number by which events name it. It leaves before stream data, once, in one packet, as soon as
    /// window and pacing let it.
    ///
    /// # Errors
    /// If the peer takes none, or none so large, or too many bytes wait: a full queue refuses new datagrams.
    pub(crate) fn send_datagram(&mut self, data: Payload) -> Result<u64, DatagramError> {
        if !self.is_open() || !self.handshake.complete {
            return Err(DatagramError::Unsupported);
        }
        let room = self.paths[self.paths.current()].datagram_room();
        self.datagrams.send(data, room)
    }

    /// Bytes of the largest datagram that can be sent; none if the peer takes none.
    pub(crate) fn largest_datagram(&self) -> Option<u64> {
        self.datagrams.largest(self.paths[self.paths.current()].datagram_room())
    }

    /// The next event of a datagram, if events are kept.
    pub(crate) fn next_datagram_event(&mut self) -> Option<DatagramEvent> {
        self.datagrams.next_event()
    }

    /// Adds the datagrams that fit.
    pub(super) fn add_datagrams(&mut self, builder: &mut PacketBuilder) {
        if self.datagrams.is_empty() {
            return;
        }
        let whole = self.paths[builder.path].datagram_room();
        while let Some((frame, number)) = self.datagrams.frame(builder.room, whole) {
            builder.push(frame, Some(SentFrame::Datagram(number)));
        }
    }
}
