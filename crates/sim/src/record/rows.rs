//! Rows on their way into columns: a table's current batch, filled cell by cell in the order of its columns.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

use super::tables::{ColumnKind, Table};

/// Rows in a batch: large enough that the cost of a batch vanishes, small enough to be nothing in memory.
pub(super) const BATCH_ROWS: usize = 8_192;

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Integer(i64),
    Float(f64),
    Flag(bool),
    Text(&'a str),
    Null,
}

impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u128> for Cell<'_> {
    fn from(value: u128) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<SimTime> for Cell<'_> {
    fn from(time: SimTime) -> Self {
        time.as_nanos().into()
    }
}

impl From<SimDuration> for Cell<'_> {
    fn from(span: SimDuration) -> Self {
        span.as_nanos().into()
    }
}

impl From<Bytes> for Cell<'_> {
    fn from(size: Bytes) -> Self {
        size.get().into()
    }
}

impl From<BitRate> for Cell<'_> {
    fn from(rate: BitRate) -> Self {
        rate.bps().into()
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The rows of a table that have not been handed to the sink.
#[derive(Debug)]
pub(super) struct Batch {
    schema: SchemaRef,
    columns: Vec<Builder>,
    rows: usize,
}

#[derive(Debug)]
enum Builder {
    Integer(Int64Builder),
    Float(Float64Builder),
    Flag(BooleanBuilder),
    Text(StringBuilder),
}

impl Batch {
    pub(super) fn new(table: Table) -> Self {
        let columns = table.columns().iter().map(|column| Builder::new(column.kind)).collect();
        Self { schema: table.schema(), columns, rows: 0 }
    }

    /// Appends a row of one cell per column.
    ///
    /// # Panics
    /// If a cell's type is not its column's.
    pub(super) fn append<const WIDTH: usize>(&mut self, row: [Cell<'_>; WIDTH]) {
        assert_eq!(WIDTH, self.columns.len(), "a row is as wide as its table");
        for (column, cell) in self.columns.iter_mut().zip(row) {
            column.append(cell);
        }
        self.rows += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows so far, which are taken out.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        let columns = self.columns.iter_mut().map(Builder::take).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Builder {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Integer => Self::Integer(Int64Builder::new()),
            ColumnKind::Float => Self::Float(Float64Builder::new()),
            ColumnKind::Flag => Self::Flag(BooleanBuilder::new()),
            ColumnKind::Text => Self::Text(StringBuilder::new()),
        }
    }

    fn append(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Integer(builder), Cell::Integer(value)) => builder.append_value(value),
            (Self::Integer(builder), Cell::Null) => builder.append_null(),
            (Self::Float(builder), Cell::Float(value)) => builder.append_value(value),
            (Self::Float(builder), Cell::Null) => builder.append_null(),
            (Self::Flag(builder), Cell::Flag(value)) => builder.append_value(value),
            (Self::Flag(builder), Cell::Null) => builder.append_null(),
            (Self::Text(builder), Cell::Text(value)) => builder.append_value(value),
            (Self::Text(builder), Cell::Null) => builder.append_null(),
            (column, cell) => panic!("{cell:?} does not belong into {column:?}"),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Integer(builder) => Arc::new(builder.finish()),
            Self::Float(builder) => Arc::new(builder.finish()),
            Self::Flag(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
        }
    }
}
