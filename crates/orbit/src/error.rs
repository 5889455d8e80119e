//! Errors in files: one line with the file, the place in it, the problem, and what would be right.

use std::fmt;

/// An error in a file that a user gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    location: Option<Location>,
    problem: String,
}

/// A line or record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line, counted from 1.
    Line(u64),
    /// A record of a format without lines, counted from 1.
    Record(usize),
}

impl FileError {
    /// An error of the whole file.
    pub fn whole(file: &str, problem: impl Into<String>) -> Self {
        Self { file: file.to_owned(), location: None, problem: one_line(&problem.into()) }
    }

    /// An error in a line.
    pub fn line(file: &str, line: u64, problem: impl Into<String>) -> Self {
        Self::at(file, Location::Line(line), problem)
    }

    /// A line that is not CSV.
    pub(crate) fn not_csv(file: &str, error: &csv::Error) -> Self {
        let line = error.position().map_or(1, csv::Position::line);
        Self::line(file, line, format!("not CSV: {error}"))
    }

    /// An error at a line or record.
    pub fn at(file: &str, location: Location, problem: impl Into<String>) -> Self {
        Self { location: Some(location), ..Self::whole(file, problem) }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, location, problem } = self;
        match location {
            None => write!(f, "{file}: {problem}"),
            Some(Location::Line(line)) => write!(f, "{file}, line {line}: {problem}"),
            Some(Location::Record(record)) => write!(f, "{file}, record {record}: {problem}"),
        }
    }
}

impl std::error::Error for FileError {}

/// The text without line breaks and other control characters, which quoted parts of a file may hold.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
