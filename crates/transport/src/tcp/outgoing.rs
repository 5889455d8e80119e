//! The outgoing byte stream: the application's messages, wrapped into records if TLS is used.

use std::collections::VecDeque;

use leobench_base::StreamIndex;
use leobench_base::segment::Mark;

use super::send_room::{Progress, SendRoom};
use super::spec::TcpSpec;
use crate::buffer::SendBuffer;

/// Maximum plaintext in a record (RFC 8446 section 5.1).
const RECORD: u64 = 1 << 14;
/// Overhead of a record: a header of 5 bytes, and inside the encryption the content type and a tag (RFC 8446 section
/// 5.2).
pub(super) const RECORD_HEADER: u64 = 5;
const RECORD_TRAILER: u64 = 1 + 16;
/// Both.
pub(super) const RECORD_OVERHEAD: u64 = RECORD_HEADER + RECORD_TRAILER;

/// The byte stream of one direction.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// The application's messages, if it sends any.
    buffer: Option<SendBuffer>,
    /// How much of them the send buffer takes.
    room: SendRoom,
    tls: bool,
    /// Whether application data may be sent.
    open: bool,
    /// Whether the stream is complete.
    finished: bool,
    /// Bytes of the stream with a fixed layout.
    written: u64,
    /// Bytes of application data in them, and those of earlier connections before them.
    plaintext: u64,
    /// Offsets at which application data starts: in the stream, and in the flow's data.
    start: (u64, u64),
    /// Unacknowledged records.
    records: VecDeque<Record>,
    /// The byte after the message with which the application resumes a transfer, and the offset in it.
    resumption: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    /// The byte after its last.
    end: u64,
    /// Bytes of application data in it.
    content: u64,
    /// Bytes of application data in all records up to it.
    plaintext: u64,
}

impl Outgoing {
    pub(super) fn new(buffer: Option<SendBuffer>, spec: &TcpSpec) -> Self {
        Self {
            buffer,
            room: SendRoom::new(spec),
            tls: spec.tls,
            open: false,
            finished: false,
            written: 0,
            plaintext: 0,
            start: (0, 0),
            records: VecDeque::new(),
            resumption: None,
        }
    }

    /// Continues earlier connections with the application's messages that they have not delivered.
    pub(super) fn inherit(&mut self, buffer: SendBuffer) {
        self.plaintext = buffer.taken();
        self.start = (0, self.plaintext);
        self.room.start_at(self.plaintext);
        self.buffer = Some(buffer);
    }

    /// Appends an application's message of `bytes` with which it resumes a transfer at `offset`.
    pub(super) fn tell(&mut self, bytes: u64, offset: u64) {
        self.written += bytes + if self.tls { RECORD_OVERHEAD } else { 0 };
        self.resumption = Some((self.written, offset));
    }

    /// Application data starts here, and at `offset` of all of the flow's.
    ///
    /// # Panics
    /// If earlier bytes were not kept, or later ones never written.
    pub(super) fn start_at(&mut self, offset: u64) {
        let Some(buffer) = &mut self.buffer else { return };
        let skipped = offset.checked_sub(buffer.taken());
        let Some(skipped) = skipped else { panic!("byte {offset} is acknowledged, not delivered") };
        buffer.take(StreamIndex::FIRST, skipped);
        self.plaintext = offset;
        self.start.1 = offset;
    }

    /// The application's messages, if it sends any.
    pub(super) fn buffer(&self) -> Option<&SendBuffer> {
        self.buffer.as_ref()
    }

    pub(super) fn buffer_mut(&mut self) -> Option<&mut SendBuffer> {
        self.buffer.as_mut()
    }

    /// Bytes of the stream with a fixed layout.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Appends bytes of a handshake.
    pub(super) fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Allows application data from now on.
    pub(super) fn open(&mut self) {
        self.open = true;
        self.start.0 = self.written;
    }

    /// Whether application data may be sent.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Marks the stream as complete.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// The kernel's send buffer.
    pub(super) fn room(&mut self) -> &mut SendRoom {
        &mut self.room
    }

    /// How much the application may have written for its writes to return.
    pub(super) fn limit(&self) -> u64 {
        self.room.limit()
    }

