//! A table read back from the Parquet file it was stored in.

use bytes::Bytes;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

/// A table in memory.
pub struct Frame(SerializedFileReader<Bytes>);

impl Frame {
    pub fn read(bytes: &[u8]) -> Self {
        Self(SerializedFileReader::new(Bytes::copy_from_slice(bytes)).expect("a Parquet file"))
    }

    pub fn rows(&self) -> usize {
        self.groups().iter().sum()
    }

    /// The number of rows of each row group.
    pub fn groups(&self) -> Vec<usize> {
        let groups = self.0.metadata().row_groups();
        groups.iter().map(|group| usize::try_from(group.num_rows()).expect("a count")).collect()
    }

    /// The columns, in order.
    pub fn columns(&self) -> Vec<&ColumnDescriptor> {
        let schema = self.0.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(AsRef::as_ref).collect()
    }

    fn values<T: DataType>(&self, column: &str) -> Vec<Option<T::T>> {
        let columns = self.columns();
        let number = columns.iter().position(|of| of.name() == column).expect(column);
        let is_nullable = columns[number].max_def_level() == 1;
        let mut all = Vec::new();
        for (group, rows) in self.groups().into_iter().enumerate() {
            let group = self.0.get_row_group(group).expect("a row group");
            let reader = group.get_column_reader(number).expect(column);
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            let mut reader = get_typed_column_reader::<T>(reader);
            reader.read_records(rows, Some(&mut levels), None, &mut values).expect(column);
            let mut values = values.into_iter();
            let is_there = |row: usize| !is_nullable || levels[row] == 1;
            all.extend((0..rows).map(|row| if is_there(row) { values.next() } else { None }));
        }
        all
    }

    /// A column of integers that must all be there.
    pub fn integers(&self, column: &str) -> Vec<i64> {
        self.maybe_integers(column).into_iter().map(|value| value.expect(column)).collect()
    }

    /// A column of integers, some of which may be missing.
    pub fn maybe_integers(&self, column: &str) -> Vec<Option<i64>> {
        self.values::<Int64Type>(column)
    }

    /// A column of floating-point numbers, some of which may be missing.
    pub fn maybe_floats(&self, column: &str) -> Vec<Option<f64>> {
        self.values::<DoubleType>(column)
    }

    /// A column of flags, some of which may be missing.
    pub fn maybe_flags(&self, column: &str) -> Vec<Option<bool>> {
        self.values::<BoolType>(column)
    }

    /// A column of texts, some of which may be missing.
    pub fn maybe_texts(&self, column: &str) -> Vec<Option<String>> {
        let text = |value: Option<_>| {
            value.map(|value: <ByteArrayType as DataType>::T| {
                value.as_utf8().expect("UTF-8").to_owned()
            })
        };
        self.values::<ByteArrayType>(column).into_iter().map(text).collect()
    }

    /// A column of text; what is missing reads as empty.
    pub fn texts(&self, column: &str) -> Vec<String> {
        self.maybe_texts(column).into_iter().map(Option::unwrap_or_default).collect()
    }

    /// The integers of `column` in the rows whose text in `key` is `name`.
    pub fn of(&self, key: &str, name: &str, column: &str) -> Vec<Option<i64>> {
        let keys = self.texts(key);
        let values = self.maybe_integers(column);
        keys.iter().zip(values).filter(|(key, _)| *key == name).map(|(_, value)| value).collect()
    }
}
