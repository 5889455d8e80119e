//! JSON text sequences (RFC 7464), the format of a streamed qlog.

use std::fmt::{self, Write as _};
use std::io;

use crate::QlogWriter;

/// A sequence of JSON texts being written.
pub struct JsonSequence {
    writer: QlogWriter,
    line: String,
    /// The first error of the writer; nothing is written until `flush` has returned it.
    error: Option<io::Error>,
}

impl JsonSequence {
    /// An empty sequence.
    pub fn new(writer: QlogWriter) -> Self {
        Self { writer, line: String::new(), error: None }
    }

    /// Appends a text.
    pub fn push(&mut self, json: fmt::Arguments<'_>) {
        if self.error.is_some() {
            return;
        }
        self.line.clear();
        // Writing to a string cannot fail.
        let _ = writeln!(self.line, "\u{1e}{json}");
        if let Err(error) = self.writer.write_all(self.line.as_bytes()) {
            self.error = Some(error);
        }
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The first error that happened since the last call.
    pub fn flush(&mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.writer.flush(),
        }
    }
}

impl fmt::Debug for JsonSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonSequence").field("error", &self.error).finish_non_exhaustive()
    }
}
