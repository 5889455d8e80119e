//! All streams of a connection, both ways, and its flow control (RFC 9000 sections 2 to 4).
//!
//! Data is a byte count, so that sent data needs no copy: a stream keeps which of its bytes were acknowledged and which must
//! be sent again. The streams of a flow are the first unidirectional streams of their end, and their bytes wait in the send
//! buffer of the application; a scheduler chooses from it for every packet. Other streams are opened, written to and ended
//! one by one, and take turns behind those.
//!
//! Nothing here costs more with more streams that have nothing to do, or with more bytes in flight.

mod control;
mod credit;
mod datagrams;
mod delivery;
mod early;
mod fill;
mod id;
mod incoming;
mod local;
mod messages;
mod packet;
mod receive;
mod send;
mod table;

use std::collections::VecDeque;

use leobench_base::{Bytes, RngTree, SimDuration, SimTime, StreamIndex};
use leobench_transport::Role;
use leobench_transport::arrivals::Arrivals;
use leobench_transport::buffer::{Attributes, SendBuffer};
use leobench_transport::endpoint::{EndpointError, Forecast, Report};
use leobench_transport::path_scheduler::Backlog;
use leobench_transport::plugin::Plugins;
use leobench_transport::scheduler::{Multiplexer, SchedulerSpec};

use self::control::Pending;
use self::credit::Credit;
pub(crate) use self::credit::ReceiveWindow;
use self::datagrams::DatagramStreams;
use self::id::{StreamKind, side};
use self::messages::MessageStreams;
use self::receive::ReceivePart;
pub(crate) use self::receive::ReceiveState;
use self::send::SendPart;
pub(crate) use self::send::SendState;
use self::table::Table;
use super::QuicSpec;
use crate::wire::{Directionality, MAX_STREAMS, MAX_VARINT, StreamId, TransportParameters};

/// The configuration of a connection's streams.
pub(crate) struct StreamConfig<'a> {
    /// This end.
    pub(crate) role: Role,
    /// The streams of the flow that this end sends on; none if it only receives.
    pub(crate) sends: &'a [Attributes],
    /// Their scheduler.
    pub(crate) scheduler: &'a SchedulerSpec,
    /// Random streams of this end.
    pub(crate) rng: &'a RngTree,
    /// The host of plug-ins.
    pub(crate) plugins: &'a Plugins,
    /// Receive window of every stream.
    pub(crate) stream_window: ReceiveWindow,
    /// Receive window of the connection.
    pub(crate) connection_window: ReceiveWindow,
    /// How many bidirectional streams the peer may have open at a time.
    pub(crate) peer_bidirectional: u64,
    /// How many unidirectional streams the peer may have open at a time.
    pub(crate) peer_unidirectional: u64,
    /// How many of those are the flow's, if each of the others carries a message alone.
    pub(crate) message_streams_from: Option<u64>,
    /// Whether to keep [`StreamEvent`]s.
    pub(crate) keeps_events: bool,
}

impl<'a> StreamConfig<'a> {
    /// The streams of one end of a flow: it sends on `sends`, and the peer on `receives` streams.
    pub(crate) fn of_flow(
        spec: &'a QuicSpec,
        role: Role,
        sends: &'a [Attributes],
        receives: usize,
        rng: &'a RngTree,
        plugins: &'a Plugins,
    ) -> Self {
        Self {
            role,
            sends,
            scheduler: &spec.scheduler,
            rng,
            plugins,
            stream_window: spec.stream_window.into(),
            connection_window: spec.connection_window.into(),
            peer_bidirectional: 0,
            peer_unidirectional: receives as u64,
            message_streams_from: None,
            keeps_events: false,
        }
    }

    /// Lets the peer open so many streams at a time for messages alone, behind those of the flow.
    pub(crate) fn allow_message_streams(&mut self, most: u64) {
        self.message_streams_from = Some(self.peer_unidirectional);
        if self.peer_unidirectional > 0 {
            self.peer_unidirectional += most;
        }
    }
}

/// Something that happened to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEvent {
    /// The peer opened it.
    Opened(StreamId),
    /// Bytes from `start` to before `end` have been read, in order.
    Readable { id: StreamId, start: u64, end: u64 },
    /// The peer ended it, and everything has been read.
    Finished(StreamId),
    /// The peer abandoned it, with an error code.
    Reset { id: StreamId, code: u64 },
    /// The peer wants no more of it, with an error code.
    Stopped { id: StreamId, code: u64 },
    /// Everything written to it has been acknowledged, its end included.
    Acked(StreamId),
}

