//! Sinks for tables: memory, or the files of a folder. Both store Parquet, whose row groups are written one by one.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::parquet_file::ParquetFile;
use super::rows::Batch;
use super::tables::Table;

/// Takes the rows of a run's tables in batches.
pub trait TableSink: Send {
    /// Appends rows to a table.
    ///
    /// # Errors
    /// If they cannot be stored.
    fn write(&mut self, table: Table, batch: &Batch) -> Result<(), SinkError>;

    /// Whether it keeps the rows in memory.
    fn keeps(&self) -> bool {
        false
    }

    /// Completes all tables, those without rows included, and returns them in the order of [`Table::ALL`].
    ///
    /// # Errors
    /// If what is still buffered cannot be stored.
    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError>;
}

/// A complete table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTable {
    /// Which one.
    pub table: Table,
    /// Its contents, or their file.
    pub stored: Stored,
}

/// Location of a complete table in the Parquet format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Here.
    Memory(Vec<u8>),
    /// In this file.
    File(PathBuf),
}

/// A table that could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Its file could not be opened.
    #[error("cannot create {}: {source}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its rows could not be written.
    #[error("cannot write the table `{}`: {source}", table.name())]
    Write {
        /// The table.
        table: Table,
        /// Why.
        source: io::Error,
    },
}

/// Takes rows and keeps none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl TableSink for Nowhere {
    fn write(&mut self, _table: Table, _batch: &Batch) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        Ok(Vec::new())
    }
}

/// A table on its way into a file.
struct TableWriter<W: Write + Send> {
    table: Table,
    file: ParquetFile<W>,
}

impl<W: Write + Send> TableWriter<W> {
    fn new(output: W, table: Table) -> Result<Self, SinkError> {
        let file = ParquetFile::new(output, table);
        let file = file.map_err(|source| SinkError::Write { table, source })?;
        Ok(Self { table, file })
    }

    fn write(&mut self, batch: &Batch) -> Result<(), SinkError> {
        let table = self.table;
        self.file.write(batch).map_err(|source| SinkError::Write { table, source })
    }

    /// Writes the end of the table.
    fn finish(&mut self) -> Result<&mut W, SinkError> {
        let table = self.table;
        self.file.finish().map_err(|source| SinkError::Write { table, source })
    }
}

/// Keeps the tables in memory.
pub struct MemorySink(Vec<TableWriter<Vec<u8>>>);

impl MemorySink {
    /// A sink with every table, empty.
    ///
    /// # Errors
    /// If a table's head cannot be encoded.
    pub fn new() -> Result<Self, SinkError> {
        let writers = Table::ALL.into_iter().map(|table| TableWriter::new(Vec::new(), table));
        Ok(Self(writers.collect::<Result<_, _>>()?))
    }
}

impl TableSink for MemorySink {
    fn write(&mut self, table: Table, batch: &Batch) -> Result<(), SinkError> {
        self.0[table as usize].write(batch)
    }

    fn keeps(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        let finish = |mut writer: TableWriter<Vec<u8>>| {
            let stored = Stored::Memory(std::mem::take(writer.finish()?));
            Ok(StoredTable { table: writer.table, stored })
        };
        self.0.into_iter().map(finish).collect()
    }
}

/// Streams a table into the file `<table>.parquet` of a folder.
pub(super) struct TableFile {
    path: PathBuf,
    writer: TableWriter<File>,
}

impl TableFile {
    pub(super) fn create(folder: &Path, table: Table) -> Result<Self, SinkError> {
        let path = folder.join(table.name()).with_extension("parquet");
        match File::create(&path) {
            Ok(file) => Ok(Self { path, writer: TableWriter::new(file, table)? }),
            Err(source) => Err(SinkError::Create { path, source }),
        }
    }

    pub(super) fn write(&mut self, batch: &Batch) -> Result<(), SinkError> {
        self.writer.write(batch)
    }

    pub(super) fn finish(mut self) -> Result<StoredTable, SinkError> {
        self.writer.finish()?;
        Ok(StoredTable { table: self.writer.table, stored: Stored::File(self.path) })
    }
}

/// Streams every table into a file of a folder.
pub struct FileSink(Vec<TableFile>);

impl FileSink {
    /// Creates the files in `folder`, which must exist.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn new(folder: &Path) -> Result<Self, SinkError> {
        let files = Table::ALL.into_iter().map(|table| TableFile::create(folder, table));
        Ok(Self(files.collect::<Result<_, _>>()?))
    }
}

impl TableSink for FileSink {
    fn write(&mut self, table: Table, batch: &Batch) -> Result<(), SinkError> {
        self.0[table as usize].write(batch)
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        self.0.into_iter().map(TableFile::finish).collect()
    }
}
