//! Tables as CSV whose columns are found by their names.

use csv::{Position, Reader, ReaderBuilder, StringRecord, Trim};
use leobench_base::spec::quoted;

use crate::error::FileError;

/// A table in a file.
pub(super) struct Table<'a> {
    file: &'a str,
    reader: Reader<&'a [u8]>,
    columns: StringRecord,
}

/// A row of a table.
pub(super) struct Row<'a> {
    file: &'a str,
    columns: &'a StringRecord,
    record: StringRecord,
}

impl<'a> Table<'a> {
    /// The table in the text of a file.
    ///
    /// # Errors
    /// If the first line is not CSV.
    pub(super) fn open(file: &'a str, text: &'a str) -> Result<Self, FileError> {
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
        let columns = reader.headers().map_err(|error| FileError::not_csv(file, &error))?.clone();
        Ok(Self { file, reader, columns })
    }

    /// The place of a column, if there is one of this name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The place of a column that every such table has.
    ///
    /// # Errors
    /// If there is none; `columns` names the columns of such a table, for the message.
    pub(super) fn required(&self, name: &str, columns: &str) -> Result<usize, FileError> {
        let problem = || FileError::line(self.file, 1, format!("no column {name:?}; {columns}"));
        self.column(name).ok_or_else(problem)
    }

    /// The rows; an error for each that is not CSV.
    pub(super) fn rows(&mut self) -> impl Iterator<Item = Result<Row<'_>, FileError>> {
        let (file, columns) = (self.file, &self.columns);
        self.reader.records().map(move |record| match record {
            Ok(record) => Ok(Row { file, columns, record }),
            Err(error) => Err(FileError::not_csv(file, &error)),
        })
    }
}

impl Row<'_> {
    /// The line number of the row.
    pub(super) fn line(&self) -> u64 {
        self.record.position().map_or(1, Position::line)
    }

    /// The text in a column.
    pub(super) fn text(&self, column: usize) -> &str {
        &self.record[column]
    }

    /// The number in a column.
    ///
    /// # Errors
    /// If the text is not a number.
    pub(super) fn number(&self, column: usize) -> Result<f64, FileError> {
        let (name, text) = (&self.columns[column], self.text(column));
        text.parse()
            .map_err(|_| self.error(format!("{name} should be a number, found {}", quoted(text))))
    }

    /// An error at this row.
    pub(super) fn error(&self, problem: String) -> FileError {
        FileError::line(self.file, self.line(), problem)
    }
}
