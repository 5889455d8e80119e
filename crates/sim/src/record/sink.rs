//! Sinks for tables: memory, or the files of a folder. Both store the Arrow IPC file format, whose record batches are
//! written one by one and can be read one by one (Polars: `read_ipc`, `scan_ipc`).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;

use super::tables::Table;

/// Takes the rows of a run's tables in batches.
pub trait TableSink: Send {
    /// Appends rows to a table.
    ///
    /// # Errors
    /// If they cannot be stored.
    fn write(&mut self, table: Table, batch: &RecordBatch) -> Result<(), SinkError>;

    /// Whether it keeps the rows in memory.
    fn keeps(&self) -> bool {
        false
    }

    /// Completes all tables, those without rows included, and says where each one is, in the order of [`Table::ALL`].
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

/// Location of a complete table in the Arrow IPC file format.
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
        source: std::io::Error,
    },
    /// Its rows could not be written.
    #[error("cannot write the table `{}`: {source}", table.name())]
    Write {
        /// The table.
        table: Table,
        /// Why.
        source: ArrowError,
    },
}

/// Takes rows and keeps none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl TableSink for Nowhere {
    fn write(&mut self, _table: Table, _batch: &RecordBatch) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        Ok(Vec::new())
    }
}

/// One writer per table, in the order of [`Table::ALL`].
struct Writers<W: Write>(Vec<FileWriter<W>>);

impl<W: Write> Writers<W> {
    fn new(mut open: impl FnMut(Table) -> Result<W, SinkError>) -> Result<Self, SinkError> {
        let writer = |table: Table| {
            FileWriter::try_new(open(table)?, &table.schema())
                .map_err(|source| SinkError::Write { table, source })
        };
        Ok(Self(Table::ALL.into_iter().map(writer).collect::<Result<_, _>>()?))
    }

    fn write(&mut self, table: Table, batch: &RecordBatch) -> Result<(), SinkError> {
        self.0[table as usize].write(batch).map_err(|source| SinkError::Write { table, source })
    }

    /// Writes the end of every table, and hands its writer to `close`.
    fn finish(
        self,
        mut close: impl FnMut(Table, W) -> Result<Stored, ArrowError>,
    ) -> Result<Vec<StoredTable>, SinkError> {
        let finish = |(table, mut writer): (Table, FileWriter<W>)| {
            writer
                .finish()
                .and_then(|()| close(table, writer.into_inner()?))
                .map(|stored| StoredTable { table, stored })
                .map_err(|source| SinkError::Write { table, source })
        };
        Table::ALL.into_iter().zip(self.0).map(finish).collect()
    }
}

/// Keeps the tables in memory.
pub struct MemorySink(Writers<Vec<u8>>);

impl MemorySink {
    /// A sink with every table, empty.
    ///
    /// # Errors
    /// If a table's head cannot be encoded.
    pub fn new() -> Result<Self, SinkError> {
        Writers::new(|_| Ok(Vec::new())).map(Self)
    }
}

impl TableSink for MemorySink {
    fn write(&mut self, table: Table, batch: &RecordBatch) -> Result<(), SinkError> {
        self.0.write(table, batch)
    }

    fn keeps(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        self.0.finish(|_, bytes| Ok(Stored::Memory(bytes)))
    }
}

/// Streams every table into a file `<table>.arrow` of a folder.
pub struct FileSink {
    folder: PathBuf,
    writers: Writers<BufWriter<File>>,
}

impl FileSink {
    /// Creates the files in `folder`, which must exist.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn new(folder: &Path) -> Result<Self, SinkError> {
        let open = |table| {
            let path = path_of(folder, table);
            match File::create(&path) {
                Ok(file) => Ok(BufWriter::new(file)),
                Err(source) => Err(SinkError::Create { path, source }),
            }
        };
        Ok(Self { folder: folder.to_path_buf(), writers: Writers::new(open)? })
    }
}

impl TableSink for FileSink {
    fn write(&mut self, table: Table, batch: &RecordBatch) -> Result<(), SinkError> {
        self.writers.write(table, batch)
    }

    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError> {
        let folder = self.folder;
        self.writers.finish(|table, file| {
            file.into_inner().map_err(|error| ArrowError::from(error.into_error()))?;
            Ok(Stored::File(path_of(&folder, table)))
        })
    }
}

fn path_of(folder: &Path, table: Table) -> PathBuf {
    folder.join(table.name()).with_extension("arrow")
}
