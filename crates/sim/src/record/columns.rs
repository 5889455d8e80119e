//! A sink that keeps tables in memory as plain columns, for programs that read them where they are.

use leobench_base::Bytes;
use rustc_hash::FxHashMap;

use super::rows::{Batch, Kind, Texts, Values};
use super::schema::{ColumnKind, Table};
use super::sink::{SinkError, Stored, StoredTable, TableSink};

/// The message for a run whose tables need more room than there is.
const TOO_MUCH: &str = "the tables of the run need more memory than there is; allowed: a shorter run, a longer \
                        `record.interval`, or `record.messages = false`";

/// The values of a column, one for each row of its table.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredColumn {
    /// The values; zeros where they are missing.
    pub values: StoredValues,
    /// By row, 1 if the value is there and 0 if it is missing; `None` if none may be missing.
    pub present: Option<Vec<u8>>,
}

/// Values of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredValues {
    /// Signed integers.
    Integers(Vec<i64>),
    /// Double-precision numbers.
    Floats(Vec<f64>),
    /// 1 for true and 0 for false.
    Flags(Vec<u8>),
    /// Texts, most of which occur many times: their numbers in the order of first appearance, and the texts.
    Texts {
        /// By row, the number of its text.
        numbers: Vec<u32>,
        /// The different texts, by number.
        texts: Vec<String>,
    },
}

/// Keeps the rows of some tables as plain columns.
pub struct ColumnSink {
    tables: Vec<(Table, Vec<Growing>)>,
    room: Bytes,
}

/// A column that grows.
struct Growing {
    column: StoredColumn,
    /// The numbers of its texts.
    numbers: FxHashMap<String, u32>,
}

impl ColumnSink {
    /// A sink that keeps these tables, and at most `room` of values.
    pub fn new(tables: &[Table], room: Bytes) -> Self {
        let columns = |table: &Table| {
            table.columns().iter().map(|column| Growing::new(column.kind, column.nullable))
        };
        let tables = tables.iter().map(|table| (*table, columns(table).collect())).collect();
        Self { tables, room }
    }
}

impl TableSink for ColumnSink {
    fn write(&mut self, table: Table, batch: &Batch) -> Result<(), SinkError> {
        let Some((_, columns)) = self.tables.iter_mut().find(|(kept, _)| *kept == table) else {
            return Ok(());
        };
        let Some(room) = self.room.checked_sub(batch.size()) else {
            let source = std::io::Error::other(TOO_MUCH);
            return Err(SinkError::Write { table, source });
        };
        self.room = room;
        for (column, values) in columns.iter_mut().zip(batch.columns()) {
            column.append(values);
        }
        Ok(())
    }

    fn keeps(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        let finish = |(table, columns): (Table, Vec<Growing>)| {
            let columns = columns.into_iter().map(|growing| growing.column).collect();
            StoredTable { table, stored: Stored::Columns(columns) }
        };
        Ok(self.tables.into_iter().map(finish).collect())
    }
}

impl Growing {
    fn new(kind: ColumnKind, nullable: bool) -> Self {
        let values = match kind {
            ColumnKind::Integer => StoredValues::Integers(Vec::new()),
            ColumnKind::Float => StoredValues::Floats(Vec::new()),
            ColumnKind::Flag => StoredValues::Flags(Vec::new()),
            ColumnKind::Text => StoredValues::Texts { numbers: Vec::new(), texts: Vec::new() },
        };
        let column = StoredColumn { values, present: nullable.then(Vec::new) };
        Self { column, numbers: FxHashMap::default() }
    }

    fn append(&mut self, new: &Values) {
        let levels = new.levels.as_deref();
        match (&mut self.column.values, &new.kind) {
            (StoredValues::Integers(values), Kind::Integer(new)) => {
                spread(values, new.iter().copied(), levels);
            }
            (StoredValues::Floats(values), Kind::Float(new)) => {
                spread(values, new.iter().copied(), levels);
            }
            (StoredValues::Flags(values), Kind::Flag(new)) => {
                spread(values, new.iter().map(|flag| u8::from(*flag)), levels);
            }
            (StoredValues::Texts { numbers, texts }, Kind::Text(new)) => {
                let known = &mut self.numbers;
                spread(numbers, each(new).map(|text| number(known, texts, text)), levels);
            }
            (_, kind) => unreachable!("{kind:?} have a column of their type"),
        }
        if let (Some(present), Some(levels)) = (&mut self.column.present, levels) {
            present.extend(levels.iter().map(|level| u8::from(*level == 1)));
        }
    }
}

/// Appends the values that are there, and zeros where they are missing.
fn spread<T: Default>(
    values: &mut Vec<T>,
    mut new: impl Iterator<Item = T>,
    levels: Option<&[i16]>,
) {
    match levels {
        None => values.extend(new),
        Some(levels) => {
            values.extend(levels.iter().map(|level| {
                if *level == 1 { new.next().unwrap_or_default() } else { T::default() }
            }));
        }
    }
}

fn each(texts: &Texts) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(&0).chain(&texts.ends);
    starts.zip(&texts.ends).map(|(start, end)| match str::from_utf8(&texts.bytes[*start..*end]) {
        Ok(text) => text,
        Err(_) => unreachable!("cells are texts"),
    })
}

/// The number of a text, which may be new.
fn number(known: &mut FxHashMap<String, u32>, texts: &mut Vec<String>, text: &str) -> u32 {
    if let Some(number) = known.get(text) {
        return *number;
    }
    let number = texts.len() as u32;
    texts.push(text.to_owned());
    known.insert(text.to_owned(), number);
    number
}
