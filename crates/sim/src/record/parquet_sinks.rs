//! Sinks that store Parquet, whose row groups are written one by one: in memory, or in the files of a folder.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::parquet_file::ParquetFile;
use super::rows::Batch;
use super::schema::Table;
use super::sink::{SinkError, Stored, StoredTable, TableSink};

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

/// Keeps the tables in memory, those that not every run has as soon as they have rows.
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
        let known = self.0.iter().position(|writer| writer.table == table);
        let place = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(TableWriter::new(Vec::new(), table)?);
        }
        self.0[place].write(batch)
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

/// Streams every table into a file of a folder, those that not every run has as soon as they have rows.
pub struct FileSink {
    folder: PathBuf,
    files: Vec<TableFile>,
}

impl FileSink {
    /// Creates the files in `folder`, which must exist.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn new(folder: &Path) -> Result<Self, SinkError> {
        let files = Table::ALL.into_iter().map(|table| TableFile::create(folder, table));
        Ok(Self { folder: folder.to_owned(), files: files.collect::<Result<_, _>>()? })
    }
}

impl TableSink for FileSink {
    fn write(&mut self, table: Table, batch: &Batch) -> Result<(), SinkError> {
        let known = self.files.iter().position(|file| file.writer.table == table);
        let place = known.unwrap_or(self.files.len());
        if known.is_none() {
            self.files.push(TableFile::create(&self.folder, table)?);
        }
        self.files[place].write(batch)
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        self.files.into_iter().map(TableFile::finish).collect()
    }
}
