//! Tables that a run writes as it goes. Rows are handed to a sink in batches. Memory stays flat: a table holds at most
//! one batch of rows, and a file sink passes every batch on to its file.

mod names;
mod parquet_file;
mod recorder;
mod rows;
mod sink;
mod spin;
mod tables;

pub(crate) use names::chain_name;
pub use names::{FlowNames, Names};
pub use recorder::{
    ChannelRow, DropRow, Location, LossRow, MessageRow, PacketEvent, PacketRow, RecordSettings,
    Recorder,
};
pub use rows::Batch;
pub use sink::{FileSink, MemorySink, Nowhere, SinkError, Stored, StoredTable, TableSink};
pub use spin::{SpinRow, write_spin};
pub use tables::{Column, ColumnKind, Table};

#[cfg(test)]
#[path = "../../tests/common/frame.rs"]
#[expect(dead_code, reason = "the tests of whole runs need more of it")]
pub(crate) mod frame;

#[cfg(test)]
mod tests;
