//! HTTP/2 under a page: requests and responses share one byte stream in each direction, in frames (RFC 9113).
//!
//! The sending end writes the next frame when the transport has room for it, and chooses the response by priority (RFC 9218).
//! Frame headers are bytes of the transport and not of the objects: reports of the transport become reports about objects
//! here. The connection preface, settings and window updates are left out.

use std::collections::VecDeque;

use leobench_base::{Bytes, SimTime, StreamIndex};
use leobench_transport::Message;
use leobench_transport::buffer::{Attributes, SendBuffer};
use leobench_transport::endpoint::Report;
use leobench_transport::scheduler::{Priority, StreamScheduler};
use typed_index_collections::TiVec;

use super::{Action, Application, ApplicationError, End, MOST_AT_ONCE, Page, PageTimes};
use crate::scenario::{LARGEST_FRAME, ObjectSpec};

/// Bytes in front of the content of a frame (RFC 9113 section 4.1).
const FRAME_HEADER: u64 = 9;

/// The one stream that TCP has in each direction.
const STREAM: StreamIndex = StreamIndex::FIRST;

/// A page over a connection of HTTP/2.
pub(super) struct Http2 {
    page: Page,
    /// Bytes of header fields, by object.
    headers: TiVec<StreamIndex, u64>,
    /// Responses, as far as they are not in frames.
    responses: SendBuffer,
    priority: Priority,
    /// Frames of the sending end, and of the receiving end.
    answered: Frames,
    asked: Frames,
    /// Offset up to which the send buffer of the sending end has room.
    room: u64,
    /// When it can write another frame, if it can.
    ready: Option<SimTime>,
    /// Whether the page has answered all requests, and the last frame is not written.
    closing: bool,
    actions: Vec<Action>,
    reports: Vec<Report>,
}

/// The frames of one direction that have not arrived, in order.
#[derive(Default)]
struct Frames {
    /// Bytes of all frames since the start.
    written: u64,
    waiting: VecDeque<Frame>,
    /// How many at the front have been sent whole.
    sent: usize,
}

/// A frame, or several of one object whose contents count as one behind their headers.
#[derive(Clone, Copy)]
struct Frame {
    object: StreamIndex,
    /// The byte after its last, in the byte stream.
    end: u64,
    /// Bytes of the object, and the byte after the last of them in the object.
    content: u64,
    content_end: u64,
}

impl Frame {
    /// Bytes of the object up to `offset` in the byte stream, if some are of this frame.
    fn reached(&self, offset: u64) -> Option<u64> {
        let missing = self.end.saturating_sub(offset);
        (missing < self.content).then(|| self.content_end - missing)
    }
}

impl Frames {
    /// Appends `content` bytes of an object that end at `content_end`, behind `headers` bytes; returns the bytes of both.
    fn write(&mut self, object: StreamIndex, headers: u64, content: u64, content_end: u64) -> u64 {
        self.written += headers + content;
        self.waiting.push_back(Frame { object, end: self.written, content, content_end });
        headers + content
    }

    /// Everything below `offset` was sent: the objects that it belongs to, and how much of them was sent.
    fn sent(&mut self, offset: u64, mut report: impl FnMut(StreamIndex, u64)) {
        while let Some(frame) = self.waiting.get(self.sent) {
            if let Some(reached) = frame.reached(offset) {
                report(frame.object, reached);
            }
            if frame.end > offset {
                break;
            }
            self.sent += 1;
        }
    }

    /// The same of what has arrived.
    fn arrived(&mut self, offset: u64, mut report: impl FnMut(StreamIndex, u64)) {
        while let Some(frame) = self.waiting.front() {
            if let Some(reached) = frame.reached(offset) {
                report(frame.object, reached);
            }
            if frame.end > offset {
                break;
            }
            self.waiting.pop_front();
            self.sent = self.sent.saturating_sub(1);
        }
    }
}

impl Http2 {
    /// The connection of a page of `objects`.
    pub(super) fn new(page: Page, objects: &[ObjectSpec]) -> Self {
        let attributes: Vec<Attributes> = objects.iter().flat_map(ObjectSpec::attributes).collect();
        let headers = objects.iter().flat_map(|object| {
            std::iter::repeat_n(object.headers.get(), object.count.get() as usize)
        });
        Self {
            page,
            headers: headers.collect(),
            priority: Priority::new(attributes.len()),
            responses: SendBuffer::new(&attributes),
            answered: Frames::default(),
            asked: Frames::default(),
            room: 0,
            ready: None,
            closing: false,
            actions: Vec::new(),
            reports: Vec::new(),
        }
    }

