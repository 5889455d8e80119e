//! HTTP/1.1 under a page: several connections, each with one object at a time (RFC 9112), as in browsers.
//!
//! A request waits until a connection is idle; the most urgent one goes first, among equals the oldest. While more requests wait
//! than connections open, another connection is opened, up to a limit. A request is not bound to the connection that was opened
//! for it: it takes the first one that is free. Requests are not pipelined, and connections stay open. The stream of a
//! number is the byte stream of that connection: reports about it become reports about its object here.

use std::collections::BTreeMap;

use leobench_base::{SimTime, StreamIndex};
use leobench_transport::Message;
use leobench_transport::buffer::{Attributes, SendBuffer};
use leobench_transport::endpoint::Report;
use typed_index_collections::{TiVec, ti_vec};

use super::{Action, Application, ApplicationError, End, Page, PageTimes};
use crate::scenario::ObjectSpec;

/// A page over connections of HTTP/1.1.
pub(super) struct Http1 {
    page: Page,
    urgencies: TiVec<StreamIndex, u8>,
    /// Responses, as far as they have not been sent.
    responses: SendBuffer,
    connections: TiVec<StreamIndex, Connection>,
    /// Open connections without an object; the one that became idle last is at the end, and is used first.
    idle: Vec<StreamIndex>,
    /// Requests without a connection, by urgency and order.
    waiting: BTreeMap<(u8, u64), Request>,
    /// Requests so far.
    requested: u64,
    /// When a request can be sent, if one can.
    ready: Option<SimTime>,
    actions: Vec<Action>,
    reports: Vec<Report>,
}

/// A request that waits for a connection.
#[derive(Clone, Copy)]
struct Request {
    object: StreamIndex,
    message: Message,
}

/// One of the connections.
#[derive(Clone, Copy, Default)]
struct Connection {
    state: State,
    /// The byte streams of the requests and of the responses.
    asked: ByteStream,
    answered: ByteStream,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Not demanded yet.
    #[default]
    Closed,
    Opening,
    Idle,
    /// It carries this object, from its request on.
    Busy(StreamIndex),
}

/// The byte stream of one direction of a connection.
#[derive(Clone, Copy, Default)]
struct ByteStream {
    /// The start and the end of the present message.
    start: u64,
    end: u64,
}

impl ByteStream {
    /// Appends a message.
    fn write(&mut self, message: Message) {
        self.start = self.end;
        self.end += message.size.get();
    }

    /// Bytes of the present message below `offset`, if there are any.
    fn reached(self, offset: u64) -> Option<u64> {
        offset.checked_sub(self.start).filter(|bytes| *bytes > 0)
    }
}

impl Http1 {
    /// The connections of a page of `objects`, at most `count`. The first opens at the start of the flow.
    pub(super) fn new(page: Page, objects: &[ObjectSpec], count: usize) -> Self {
        let attributes: Vec<Attributes> = objects.iter().flat_map(ObjectSpec::attributes).collect();
        let mut connections = ti_vec![Connection::default(); count];
        if let Some(first) = connections.first_mut() {
            first.state = State::Opening;
        }
        Self {
            page,
            urgencies: attributes.iter().map(|attributes| attributes.urgency).collect(),
            responses: SendBuffer::new(&attributes),
            connections,
            idle: Vec::new(),
            waiting: BTreeMap::new(),
            requested: 0,
            ready: None,
            actions: Vec::new(),
            reports: Vec::new(),
        }
    }

    /// Carries out what the page does.
    fn carry_out(&mut self, action: Action, actions: &mut Vec<Action>) {
        match action {
            Action::Write { end: End::Receiver, stream: object, message } => {
                let place = (self.urgencies[object], self.requested);
                self.requested += 1;
                self.waiting.insert(place, Request { object, message });
            }
            Action::Write { end: End::Sender, stream: object, message } => {
                // An answer follows a request, which took a connection.
                let carries = |connection: &Connection| connection.state == State::Busy(object);
                let Some(stream) = self.connections.position(carries) else { return };
                self.connections[stream].answered.write(message);
                self.responses.push(object, message);
                actions.push(Action::Write { end: End::Sender, stream, message });
            }
            // Connections persist (RFC 9112 section 9.3).
            Action::Finish { .. } => {}
            Action::Create { .. }
            | Action::Cancel { .. }
            | Action::Datagram { .. }
            | Action::Open { .. } => {
                actions.push(action);
            }
        }
    }

    /// Sends requests on idle connections.
    fn send_requests(&mut self, actions: &mut Vec<Action>) {
        self.ready = None;
        while let Some(&stream) = self.idle.last()
            && let Some((_, Request { object, message })) = self.waiting.pop_first()
        {
            self.idle.pop();
            let connection = &mut self.connections[stream];
            connection.state = State::Busy(object);
            connection.asked.write(message);
            actions.push(Action::Write { end: End::Receiver, stream, message });
        }
    }

    /// Opens a connection for each request that waits and has none that is opening, up to the limit.
    fn open_connections(&mut self, actions: &mut Vec<Action>) {
        let opening = |connection: &&Connection| connection.state == State::Opening;
        let opening = self.connections.iter().filter(opening).count();
        let closed = self.connections.iter_mut_enumerated();
        let closed = closed.filter(|(_, connection)| connection.state == State::Closed);
        for (stream, connection) in closed.take(self.waiting.len().saturating_sub(opening)) {
            connection.state = State::Opening;
            actions.push(Action::Open { end: End::Receiver, stream });
        }
    }

    /// Takes a report about a connection; returns the one about its object, if it has one.
    fn translate(&mut self, end: End, report: Report) -> Option<Report> {
        match (end, report) {
            (End::Receiver, Report::Room { stream, .. }) => {
                if self.connections[stream].state == State::Opening {
                    self.release(stream);
                }
                None
            }
            (End::Sender, Report::Sent { stream, offset }) => {
                let Connection { state: State::Busy(object), answered, .. } =
                    self.connections[stream]
                else {
                    return None;
                };
                let offset = answered.reached(offset)?;
                let taken = self.responses.streams()[object].taken();
                self.responses.take(object, offset - taken);
                Some(Report::Sent { stream: object, offset })
            }
            (_, Report::Delivered { stream, offset }) => self.on_delivered(end, stream, offset),
            _ => None,
        }
    }

    /// Bytes of a connection have arrived up to `offset`, at an end.
    fn on_delivered(&mut self, end: End, stream: StreamIndex, offset: u64) -> Option<Report> {
        let Connection { state, asked, answered } = self.connections[stream];
        let State::Busy(object) = state else { return None };
        let bytes = if end == End::Sender { asked } else { answered };
        if end == End::Receiver && offset == bytes.end {
            self.release(stream);
        }
        Some(Report::Delivered { stream: object, offset: bytes.reached(offset)? })
    }

    /// A connection is open, and carries nothing.
    fn release(&mut self, stream: StreamIndex) {
        self.connections[stream].state = State::Idle;
        self.idle.push(stream);
    }
}

impl Application for Http1 {
    fn next_wake(&self) -> Option<SimTime> {
        [self.page.next_wake(), self.ready].into_iter().flatten().min()
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        let mut page = std::mem::take(&mut self.actions);
        self.page.advance(now, &mut page)?;
        for action in page.drain(..) {
            self.carry_out(action, actions);
        }
        self.actions = page;
        self.send_requests(actions);
        self.open_connections(actions);
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
        reports.extend(given.drain(..).filter_map(|report| self.translate(end, report)));
        self.reports = given;
        let ready = self.ready.is_none() && !self.idle.is_empty() && !self.waiting.is_empty();
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
