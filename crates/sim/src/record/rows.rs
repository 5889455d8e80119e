//! Rows on their way into columns: a table's current batch, filled cell by cell in the order of its columns.

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

use super::schema::{Column, ColumnKind, Table};

/// Rows in a batch, which is a row group of a file. Larger ones would save 2 % of the files, but a batch is written at
/// once, and a run in real time has no time for anything else meanwhile: about a millisecond.
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

/// Rows of a table, by column.
#[derive(Debug)]
pub struct Batch {
    columns: Vec<Values>,
    rows: usize,
}

impl Batch {
    /// An empty batch.
    pub(super) fn new(table: Table) -> Self {
        Self { columns: table.columns().iter().map(Values::new).collect(), rows: 0 }
    }

    /// Appends a row of one cell per column.
    ///
    /// # Panics
    /// If a cell's type is not its column's, or a cell is missing that must be there.
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

    /// Size of the values.
    pub(super) fn size(&self) -> Bytes {
        Bytes::new(self.columns.iter().map(Values::size).sum::<usize>() as u64)
    }

    /// The columns, in the order of the table's.
    pub(super) fn columns(&self) -> &[Values] {
        &self.columns
    }

    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            column.clear();
        }
    }
}

/// The values of a column that are there.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) kind: Kind,
    /// By row, 1 if the value is there and 0 if not: Parquet's definition levels. `None` if all must be there.
    pub(super) levels: Option<Vec<i16>>,
}

/// Values of a type.
#[derive(Debug)]
pub(super) enum Kind {
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Flag(Vec<bool>),
    Text(Texts),
}

/// Texts, one after the other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) bytes: Vec<u8>,
    /// The end of each one.
    pub(super) ends: Vec<usize>,
}

impl Values {
    fn new(column: &Column) -> Self {
        let kind = match column.kind {
            ColumnKind::Integer => Kind::Integer(Vec::new()),
            ColumnKind::Float => Kind::Float(Vec::new()),
            ColumnKind::Flag => Kind::Flag(Vec::new()),
            ColumnKind::Text => Kind::Text(Texts::default()),
        };
        Self { kind, levels: column.nullable.then(Vec::new) }
    }

    fn append(&mut self, cell: Cell<'_>) {
        match (&mut self.kind, cell) {
            (Kind::Integer(values), Cell::Integer(value)) => values.push(value),
            (Kind::Float(values), Cell::Float(value)) => values.push(value),
            (Kind::Flag(values), Cell::Flag(value)) => values.push(value),
            (Kind::Text(texts), Cell::Text(value)) => {
                texts.bytes.extend_from_slice(value.as_bytes());
                texts.ends.push(texts.bytes.len());
            }
            (_, Cell::Null) if self.levels.is_some() => {}
            (kind, cell) => panic!("{cell:?} does not belong into {kind:?}"),
        }
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(!matches!(cell, Cell::Null)));
        }
    }

    fn size(&self) -> usize {
        let values = match &self.kind {
            Kind::Integer(values) => size_of_val(&values[..]),
            Kind::Float(values) => size_of_val(&values[..]),
            Kind::Flag(values) => size_of_val(&values[..]),
            Kind::Text(texts) => size_of_val(&texts.ends[..]) + texts.bytes.len(),
        };
        values + self.levels.as_ref().map_or(0, |levels| size_of_val(&levels[..]))
    }

    fn clear(&mut self) {
        match &mut self.kind {
            Kind::Integer(values) => values.clear(),
            Kind::Float(values) => values.clear(),
            Kind::Flag(values) => values.clear(),
            Kind::Text(texts) => {
                texts.bytes.clear();
                texts.ends.clear();
            }
        }
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
    }
}
