//! The streams of a type, found by number in constant time.

use std::collections::VecDeque;

use super::id::{KINDS, StreamKind, index};
use super::receive::ReceivePart;
use super::send::SendPart;
use crate::wire::StreamId;

/// A stream that is not closed.
#[derive(Debug)]
pub(super) struct Stream {
    /// Until it is in a final state; none if only the peer sends.
    pub(super) send: Option<SendPart>,
    /// Until it is in a final state; none if only this end sends.
    pub(super) receive: Option<ReceivePart>,
}

/// The streams of one type. Closed ones leave no trace behind the oldest that is open.
#[derive(Debug, Default)]
struct Row {
    /// Number of the first.
    first: u64,
    streams: VecDeque<Option<Box<Stream>>>,
}

/// All streams of a connection.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: [Row; KINDS],
}

impl Table {
    /// How many streams of a type have been opened.
    pub(super) fn opened(&self, kind: StreamKind) -> u64 {
        let row = &self.rows[kind.bits() as usize];
        row.first + row.streams.len() as u64
    }

    /// Opens the next stream of a type.
    pub(super) fn open(&mut self, kind: StreamKind, stream: Stream) -> StreamId {
        let id = kind.id(self.opened(kind));
        self.rows[kind.bits() as usize].streams.push_back(Some(Box::new(stream)));
        id
    }

    /// A stream, unless it is closed or was never opened.
    #[inline]
    pub(super) fn get(&mut self, id: StreamId) -> Option<&mut Stream> {
        #[cfg(test)]
        LOOKUPS.with(|count| count.set(count.get() + 1));
        let row = &mut self.rows[(id.0 & 3) as usize];
        let place = index(id).checked_sub(row.first)?;
        row.streams.get_mut(usize::try_from(place).ok()?)?.as_deref_mut()
    }

    /// The sending part of a stream, unless it is in a final state.
    #[inline]
    pub(super) fn send(&mut self, id: StreamId) -> Option<&mut SendPart> {
        self.get(id)?.send.as_mut()
    }

    /// The receiving part of a stream, unless it is in a final state.
    #[inline]
    pub(super) fn receive(&mut self, id: StreamId) -> Option<&mut ReceivePart> {
        self.get(id)?.receive.as_mut()
    }

    /// Drops the parts of a stream that are in a final state; whether the stream is closed by that.
    pub(super) fn clean(&mut self, id: StreamId) -> bool {
        let Some(stream) = self.get(id) else { return false };
        stream.send.take_if(|part| part.is_done());
        stream.receive.take_if(|part| part.is_done());
        if stream.send.is_some() || stream.receive.is_some() {
            return false;
        }
        let row = &mut self.rows[(id.0 & 3) as usize];
        row.streams[(index(id) - row.first) as usize] = None;
        while let Some(None) = row.streams.front() {
            row.streams.pop_front();
            row.first += 1;
        }
        true
    }
}

#[cfg(test)]
impl Table {
    /// Streams that are not closed.
    pub(super) fn open_streams(&self) -> usize {
        let open = |row: &Row| row.streams.iter().flatten().count();
        self.rows.iter().map(open).sum()
    }
}

#[cfg(test)]
thread_local! {
    static LOOKUPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// How many streams this thread has looked up.
#[cfg(test)]
pub(super) fn lookups() -> u64 {
    LOOKUPS.with(std::cell::Cell::get)
}
