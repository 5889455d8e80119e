//! Tables that go nowhere, so that the memory of a run is that of the run.

use arrow_array::RecordBatch;
use leobench_sim::record::{SinkError, StoredTable, Table, TableSink};

pub struct Nowhere;

impl TableSink for Nowhere {
    fn write(&mut self, _table: Table, _batch: &RecordBatch) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        Ok(Vec::new())
    }
}
