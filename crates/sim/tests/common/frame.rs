//! A table read back from the Arrow IPC file it was stored in.

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;

/// A table in memory.
pub struct Frame(Vec<RecordBatch>);

impl Frame {
    pub fn read(bytes: &[u8]) -> Self {
        let reader = FileReader::try_new(Cursor::new(bytes), None).expect("an Arrow file");
        Self(reader.map(Result::unwrap).collect())
    }

    pub fn rows(&self) -> usize {
        self.0.iter().map(RecordBatch::num_rows).sum()
    }

    /// A column of integers that must all be there.
    pub fn integers(&self, column: &str) -> Vec<i64> {
        self.maybe_integers(column).into_iter().map(|value| value.expect(column)).collect()
    }

    /// A column of integers, some of which may be missing.
    pub fn maybe_integers(&self, column: &str) -> Vec<Option<i64>> {
        let values = |batch: &RecordBatch| {
            let values = batch.column_by_name(column).expect(column).as_primitive::<Int64Type>();
            values.iter().collect::<Vec<_>>()
        };
        self.0.iter().flat_map(values).collect()
    }

    /// A column of text; what is missing reads as empty.
    pub fn texts(&self, column: &str) -> Vec<String> {
        let values = |batch: &RecordBatch| {
            let values = batch.column_by_name(column).expect(column).as_string::<i32>();
            let text = |row| if values.is_null(row) { "" } else { values.value(row) }.to_owned();
            (0..values.len()).map(text).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(values).collect()
    }

    /// The integers of `column` in the rows whose text in `key` is `name`.
    pub fn of(&self, key: &str, name: &str, column: &str) -> Vec<Option<i64>> {
        let keys = self.texts(key);
        let values = self.maybe_integers(column);
        keys.iter().zip(values).filter(|(key, _)| *key == name).map(|(_, value)| value).collect()
    }
}