/// Totals sent and received, in bytes of stream data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamTotals {
    /// New bytes sent, which count against the peer's limit.
    pub(crate) sent: u64,
    /// Bytes received, by the highest offset of every stream.
    pub(crate) received: u64,
    /// Bytes sent again.
    pub(crate) retransmitted: u64,
    /// Packets that carried such bytes.
    pub(crate) retransmitted_packets: u64,
}

/// The peer's initial limits on the data of a new stream, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct InitialLimits {
    unidirectional: u64,
    /// On a bidirectional stream that this end opens.
    own: u64,
    /// On a bidirectional stream that the peer opens.
    peer: u64,
}

/// How many streams of a directionality the peer may open.
#[derive(Clone, Copy, Debug)]
struct StreamLimit {
    /// Open at a time.
    window: u64,
    /// Last advertised.
    limit: u64,
    closed: u64,
}

/// All streams of a connection.
pub(crate) struct Streams {
    role: Role,
    table: Table,
    /// The send buffers of the flow's streams.
    flows: Option<Multiplexer>,
    /// Those of them that travel in datagrams, if any do.
    datagrams: Option<Box<DatagramStreams>>,
    /// Those of them whose messages have streams of their own, if there are any.
    messages: Option<Box<MessageStreams>>,
    /// The number of the peer's first stream that carries a message alone, if any do.
    message_streams_from: Option<u64>,
    /// The application has written everything to them.
    finishing: bool,
    /// Bytes that wait for streams of the flow that were abandoned.
    abandoned: u64,
    /// The initial limits of streams in the peer's transport parameters.
    initial: InitialLimits,
    /// Whether the handshake is complete, so that streams may be opened and data sent.
    established: bool,

    /// The peer's limit on the bytes sent in total, and the limit last reported in `DATA_BLOCKED`.
    max_data: u64,
    blocked_at: Option<u64>,
    /// The peer's limits on the streams opened by this end, by directionality, and those last reported in `STREAMS_BLOCKED`.
    may_open: [u64; 2],
    opening_blocked_at: [Option<u64>; 2],

    /// The receive window of the connection.
    credit: Credit,
    stream_window: ReceiveWindow,
    peer_may_open: [StreamLimit; 2],
    rtt: Option<SimDuration>,

    pending: Pending,
    /// Streams with something to send again, or only their end; the first is sure to have.
    again: VecDeque<StreamId>,
    /// Streams outside the flow with new data that their limits let go; the first is sure to have.
    ready: VecDeque<StreamId>,
    /// Bytes written to them and not sent.
    waiting: u64,

    reports: Vec<Report>,
    events: VecDeque<StreamEvent>,
    keeps_events: bool,
    totals: StreamTotals,
    /// Measurements of the arrival of data, if it is measured.
    arrivals: Option<Box<Arrivals>>,
}

impl Streams {
    /// The streams of a connection that has not been established.
    ///
    /// # Errors
    /// If the scheduler is a plug-in that cannot be built.
    pub(crate) fn new(config: &StreamConfig<'_>) -> Result<Self, EndpointError> {
        let StreamConfig { role, sends, scheduler, rng, plugins, .. } = *config;
        let flows = match sends {
            [] => None,
            _ => Some(Multiplexer::new(scheduler, sends, &rng.child("scheduler"), plugins)?),
        };
        let limit = |streams: u64| {
            let window = streams.min(MAX_STREAMS);
            StreamLimit { window, limit: window, closed: 0 }
        };
        Ok(Self {
            role,
            table: Table::default(),
            flows,
            datagrams: DatagramStreams::new(sends),
            messages: MessageStreams::new(sends),
            message_streams_from: config.message_streams_from,
            finishing: false,
            abandoned: 0,
            initial: InitialLimits::default(),
            established: false,
            max_data: 0,
            blocked_at: None,
            may_open: [0; 2],
            opening_blocked_at: [None; 2],
            credit: Credit::new(config.connection_window),
            stream_window: config.stream_window,
            peer_may_open: [limit(config.peer_bidirectional), limit(config.peer_unidirectional)],
            rtt: None,
            pending: Pending::default(),
            again: VecDeque::new(),
            ready: VecDeque::new(),
            waiting: 0,
            reports: Vec::new(),
            events: VecDeque::new(),
            keeps_events: config.keeps_events,
            totals: StreamTotals::default(),
            arrivals: None,
        })
    }