    /// Whether a response waits and the transport has taken all frames: the next one is as good as sent.
    fn can_write(&self) -> bool {
        self.answered.written <= self.room && self.responses.has_occupied()
    }

    fn take(&mut self, object: StreamIndex, bytes: u64) {
        self.responses.take(object, bytes);
        self.priority.on_change(object, &self.responses);
    }

    /// Writes the next frame of a response, in front of the first one its header fields.
    fn write_frame(&mut self, now: SimTime, object: StreamIndex, actions: &mut Vec<Action>) {
        let mut size = 0;
        if self.responses.streams()[object].taken() == 0 {
            let headers = self.headers[object];
            size += self.answered.write(object, FRAME_HEADER, headers, headers);
            if headers > 0 {
                self.take(object, headers);
            }
        }
        let waiting = &self.responses.streams()[object];
        let content = waiting.backlog().min(LARGEST_FRAME);
        let content_end = waiting.taken() + content;
        size += self.answered.write(object, FRAME_HEADER, content, content_end);
        self.take(object, content);
        actions.push(write(End::Sender, now, size));
    }

    /// Writes frames while the transport has room.
    fn write_frames(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        self.ready = None;
        for _ in 0..MOST_AT_ONCE {
            if !self.can_write() {
                break;
            }
            let Some(object) = self.priority.choose() else { break };
            self.write_frame(now, object, actions);
        }
        if self.can_write() {
            self.ready = Some(now);
        } else if self.closing && !self.responses.has_occupied() {
            self.closing = false;
            actions.push(Action::Finish { end: End::Sender });
        }
    }

    /// Carries out what the page does.
    fn carry_out(&mut self, now: SimTime, action: Action, actions: &mut Vec<Action>) {
        match action {
            Action::Write { end: End::Sender, stream, message } => {
                self.responses.push(stream, message);
                self.priority.on_change(stream, &self.responses);
            }
            Action::Write { end: End::Receiver, stream, message } => {
                let request = message.size.get();
                // A HEADERS frame, and DATA frames behind it if the request is longer.
                let headers = request.div_ceil(LARGEST_FRAME) * FRAME_HEADER;
                let size = self.asked.write(stream, headers, request, request);
                actions.push(write(End::Receiver, now, size));
            }
            Action::Finish { end: End::Sender } => self.closing = true,
            Action::Create { .. }
            | Action::Cancel { .. }
            | Action::Open { .. }
            | Action::Datagram { .. }
            | Action::Finish { end: End::Receiver } => actions.push(action),
        }
    }
}

fn write(end: End, now: SimTime, size: u64) -> Action {
    let message = Message { size: Bytes::new(size), created: now };
    Action::Write { end, stream: STREAM, message }
}

impl Application for Http2 {
    fn next_wake(&self) -> Option<SimTime> {
        [self.page.next_wake(), self.ready].into_iter().flatten().min()
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        let mut page = std::mem::take(&mut self.actions);
        self.page.advance(now, &mut page)?;
        for action in page.drain(..) {
            self.carry_out(now, action, actions);
        }
        self.actions = page;
        self.write_frames(now, actions);
        Ok(())
    }

    fn on_report(&mut self, now: SimTime, end: End, report: Report) -> bool {
        self.page.on_report(now, end, report)
    }

    fn multiplexes(&self) -> bool {
        true
    }

    fn demultiplex(&mut self, now: SimTime, end: End, reports: &mut Vec<Report>) -> bool {
        let mut given = std::mem::take(&mut self.reports);
        std::mem::swap(&mut given, reports);
        for report in given.drain(..) {
            match (end, report) {
                (End::Sender, Report::Room { offset, .. }) => self.room = offset,
                (End::Sender, Report::Sent { offset, .. }) => {
                    let sent = |object: StreamIndex, offset| {
                        reports.push(Report::Sent { stream: object, offset });
                    };
                    self.answered.sent(offset, sent);
                }
                (_, Report::Delivered { offset, .. }) => {
                    let frames =
                        if end == End::Sender { &mut self.asked } else { &mut self.answered };
                    frames.arrived(offset, |object, offset| {
                        reports.push(Report::Delivered { stream: object, offset });
                    });
                }
                _ => {}
            }
        }
        self.reports = given;
        let ready = self.can_write() && self.ready.is_none();
        if ready {
            self.ready = Some(now);
        }
        ready
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        Some(&self.responses)
    }

    fn is_finished(&self) -> bool {
        self.page.is_finished()
    }

    fn page(&self) -> Option<PageTimes> {
        self.page.page()
    }
}

#[cfg(test)]
mod tests;
