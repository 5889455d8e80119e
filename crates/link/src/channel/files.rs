//! Reading the files that channels refer to, with faults that name the file and the line.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use leobench_base::spec::Fault;

use super::ChannelContext;

/// The text of the file `name` given under `field`, decompressed if its name ends in `.gz`.
///
/// # Errors
/// If it is missing, cannot be read, or is no text.
pub(super) fn read_text(
    context: &ChannelContext,
    field: &str,
    name: &str,
) -> Result<String, Fault> {
    let path = context.folder.join(name);
    let bytes = read_bytes(&path).map_err(|error| {
        let problem = match error.kind() {
            io::ErrorKind::NotFound => format!("there is no file {}", path.display()),
            _ => format!("{} cannot be read: {error}", path.display()),
        };
        Fault::new(field, problem, "a file, named from the folder of the scenario")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        bad_line(field, name, line, "is not text", "a text file in UTF-8")
    })
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    MultiGzDecoder::new(fs::File::open(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A fault in one line (the first is 1) of the file `name` given under `field`.
pub(super) fn bad_line(
    field: &str,
    name: &str,
    line: usize,
    problem: impl std::fmt::Display,
    allowed: impl Into<String>,
) -> Fault {
    Fault::new(field, format!("{name}, line {line}: {problem}"), allowed)
}

/// A fault of the file `name` given under `field` that has no content.
pub(super) fn empty(field: &str, name: &str, allowed: impl Into<String>) -> Fault {
    Fault::new(field, format!("{name} is empty"), allowed)
}