    /// Writes this end's limits into its transport parameters.
    pub(crate) fn write_params(&self, params: &mut TransportParameters) {
        let stream = Credit::new(self.stream_window).limit();
        params.initial_max_data = self.credit.limit();
        params.initial_max_stream_data_bidi_local = stream;
        params.initial_max_stream_data_bidi_remote = stream;
        params.initial_max_stream_data_uni = stream;
        params.initial_max_streams_bidi = self.peer_may_open[0].limit;
        params.initial_max_streams_uni = self.peer_may_open[1].limit;
    }

    /// The peer's transport parameters are known.
    pub(crate) fn on_peer_params(&mut self, params: &TransportParameters) {
        self.initial = InitialLimits {
            unidirectional: params.initial_max_stream_data_uni,
            own: params.initial_max_stream_data_bidi_remote,
            peer: params.initial_max_stream_data_bidi_local,
        };
        self.max_data = self.max_data.max(params.initial_max_data);
        let streams = [params.initial_max_streams_bidi, params.initial_max_streams_uni];
        for (known, given) in self.may_open.iter_mut().zip(streams) {
            *known = given.max(*known);
        }
    }

    /// The handshake is complete: data may be sent, as far as the peer's limits let it.
    pub(crate) fn on_established(&mut self, _now: SimTime) {
        // Streams that a new connection has taken over are open.
        if !std::mem::replace(&mut self.established, true) {
            for stream in self.flow_streams() {
                self.hold(stream, true);
            }
        }
        self.open_flows();
        self.release_datagrams();
        self.release_messages();
        self.note_blocked();
    }

    /// The round-trip time, by which windows are tuned.
    pub(crate) fn set_rtt(&mut self, rtt: SimDuration) {
        self.rtt = Some(rtt);
    }

    /// Whether anything waits to be sent, control frames included.
    pub(crate) fn has_pending(&self) -> bool {
        self.has_data() || !self.pending.is_empty()
    }

    /// Whether stream data waits that flow control lets go: new data, lost data, or the end of a stream. Or datagrams.
    pub(crate) fn has_data(&self) -> bool {
        !self.again.is_empty()
            || self.connection_credit() > 0 && self.has_new()
            || self.has_datagrams()
    }

    /// Whether new data waits that the limits of its streams let go.
    fn has_new(&self) -> bool {
        let occupied = self.flows.as_ref().is_some_and(|flows| flows.buffer().has_occupied());
        occupied && self.established || !self.ready.is_empty()
    }

    /// Whether new data waits, all of which flow control blocks.
    pub(crate) fn is_blocked(&self) -> bool {
        let backlog = self.flows.as_ref().map_or(0, |flows| flows.buffer().backlog());
        let waits = backlog > self.abandoned || self.waiting > 0;
        waits && (self.connection_credit() == 0 || !self.has_new())
    }

    /// The data that waits for a path.
    pub(crate) fn waiting(&self) -> Backlog {
        let flows = self.flows.as_ref().map_or(0, |flows| flows.buffer().backlog());
        let waiting = flows.saturating_sub(self.abandoned) + self.waiting;
        Backlog { waiting: Bytes::new(waiting), credit: Bytes::new(self.connection_credit()) }
    }

    /// Bytes of new data that the peer's limit on the connection still lets this end send.
    #[inline]
    fn connection_credit(&self) -> u64 {
        self.max_data.saturating_sub(self.totals.sent)
    }

    /// The send buffers of the flow's streams, if this end sends.
    pub(crate) fn send_buffer(&self) -> Option<&SendBuffer> {
        self.flows.as_ref().map(Multiplexer::buffer)
    }

    /// Tells the scheduler of the flow's streams of a forecast.
    ///
    /// # Errors
    /// If it fails.
    pub(crate) fn on_forecast(
        &mut self,
        now: SimTime,
        forecast: &Forecast,
    ) -> Result<(), EndpointError> {
        self.flows.as_mut().map_or(Ok(()), |flows| flows.on_forecast(now, forecast))
    }

    /// Moves the reports on the flow's streams to `reports`.
    pub(crate) fn take_reports(&mut self, reports: &mut Vec<Report>) {
        if !self.reports.is_empty() {
            reports.append(&mut self.reports);
        }
    }

