//! Rows of a CSV file with named columns.

use std::path::Path;

use leobench_base::spec::{Fault, quoted};
use leobench_orbit::FileError;

use crate::scenario::text_of;

/// The rows of a file.
pub(super) struct Rows<'a> {
    file: &'a str,
    columns: csv::StringRecord,
    records: Vec<csv::StringRecord>,
}

/// A row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    rows: &'a Rows<'a>,
    record: &'a csv::StringRecord,
}

/// Reads `file`, named by the key `field`, with `read`. A fault names the file and the line.
pub(super) fn read<T>(
    folder: &Path,
    field: &str,
    file: &str,
    allowed: &str,
    read: impl FnOnce(&Rows<'_>) -> Result<T, FileError>,
) -> Result<T, Fault> {
    let text = text_of(folder, field, file)?;
    let rows = Rows::new(file, &text).and_then(|rows| read(&rows));
    rows.map_err(|error| Fault::new(field, error.to_string(), allowed))
}

impl<'a> Rows<'a> {
    fn new(file: &'a str, text: &str) -> Result<Self, FileError> {
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let wrong = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            FileError::line(file, line, format!("not CSV: {error}"))
        };
        let columns = reader.headers().map_err(wrong)?.clone();
        let records = reader.records().collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        if records.is_empty() {
            return Err(FileError::whole(file, "has no rows; it should have a line for each"));
        }
        Ok(Self { file, columns, records })
    }

    /// The rows in order.
    pub(super) fn iter(&'a self) -> impl Iterator<Item = Row<'a>> {
        self.records.iter().map(|record| Row { rows: self, record })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

impl<'a> Row<'a> {
    /// An error in this row.
    pub(super) fn wrong(self, problem: impl Into<String>) -> FileError {
        let line = self.record.position().map_or(1, csv::Position::line);
        FileError::line(self.rows.file, line, problem)
    }

    /// The text in a column.
    pub(super) fn text(self, column: &str) -> Result<&'a str, FileError> {
        let index = self
            .rows
            .column(column)
            .ok_or_else(|| FileError::line(self.rows.file, 1, format!("no column {column:?}")))?;
        Ok(&self.record[index])
    }

    /// The number in a column.
    pub(super) fn number(self, column: &str) -> Result<f64, FileError> {
        let text = self.text(column)?;
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| {
            self.wrong(format!("{column} should be a number, found {}", quoted(text)))
        })
    }

    /// The number in a column that the file may lack.
    pub(super) fn number_if_any(self, column: &str) -> Result<Option<f64>, FileError> {
        match self.rows.column(column) {
            None => Ok(None),
            Some(_) => self.number(column).map(Some),
        }
    }
}