    /// Lets the application write on as far as there is room, when all below `una` is acknowledged; whether it may
    /// write more than before.
    pub(super) fn make_room(&mut self, una: u64) -> bool {
        let Some(buffer) = &self.buffer else { return false };
        let sent = buffer.taken();
        let acked = if self.tls { self.plaintext_sent(una) } else { self.acknowledged(una) };
        self.room.advance(Progress { written: sent + buffer.backlog(), sent, acked })
    }

    /// Application data in the send buffer that has not been sent. A record is made before it is written: its rest follows.
    fn backlog(&self) -> u64 {
        let Some(buffer) = self.buffer.as_ref().filter(|_| self.open) else { return 0 };
        let fits = self.room.limit().saturating_sub(buffer.taken());
        let fits = if self.tls { fits.div_ceil(RECORD).saturating_mul(RECORD) } else { fits };
        buffer.backlog().min(fits)
    }

    /// Whether the application has data that the send buffer has no room for.
    fn is_full(&self) -> bool {
        let written = |buffer: &SendBuffer| buffer.taken() + buffer.backlog();
        self.buffer.as_ref().is_some_and(|buffer| written(buffer) > self.room.limit())
    }

    /// The end of the stream, if known.
    fn end(&self) -> u64 {
        let backlog = self.backlog();
        let wrapping = if self.tls { backlog.div_ceil(RECORD) * RECORD_OVERHEAD } else { 0 };
        self.written + backlog + wrapping
    }

    /// Bytes that may be sent from `offset` on.
    pub(super) fn available(&self, offset: u64) -> u64 {
        self.end().saturating_sub(offset)
    }

    /// Whether the FIN is at `offset`.
    pub(super) fn fin_at(&self, offset: u64) -> bool {
        self.finished && self.open && offset == self.end() && !self.is_full()
    }

    /// Fixes the layout of everything below `to`, which is being sent.
    ///
    /// # Panics
    /// If the stream is shorter than `to`.
    pub(super) fn advance(&mut self, to: u64) {
        while self.written < to {
            let missing = to - self.written;
            let content = if self.tls { self.backlog().min(RECORD) } else { missing };
            let buffer = self.buffer.as_mut().filter(|_| content > 0);
            let Some(buffer) = buffer else { panic!("{missing} bytes to send that nobody wrote") };
            buffer.take(StreamIndex::FIRST, content);
            self.plaintext += content;
            self.written += content;
            if self.tls {
                self.written += RECORD_OVERHEAD;
                let (end, plaintext) = (self.written, self.plaintext);
                self.records.push_back(Record { end, content, plaintext });
            }
        }
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn acknowledge(&mut self, una: u64) {
        while self.records.front().is_some_and(|record| record.end <= una) {
            self.records.pop_front();
        }
    }

    /// Application data in the stream up to `nxt`.
    pub(super) fn plaintext_sent(&self, nxt: u64) -> u64 {
        let whole = self.records.partition_point(|record| record.end <= nxt);
        let Some(record) = self.records.get(whole) else { return self.plaintext };
        let start = record.end - RECORD_TRAILER - record.content;
        let part = nxt.saturating_sub(start).min(record.content);
        record.plaintext - record.content + part
    }

    /// Application data that the other end is known to have read, when all of the stream below `una` is acknowledged:
    /// only whole records count.
    pub(super) fn acknowledged(&self, una: u64) -> u64 {
        if let Some(record) = self.records.front() {
            return record.plaintext - record.content;
        }
        let (start, offset) = self.start;
        (offset + una.saturating_sub(start)).min(self.plaintext)
    }

    /// The offset of the application data that follows `start` in the stream; none follows a handshake.
    pub(super) fn content_at(&self, start: u64) -> u64 {
        match (start < self.start.0, self.tls) {
            (true, _) => u64::MAX,
            (false, true) => self.plaintext_sent(start),
            (false, false) => self.acknowledged(start),
        }
    }

    /// The record mark of a segment of `payload` bytes from `start` on.
    pub(super) fn mark(&self, start: u64, payload: u64) -> Option<Mark> {
        let end = start + payload;
        let message = self.resumption.filter(|(last, _)| (start + 1..=end).contains(last));
        let ended = self.records.partition_point(|record| record.end <= end);
        let record = ended.checked_sub(1).and_then(|last| self.records.get(last));
        let record = record.filter(|record| record.end > start);
        let record = record.map(|record| (record.end, record.plaintext));
        let (last, plaintext) = record.or(message)?;
        Some(Mark { record_end: (last - start) as u32, plaintext, resumes: message.is_some() })
    }
}
