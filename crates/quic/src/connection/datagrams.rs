//! Datagrams of the application in packets (RFC 9221).

use bytes::Bytes as Payload;
use leobench_base::SimTime;

use super::Connection;
use super::transmit::PacketBuilder;
use crate::datagrams::{DatagramError, DatagramEvent, DatagramTotals, datagram_header};
use crate::paths::Path;
use crate::sent_frame::SentFrame;
use crate::wire::TAG_SIZE;

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
        let room = Self::datagram_room(&self.paths[self.paths.current()]);
        self.datagrams.send(data, room)
    }

    /// Bytes of the largest datagram that can be sent; none if the peer takes none.
    pub(crate) fn largest_datagram(&self) -> Option<u64> {
        self.datagrams.largest(Self::datagram_room(&self.paths[self.paths.current()]))
    }

    /// The handshake is complete: streams may be opened, and datagrams sent if the peer takes them.
    pub(super) fn establish_streams(&mut self, now: SimTime) {
        self.streams.set_largest_datagram(self.largest_datagram());
        self.streams.on_established(now);
    }

    /// The next event of a datagram, if events are kept.
    pub(crate) fn next_datagram_event(&mut self) -> Option<DatagramEvent> {
        self.datagrams.next_event()
    }

    /// How many datagrams there were.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "no application of a scenario sends datagrams yet")
    )]
    pub(crate) fn datagram_totals(&self) -> DatagramTotals {
        self.datagrams.totals()
    }

    /// Takes the peer for one that takes frames of up to `bytes`.
    #[cfg(test)]
    pub(crate) fn believe_in_datagrams(&mut self, bytes: u64) {
        self.datagrams.on_peer_params(bytes);
    }

    /// Room for frames in a packet of a path that carries nothing but a datagram.
    fn datagram_room(path: &Path) -> u64 {
        let header = datagram_header(path.ids.remote.current().size());
        path.mtu.saturating_sub(header + TAG_SIZE)
    }

    /// Adds the datagrams that fit.
    pub(super) fn add_datagrams(&mut self, builder: &mut PacketBuilder) {
        if self.datagrams.is_empty() {
            return;
        }
        let whole = Self::datagram_room(&self.paths[builder.path]);
        while let Some((frame, number)) = self.datagrams.frame(builder.room, whole) {
            builder.push(frame, Some(SentFrame::Datagram(number)));
        }
    }
}
