//! The interface to what takes the tables of a run.

use std::io;
use std::path::PathBuf;

use super::columns::StoredColumn;
use super::rows::Batch;
use super::schema::Table;

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

    /// Completes all tables, those of every run without rows included, and returns these first, in the order of [`Table::ALL`].
    ///
    /// # Errors
    /// If what is still buffered cannot be stored.
    fn finish(self: Box<Self>) -> Result<Vec<StoredTable>, SinkError>;
}

/// A complete table.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTable {
    /// Which one.
    pub table: Table,
    /// Its contents, or their file.
    pub stored: Stored,
}

/// A complete table's location and format.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Here, as a Parquet file.
    Memory(Vec<u8>),
    /// In this Parquet file.
    File(PathBuf),
    /// Here, as plain columns in the order of the table's.
    Columns(Vec<StoredColumn>),
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
