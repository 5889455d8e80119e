//! The CRYPTO data of an encryption level, both ways (RFC 9000 section 7.5 and 19.6).

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use leobench_transport::ranges::RangeSet;

use crate::sent_frame::SentFrame;
use crate::wire::{ErrorCode, Frame, TransportError, varint_size};

/// Bytes beyond the first gap that are buffered; RFC 9000 section 7.5 demands at least 4,096.
const BUFFER_LIMIT: u64 = 64 * 1024;

/// The handshake data of one encryption level.
#[derive(Debug, Default)]
pub(in crate::connection) struct CryptoStream {
    /// Everything written so far. A handshake has a few kilobytes, so none is dropped before the level is.
    written: BytesMut,
    /// Ranges to send, by start: new data and what was lost.
    unsent: BTreeMap<u64, u64>,
    /// Acknowledged ranges: they are not sent again, even if another packet with them is lost.
    acked: RangeSet,
    /// Received data beyond the first gap, by offset.
    ahead: BTreeMap<u64, Bytes>,
    /// Bytes received in order.
    received: u64,
}

impl CryptoStream {
    /// Appends handshake data to send.
    pub(in crate::connection) fn write(&mut self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let start = self.written.len() as u64;
        self.written.extend_from_slice(data);
        self.mark_unsent(start, start + data.len() as u64);
    }

    /// Whether there is data to send.
    pub(in crate::connection) fn is_pending(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// The next CRYPTO frame of at most `room` bytes, and what it carries.
    pub(in crate::connection) fn frame(&mut self, room: u64) -> Option<(Frame, SentFrame)> {
        let (&start, &end) = self.unsent.first_key_value()?;
        let left = end - start;
        let header = 1 + varint_size(start);
        let space = room.checked_sub(header)?;
        // The length field takes two bytes for any frame that could fill a packet.
        let len =
            if space > left + varint_size(left) { left } else { left.min(space.checked_sub(2)?) };
        if len == 0 {
            return None;
        }
        self.unsent.pop_first();
        if start + len < end {
            self.unsent.insert(start + len, end);
        }
        let data = Bytes::copy_from_slice(&self.written[start as usize..(start + len) as usize]);
        Some((Frame::Crypto { offset: start, data }, SentFrame::Crypto { start, end: start + len }))
    }

    /// Data between `start` and `end` was lost, or is sent again as a probe.
    pub(in crate::connection) fn on_lost(&mut self, start: u64, end: u64) {
        let end = end.min(self.written.len() as u64);
        let mut from = start;
        while let Some((first, last)) = self.acked.first_gap(from, end) {
            self.mark_unsent(first, last);
            from = last;
        }
    }

    /// Data between `start` and `end` has arrived: it need not be sent again.
    pub(in crate::connection) fn on_acked(&mut self, start: u64, end: u64) {
        self.acked.insert(start, end);
        let overlapping: Vec<(u64, u64)> =
            self.unsent.range(..end).map(|(a, b)| (*a, *b)).collect();
        for (first, last) in overlapping.into_iter().filter(|(_, last)| *last > start) {
            self.unsent.remove(&first);
            if first < start {
                self.unsent.insert(first, start);
            }
            if last > end {
                self.unsent.insert(end, last);
            }
        }
    }

    fn mark_unsent(&mut self, mut start: u64, mut end: u64) {
        while let Some((&first, &last)) = self.unsent.range(..=end).next_back()
            && last >= start
        {
            self.unsent.remove(&first);
            start = start.min(first);
            end = end.max(last);
        }
        if start < end {
            self.unsent.insert(start, end);
        }
    }

    /// Takes in received data.
    ///
    /// # Errors
    /// `CRYPTO_BUFFER_EXCEEDED` if too much arrives out of order.
    pub(in crate::connection) fn receive(
        &mut self,
        offset: u64,
        data: &Bytes,
    ) -> Result<(), TransportError> {
        let end = offset + data.len() as u64;
        if end <= self.received {
            return Ok(());
        }
        if end > self.received + BUFFER_LIMIT {
            return Err(TransportError::new(
                ErrorCode::CRYPTO_BUFFER_EXCEEDED,
                "handshake data far out of order",
            ));
        }
        let known = self.ahead.get(&offset).map_or(0, Bytes::len);
        if data.len() > known {
            self.ahead.insert(offset, data.clone());
        }
        Ok(())
    }

    /// Whether received data was not read.
    #[inline]
    pub(in crate::connection) fn has_arrived(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Takes the next data in order, if it has arrived.
    pub(super) fn read(&mut self) -> Option<Bytes> {
        loop {
            let entry = self.ahead.first_entry()?;
            let offset = *entry.key();
            if offset > self.received {
                return None;
            }
            let mut data = entry.remove();
            let known = (self.received - offset) as usize;
            if known < data.len() {
                let fresh = data.split_off(known);
                self.received += fresh.len() as u64;
                return Some(fresh);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(frame: &Frame) -> (u64, usize) {
        let Frame::Crypto { offset, data } = frame else { panic!("{frame:?}") };
        (*offset, data.len())
    }

    #[test]
    fn data_is_cut_to_the_room_and_sent_again_when_lost() {
        let mut stream = CryptoStream::default();
        stream.write(&[7; 1_500]);
        let (frame, carried) = stream.frame(1_000).unwrap();
        assert_eq!(data(&frame), (0, 1_000 - 1 - 1 - 2));
        assert_eq!(carried, SentFrame::Crypto { start: 0, end: 996 });
        let (frame, _) = stream.frame(1_000).unwrap();
        assert_eq!(data(&frame), (996, 504));
        assert!(!stream.is_pending() && stream.frame(1_000).is_none());
        stream.on_lost(0, 996);
        stream.on_lost(900, 1_100);
        assert_eq!(data(&stream.frame(5_000).unwrap().0), (0, 1_100));
    }

    #[test]
    fn data_that_arrived_is_not_sent_again() {
        let mut stream = CryptoStream::default();
        stream.write(&[7; 1_000]);
        stream.frame(5_000).unwrap();
        stream.on_acked(200, 300);
        stream.on_lost(0, 1_000);
        assert_eq!(data(&stream.frame(5_000).unwrap().0), (0, 200));
        assert_eq!(data(&stream.frame(5_000).unwrap().0), (300, 700));
        stream.on_acked(0, 1_000);
        stream.on_lost(100, 400);
        assert!(!stream.is_pending());
    }

    #[test]
    fn received_data_is_read_in_order() {
        let mut stream = CryptoStream::default();
        let all: Bytes = (0..100u8).collect();
        stream.receive(50, &all.slice(50..)).unwrap();
        assert_eq!(stream.read(), None);
        stream.receive(0, &all.slice(..60)).unwrap();
        assert_eq!(stream.read(), Some(all.slice(..60)));
        assert_eq!(stream.read(), Some(all.slice(60..)));
        assert_eq!(stream.read(), None);
        stream.receive(20, &all.slice(20..40)).unwrap();
        assert_eq!(stream.read(), None, "known already");
        assert!(stream.receive(100 + BUFFER_LIMIT, &all).is_err());
    }
}
