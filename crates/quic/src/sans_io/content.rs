//! The bytes of streams: those that may have to be sent again, and those received that cannot be read yet.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bytes::{Buf as _, Bytes, BytesMut};

use crate::wire::{Content, StreamId};

/// The bytes of all streams of a connection.
#[derive(Default)]
pub(super) struct Contents {
    sent: BTreeMap<u64, Outgoing>,
    /// By stream and offset; pieces may overlap.
    received: BTreeMap<(u64, u64), Bytes>,
    /// Pieces of packets that are being processed.
    arrived: RefCell<Vec<(u64, u64, Bytes)>>,
    /// Streams of pieces that arrived since the last [`Contents::prune_received`].
    touched: Vec<u64>,
    /// Streams that the peer has stopped, and that are not acknowledged in full or abandoned yet.
    stopped: Vec<u64>,
}

/// Bytes of a stream from `start` on.
#[derive(Default)]
struct Outgoing {
    start: u64,
    data: BytesMut,
}

impl Content for Contents {
    fn fill(&self, id: StreamId, offset: u64, out: &mut [u8]) {
        let data = self.sent.get(&id.0).and_then(|sent| {
            let from = usize::try_from(offset.checked_sub(sent.start)?).ok()?;
            sent.data.get(from..from + out.len())
        });
        match data {
            Some(data) => out.copy_from_slice(data),
            None if out.is_empty() => {}
            None => unreachable!("stream {} has no bytes from {offset} on", id.0),
        }
    }

    fn check(&self, id: StreamId, offset: u64, data: &[u8]) -> bool {
        if !data.is_empty() {
            self.arrived.borrow_mut().push((id.0, offset, Bytes::copy_from_slice(data)));
        }
        true
    }
}

impl Contents {
    /// Appends bytes to a stream whose first `acked` bytes are acknowledged.
    pub(super) fn write(&mut self, id: u64, data: &[u8], acked: u64) {
        let sent = self.sent.entry(id).or_default();
        let known = acked.saturating_sub(sent.start).min(sent.data.len() as u64);
        sent.data.advance(known as usize);
        sent.start += known;
        sent.data.extend_from_slice(data);
    }

    /// Drops what was written to a stream.
    pub(super) fn forget_sent(&mut self, id: u64) {
        self.sent.remove(&id);
    }

    /// Drops what was received on a stream and not read.
    pub(super) fn forget_received(&mut self, id: u64) {
        while let Some((&key, _)) = self.received.range((id, 0)..=(id, u64::MAX)).next() {
            self.received.remove(&key);
        }
    }

    /// Files the pieces of a datagram, or drops them if it ended the connection: then nothing was checked.
    pub(super) fn settle(&mut self, is_open: bool) {
        for (id, offset, data) in self.arrived.get_mut().drain(..) {
            if !is_open {
                continue;
            }
            if self.touched.last() != Some(&id) {
                self.touched.push(id);
            }
            let known = self.received.entry((id, offset)).or_default();
            if known.len() < data.len() {
                *known = data;
            }
        }
    }

    /// Takes the bytes of a stream from `start` to before `end`, all of which have been received.
    pub(super) fn read(&mut self, id: u64, start: u64, end: u64) -> Bytes {
        let mut out = BytesMut::with_capacity((end - start) as usize);
        let mut at = start;
        while at < end {
            let piece = self.received.range((id, 0)..=(id, at)).next().map(|(key, _)| *key);
            let Some((offset, mut data)) =
                piece.and_then(|key| Some((key.1, self.received.remove(&key)?)))
            else {
                unreachable!("stream {id} has no bytes at {at}")
            };
            if offset + data.len() as u64 <= at {
                continue;
            }
            data.advance((at - offset) as usize);
            let taken = data.split_to(data.len().min((end - at) as usize));
            at += taken.len() as u64;
            out.extend_from_slice(&taken);
            if !data.is_empty() {
                self.received.insert((id, at), data);
            }
        }
        out.freeze()
    }

    /// Drops what was received on streams that take no more.
    pub(super) fn prune_received(&mut self, mut is_receiving: impl FnMut(u64) -> bool) {
        while let Some(id) = self.touched.pop() {
            if !is_receiving(id) {
                self.forget_received(id);
            }
        }
    }

    /// The peer has stopped a stream: its bytes are dropped when it is abandoned.
    pub(super) fn watch_sent(&mut self, id: u64) {
        self.stopped.push(id);
    }

    /// Drops what was written to stopped streams from which nothing may be sent again.
    pub(super) fn prune_sent(&mut self, mut is_needed: impl FnMut(u64) -> bool) {
        let Self { stopped, sent, .. } = self;
        stopped.retain(|id| {
            let needed = is_needed(*id);
            if !needed {
                sent.remove(id);
            }
            needed
        });
    }

    /// Bytes kept: written, and received.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        let sent = self.sent.values().map(|sent| sent.data.len());
        (sent.sum(), self.received.values().map(Bytes::len).sum())
    }
}
