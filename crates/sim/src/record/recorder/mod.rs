//! The recorder: turns what the engine observes into rows of the run's tables.

use leobench_base::{
    BitRate, Bytes, DirectionId, FlowId, NodeId, SimDuration, SimTime, StreamIndex,
};
use leobench_link::Cause;
use leobench_transport::endpoint::PathId;

mod frames;
mod losses;
mod routes;
mod samples;
mod segments;

pub use losses::{DropRow, LossRow};
pub use samples::HopRow;

use super::names::Names;
use super::rows::{Batch, Cell};
use super::schema::Table;
use super::sink::{SinkError, StoredTable, TableSink};
use crate::topology::HandoverStage;

/// Settings of a recording; events are always recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// Time between two samples of a series.
    pub interval: SimDuration,
    /// Whether every message becomes a row.
    pub messages: bool,
    /// Whether the tables over time (`transport`, `streams`, `queues`, `channel`, `paths`, `opportunities`) are filled.
    pub series: bool,
    /// Number of flows, the first ones, that have rows in tables over time.
    pub flows: usize,
    /// Whether every packet becomes a row at every link.
    pub packets: bool,
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Number of its stream within the flow.
    pub stream: StreamIndex,
    /// Its number within the stream.
    pub number: u64,
    /// Its size.
    pub size: Bytes,
    /// When the application scheduled it.
    pub created: SimTime,
    /// When its first byte was first sent, if it was.
    pub first_sent: Option<SimTime>,
    /// When it had been delivered completely, if it was.
    pub delivered: Option<SimTime>,
}

/// State of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelRow<'a> {
    /// Rate; `None` where a recorded trace serves packets.
    pub rate: Option<BitRate>,
    /// One-way propagation delay, the link's own included.
    pub delay: SimDuration,
    /// Probability that the channel loses a packet.
    pub loss: f64,
    /// Whether the link takes packets.
    pub up: bool,
    /// Name of the channel's state.
    pub label: &'a str,
}

/// An event of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// The queue took it in.
    Enqueue,
    /// It left the link at the far end.
    Deliver,
    /// It goes on with a congestion mark.
    Mark(Cause),
    /// It went no further.
    Drop(Cause),
}

impl PacketEvent {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enqueue => "enqueue",
            Self::Deliver => "deliver",
            Self::Mark(_) => "mark",
            Self::Drop(_) => "drop",
        }
    }

    /// Why it happened, if that needs a reason.
    pub const fn cause(self) -> Option<Cause> {
        match self {
            Self::Enqueue | Self::Deliver => None,
            Self::Mark(cause) | Self::Drop(cause) => Some(cause),
        }
    }
}

/// Location of a packet's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At a link, in one direction.
    Link(DirectionId),
    /// At a node, between its links.
    Node(NodeId),
}

/// An event of a packet at a link or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRow {
    /// Number of the packet within the run.
    pub packet: u64,
    /// Location of the event.
    pub location: Location,
    /// The event, with its cause if it is a mark or a drop.
    pub event: PacketEvent,
    /// Length of the IP packet.
    pub size: Bytes,
    /// The flow it belongs to, if to any.
    pub flow: Option<FlowId>,
    /// For how long the link's queue had held it, unless it has only just entered, or is at a node.
    pub queued: Option<SimDuration>,
}

/// Writes the tables of a run.
///
/// Every method appends one row if the settings ask for it. A method fails when the sink does, and from then on the
/// tables are not whole: the run is to end.
pub struct Recorder {
    settings: RecordSettings,
    names: Names,
    tables: Tables,
}

impl Recorder {
    /// A recorder of rows about the named things into `sink`.
    pub fn new(settings: RecordSettings, names: Names, sink: Box<dyn TableSink>) -> Self {
        Self { settings, names, tables: Tables::new(sink) }
    }

    /// Returns the settings of the recording.
    pub fn settings(&self) -> &RecordSettings {
        &self.settings
    }

    /// The names rows refer to.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Size of the rows that went out so far.
    pub fn written(&self) -> Bytes {
        self.tables.written
    }

    /// The part of them that is kept in memory.
    pub fn kept(&self) -> Bytes {
        if self.tables.sink.keeps() { self.tables.written } else { Bytes::ZERO }
    }

    /// Whether a flow has rows in tables over time.
    fn has_series(&self, flow: FlowId) -> bool {
        self.settings.series && usize::from(flow) < self.settings.flows
    }

