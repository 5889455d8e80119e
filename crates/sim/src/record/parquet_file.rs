//! Tables as Parquet files.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::rows::{Batch, Kind, Texts, Values};
use super::schema::{Column, ColumnKind, Table};

/// The program that files name as their writer.
const WRITER: &str = concat!("leobench version ", env!("CARGO_PKG_VERSION"));

/// A Parquet file that a table is written to, a row group for each batch.
pub(super) struct ParquetFile<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> ParquetFile<W> {
    /// A file without rows.
    pub(super) fn new(output: W, table: Table) -> io::Result<Self> {
        let file = SerializedFileWriter::new(output, schema(table)?, Arc::new(properties(table)));
        Ok(Self(file.map_err(as_io)?))
    }

    /// Appends a batch.
    pub(super) fn write(&mut self, batch: &Batch) -> io::Result<()> {
        self.try_write(batch).map_err(as_io)
    }

    fn try_write(&mut self, batch: &Batch) -> Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        for values in batch.columns() {
            let Some(mut column) = group.next_column()? else {
                unreachable!("a batch has the columns of its table");
            };
            write_column(column.untyped(), values)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the end of the file, and whatever is still buffered.
    pub(super) fn finish(&mut self) -> io::Result<&mut W> {
        self.0.finish().map_err(as_io)?;
        Ok(self.0.inner_mut())
    }
}

fn write_column(column: &mut ColumnWriter<'_>, values: &Values) -> Result<usize, ParquetError> {
    let levels = values.levels.as_deref();
    match (column, &values.kind) {
        (ColumnWriter::Int64ColumnWriter(column), Kind::Integer(values)) => {
            column.write_batch(values, levels, None)
        }
        (ColumnWriter::DoubleColumnWriter(column), Kind::Float(values)) => {
            column.write_batch(values, levels, None)
        }
        (ColumnWriter::BoolColumnWriter(column), Kind::Flag(values)) => {
            column.write_batch(values, levels, None)
        }
        (ColumnWriter::ByteArrayColumnWriter(column), Kind::Text(texts)) => {
            column.write_batch(&byte_arrays(texts), levels, None)
        }
        (_, kind) => unreachable!("{kind:?} have a column of their type"),
    }
}

/// The texts as slices of one piece of memory.
fn byte_arrays(texts: &Texts) -> Vec<ByteArray> {
    let bytes = Bytes::copy_from_slice(&texts.bytes);
    let starts = std::iter::once(&0).chain(&texts.ends);
    let slices = starts.zip(&texts.ends).map(|(start, end)| bytes.slice(*start..*end));
    slices.map(ByteArray::from).collect()
}

fn schema(table: Table) -> io::Result<TypePtr> {
    let fields = table.columns().iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<_, _>>().map_err(as_io)?;
    let group = Type::group_type_builder(table.name()).with_fields(fields).build();
    Ok(Arc::new(group.map_err(as_io)?))
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        ColumnKind::Integer => (Physical::INT64, None),
        ColumnKind::Float => (Physical::DOUBLE, None),
        ColumnKind::Flag => (Physical::BOOLEAN, None),
        ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

/// Most integers are times and counts, which grow in nearly equal steps: their differences take a tenth of the space of
/// dictionaries.
fn properties(table: Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(WRITER.to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for column in table.columns().iter().filter(|column| column.kind == ColumnKind::Integer) {
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

/// The error of the system, if it is one.
fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}
