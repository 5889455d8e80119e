//! Rows of the table `losses`.

use leobench_base::{Bytes, End, FlowId, SimTime};
use leobench_link::Cause;
use leobench_transport::endpoint::Evidence;

use super::super::schema::Table;
use super::super::sink::SinkError;
use super::{Location, Recorder};

/// A packet that the network dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropRow {
    /// Number of the packet within the run.
    pub packet: u64,
    /// Length of the IP packet.
    pub size: Bytes,
    /// When it was dropped.
    pub at: SimTime,
    /// Link or node that dropped it.
    pub location: Location,
    /// Why.
    pub cause: Cause,
}

/// A packet that the network dropped, that its sender declared lost, or that its sender repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRow {
    /// The flow.
    pub flow: FlowId,
    /// The end that sent the packet.
    pub end: End,
    /// How the network dropped it, if it did.
    pub dropped: Option<DropRow>,
    /// When its sender declared it lost, and on which evidence.
    pub declared: Option<(SimTime, Evidence)>,
    /// When its sender sent its content again, and how much of it.
    pub repeated: Option<(SimTime, Bytes)>,
}

impl Recorder {
    /// A packet that was lost, or that its sender took for lost.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn loss(&mut self, row: &LossRow) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let dropped = row.dropped.as_ref();
        let cells = [
            self.names.flows[row.flow].name.as_str().into(),
            row.end.name().into(),
            dropped.map(|dropped| dropped.packet).into(),
            dropped.map(|dropped| dropped.size).into(),
            dropped.map(|dropped| dropped.at).into(),
            dropped.map(|dropped| self.names.location(dropped.location)).into(),
            dropped.map(|dropped| dropped.cause.name()).into(),
            row.declared.map(|(at, _)| at).into(),
            row.declared.map(|(_, evidence)| evidence.word()).into(),
            row.repeated.map(|(at, _)| at).into(),
            row.repeated.map(|(_, bytes)| bytes).into(),
        ];
        self.tables.append(Table::Losses, cells)
    }
}