    /// The fate of a message, once it is known.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn message(&mut self, flow: FlowId, message: &MessageRow) -> Result<(), SinkError> {
        if !self.settings.messages {
            return Ok(());
        }
        let flow = &self.names.flows[flow];
        let row = [
            flow.name.as_str().into(),
            flow.streams[message.stream.index()].as_str().into(),
            message.number.into(),
            message.size.into(),
            message.created.into(),
            message.first_sent.into(),
            message.delivered.into(),
        ];
        self.tables.append(Table::Messages, row)
    }

    /// Records the state of a link from now on, if series are recorded.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn channel(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        state: &ChannelRow<'_>,
    ) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let row = [
            now.into(),
            self.names.directions[direction].as_str().into(),
            state.rate.into(),
            state.delay.into(),
            Cell::Float(state.loss),
            Cell::Flag(state.up),
            state.label.into(),
        ];
        self.tables.append(Table::Channel, row)
    }

    /// Records the true round-trip time and rate of a path from now on; no round-trip time if there is no way.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn path(
        &mut self,
        now: SimTime,
        flow: FlowId,
        path: PathId,
        base_rtt: Option<SimDuration>,
        bottleneck: Option<BitRate>,
    ) -> Result<(), SinkError> {
        if !self.has_series(flow) {
            return Ok(());
        }
        let row = [
            now.into(),
            self.names.flows[flow].name.as_str().into(),
            u64::from(path.0).into(),
            base_rtt.into(),
            bottleneck.into(),
        ];
        self.tables.append(Table::Paths, row)
    }

    /// A rare event.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn event(
        &mut self,
        now: SimTime,
        kind: &str,
        subject: &str,
        detail: &str,
    ) -> Result<(), SinkError> {
        self.tables.append(Table::Events, [now.into(), kind.into(), subject.into(), detail.into()])
    }

    /// Records an event of a packet, if packets are recorded.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn packet(&mut self, now: SimTime, packet: &PacketRow) -> Result<(), SinkError> {
        if !self.settings.packets {
            return Ok(());
        }
        let row = [
            now.into(),
            packet.packet.into(),
            self.names.location(packet.location).into(),
            packet.event.name().into(),
            packet.event.cause().map(Cause::name).into(),
            packet.size.into(),
            packet.flow.map(|flow| self.names.flows[flow].name.as_str()).into(),
            packet.queued.into(),
        ];
        self.tables.append(Table::Packets, row)
    }

    /// A rare event at a link or a node.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn event_at(
        &mut self,
        now: SimTime,
        kind: &str,
        location: Location,
        detail: &str,
    ) -> Result<(), SinkError> {
        let row = [now.into(), kind.into(), self.names.location(location).into(), detail.into()];
        self.tables.append(Table::Events, row)
    }

    /// A stage of a handover by the topology of this number.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn handover(
        &mut self,
        now: SimTime,
        topology: usize,
        stage: &HandoverStage,
    ) -> Result<(), SinkError> {
        let [from, to] = [stage.from, stage.to].map(|access| self.names.access(access));
        let row = [
            now.into(),
            self.names.topologies[topology].as_str().into(),
            stage.number.into(),
            self.names.nodes[stage.node].as_str().into(),
            (&*from).into(),
            (&*to).into(),
            stage.stage.name().into(),
        ];
        self.tables.append(Table::Handovers, row)
    }

    /// Completes the tables and returns them.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn finish(self) -> Result<Vec<StoredTable>, SinkError> {
        self.tables.finish()
    }
}

/// The batches being filled, and where they go when full.
struct Tables {
    batches: Vec<Batch>,
    sink: Box<dyn TableSink>,
    written: Bytes,
}

impl Tables {
    fn new(sink: Box<dyn TableSink>) -> Self {
        let batches = Table::ALL.into_iter().chain(Table::OCCASIONAL).map(Batch::new).collect();
        Self { batches, sink, written: Bytes::ZERO }
    }

    fn append<const WIDTH: usize>(
        &mut self,
        table: Table,
        row: [Cell<'_>; WIDTH],
    ) -> Result<(), SinkError> {
        let batch = &mut self.batches[table as usize];
        batch.append(row);
        if batch.is_full() { self.flush(table) } else { Ok(()) }
    }

    fn flush(&mut self, table: Table) -> Result<(), SinkError> {
        let batch = &mut self.batches[table as usize];
        self.written += batch.size();
        self.sink.write(table, batch)?;
        batch.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<StoredTable>, SinkError> {
        for table in Table::ALL.into_iter().chain(Table::OCCASIONAL) {
            if !self.batches[table as usize].is_empty() {
                self.flush(table)?;
            }
        }
        self.sink.finish()
    }
}
