//! Tables that a run writes as it goes. Rows are handed to a sink in batches. Memory stays flat: a table holds at most
//! one batch of rows, and a file sink passes every batch on to its file.

mod columns;
mod names;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_sinks;
mod recorder;
mod rows;
mod schema;
mod sink;
#[cfg(feature = "parquet")]
mod spin;

pub use columns::{ColumnSink, StoredColumn, StoredValues};
pub(crate) use names::chain_name;
pub use names::{FlowNames, Names};
#[cfg(feature = "parquet")]
pub use parquet_sinks::{FileSink, MemorySink};
pub use recorder::{
    ChannelRow, DropRow, HopRow, Location, LossRow, MessageRow, PacketEvent, PacketRow,
    RecordSettings, Recorder,
};
pub use rows::Batch;
pub use schema::{Column, ColumnKind, Table};
pub use sink::{Nowhere, SinkError, Stored, StoredTable, TableSink};
#[cfg(feature = "parquet")]
pub use spin::{SpinRow, write_spin};

#[cfg(test)]
#[path = "../../tests/common/frame.rs"]
#[expect(dead_code, reason = "the tests of whole runs need more of it")]
pub(crate) mod frame;

#[cfg(test)]
mod tests;