    /// The next event, if events are kept.
    pub(crate) fn next_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    /// Keeps events from now on.
    #[cfg(test)]
    pub(crate) fn keep_events(&mut self) {
        self.keeps_events = true;
    }

    /// Whether events are kept.
    pub(crate) fn keeps_events(&self) -> bool {
        self.keeps_events
    }

    /// Running totals.
    pub(crate) fn totals(&self) -> StreamTotals {
        self.totals
    }

    /// Measures the arrival of data from now on.
    pub(crate) fn measure_arrivals(&mut self) {
        self.arrivals = Some(Box::default());
    }

    /// Measurements of the arrival of data, if there are any.
    pub(crate) fn arrivals(&self) -> Option<&Arrivals> {
        self.arrivals.as_deref()
    }

    /// The state of the sending part of a stream; `None` once it is final.
    pub(crate) fn send_state(&mut self, id: StreamId) -> Option<SendState> {
        self.table.send(id).map(|part| part.state())
    }

    /// How many bytes of a stream are acknowledged without a gap; `None` once its sending part is final.
    pub(crate) fn acked(&mut self, id: StreamId) -> Option<u64> {
        self.table.send(id).map(|part| part.acked())
    }

    /// The state of the receiving part of a stream; `None` once it is final.
    pub(crate) fn receive_state(&mut self, id: StreamId) -> Option<ReceiveState> {
        self.table.receive(id).map(|part| part.state())
    }

    fn event(&mut self, event: StreamEvent) {
        if self.keeps_events {
            self.events.push_back(event);
        }
    }

    /// Adds a report; one on the stream of the last report replaces it.
    #[inline]
    fn report(&mut self, report: Report) {
        match (self.reports.last_mut(), report) {
            (Some(Report::Sent { stream, offset }), Report::Sent { stream: again, offset: to })
            | (
                Some(Report::Delivered { stream, offset }),
                Report::Delivered { stream: again, offset: to },
            ) if *stream == again => *offset = to,
            _ => self.reports.push(report),
        }
    }

    fn own_kind(&self, direction: Directionality) -> StreamKind {
        StreamKind { initiator: self.role, direction }
    }

    /// How many streams the flow has.
    fn flow_count(&self) -> usize {
        self.flows.as_ref().map_or(0, |flows| flows.buffer().streams().len())
    }

    /// The streams of the flow.
    fn flow_streams(&self) -> impl Iterator<Item = StreamIndex> + use<> {
        (0..self.flow_count()).map(StreamIndex::from)
    }

    /// The number in the flow of a stream, if it is one of the flow's.
    fn flow_of(&self, id: StreamId) -> Option<StreamIndex> {
        let own = StreamKind::of(id) == self.own_kind(Directionality::Unidirectional);
        let number = usize::try_from(id::index(id)).ok()?;
        (own && number < self.flow_count()).then(|| number.into())
    }

    /// A new stream of a type: who may send, and how much at first.
    fn stream(&self, kind: StreamKind) -> table::Stream {
        let own = kind.initiator == self.role;
        let (sends, limit) = match (kind.direction, own) {
            (Directionality::Unidirectional, _) => (own, self.initial.unidirectional),
            (Directionality::Bidirectional, true) => (true, self.initial.own),
            (Directionality::Bidirectional, false) => (true, self.initial.peer),
        };
        let receives = !own || kind.direction == Directionality::Bidirectional;
        table::Stream {
            send: sends.then(|| SendPart::new(limit.min(MAX_VARINT))),
            receive: receives.then(|| ReceivePart::new(self.stream_window)),
        }
    }

    /// Closes a stream whose parts are in final states, and lets the peer open another in the place of its own.
    fn clean(&mut self, id: StreamId) {
        let kind = StreamKind::of(id);
        if !self.table.clean(id) || kind.initiator == self.role {
            return;
        }
        let limit = &mut self.peer_may_open[side(kind.direction)];
        limit.closed += 1;
        self.pending.max_streams[side(kind.direction)] |= limit.is_due();
    }
}

impl StreamLimit {
    fn target(&self) -> u64 {
        (self.window + self.closed).min(MAX_STREAMS)
    }

    /// Whether a new limit should be advertised: in steps of an eighth of what may be open at a time, as windows.
    fn is_due(&self) -> bool {
        let growth = self.target() - self.limit;
        growth > 0 && growth >= self.window / 8
    }

    fn advertise(&mut self) -> u64 {
        self.limit = self.target();
        self.limit
    }
}

#[cfg(test)]
mod tests;
