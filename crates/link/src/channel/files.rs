//! Reading the files that channels refer to, line by line, with faults that name the file and the line.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

#[cfg(feature = "files")]
use flate2::read::MultiGzDecoder;
use leobench_base::files::open_regular;
use leobench_base::spec::Fault;

use super::ChannelContext;

/// The largest file that is read.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Bytes of a line, its end included.
    line: usize,
    /// Lines.
    lines: usize,
    /// Bytes, after decompression.
    bytes: u64,
}

/// A trace of 100 million opportunities of 1,500 bytes lasts over an hour at 300 Mbit/s, and takes less than 1 GB of memory.
/// A line is a number, or five cells.
const LIMITS: Limits = Limits { line: 1_000, lines: 100_000_000, bytes: 1_000_000_000 };

/// Hands the lines of the file `name` given under `field` to `take`, with their numbers from 1, without their ends and
/// without a byte order mark. The file is decompressed if its name ends in `.gz`.
///
/// # Errors
/// If the file is missing, cannot be read, is too large, or is no text; and those of `take`.
pub(super) fn each_line(
    context: &ChannelContext,
    field: &str,
    name: &str,
    take: impl FnMut(usize, &str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let path = context.folder.join(name);
    let file = open_regular(&path).map_err(|error| unreadable(field, &path, &error))?;
    let reader = Reader { path: &path, field, name, limits: LIMITS };
    #[cfg(feature = "files")]
    if path.extension().is_some_and(|extension| extension == "gz") {
        return reader.read(BufReader::new(MultiGzDecoder::new(file)), take);
    }
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    if size > LIMITS.bytes {
        return Err(reader.too_large());
    }
    reader.read(BufReader::new(file), take)
}

/// A file to read: its path, its names in messages, and its limits.
#[derive(Clone, Copy)]
struct Reader<'a> {
    path: &'a Path,
    field: &'a str,
    name: &'a str,
    limits: Limits,
}

impl Reader<'_> {
    fn read(
        &self,
        mut text: impl BufRead,
        mut take: impl FnMut(usize, &str) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Limits { line: longest, lines: most, bytes: mut left } = self.limits;
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let mut limited = (&mut text).take(longest as u64 + 1);
            let read = limited.read_until(b'\n', &mut bytes);
            let size = read.map_err(|error| unreadable(self.field, self.path, &error))?;
            if size == 0 {
                break;
            }
            if size > longest {
                let allowed = format!("lines of at most {longest} bytes");
                return Err(bad_line(self.field, self.name, number, "is too long", allowed));
            }
            left = left.checked_sub(size as u64).ok_or_else(|| self.too_large())?;
            if number > most {
                return Err(self.too_large());
            }
            let line = std::str::from_utf8(&bytes).map_err(|_| {
                let allowed = "a text file in UTF-8";
                bad_line(self.field, self.name, number, "is not text", allowed)
            })?;
            let line = line.strip_suffix('\n').unwrap_or(line);
            let line = line.strip_suffix('\r').unwrap_or(line);
            let marked = if number == 1 { line.strip_prefix('\u{feff}') } else { None };
            take(number, marked.unwrap_or(line))?;
        }
        Ok(())
    }

    fn too_large(&self) -> Fault {
        let Limits { lines, bytes, .. } = self.limits;
        let (lines, megabytes) = (lines / 1_000_000, bytes / 1_000_000);
        let allowed =
            format!("at most {megabytes} MB after decompression, and {lines} million lines");
        Fault::new(self.field, format!("{} is too large", self.name), allowed)
    }
}

pub(super) fn unreadable(field: &str, path: &Path, error: &io::Error) -> Fault {
    let problem = match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file {}", path.display()),
        _ => format!("{} cannot be read: {error}", path.display()),
    };
    Fault::new(field, problem, "a file, by its path from the scenario's folder")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines read under small limits: 10 bytes in a line, 3 lines, 20 bytes.
    fn lines(text: &[u8]) -> Result<Vec<(usize, String)>, String> {
        let limits = Limits { line: 10, lines: 3, bytes: 20 };
        let reader = Reader { path: Path::new("x"), field: "file", name: "x", limits };
        let mut lines = Vec::new();
        let read = reader.read(text, |number, line| {
            lines.push((number, line.to_owned()));
            Ok(())
        });
        read.map(|()| lines).map_err(|fault| fault.problem)
    }

    #[test]
    fn lines_come_without_their_ends_and_the_byte_order_mark() {
        let read = |text: &str| {
            let lines = lines(text.as_bytes()).unwrap();
            lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>()
        };
        assert_eq!(read("a\r\n\nb"), ["a", "", "b"]);
        assert_eq!(read("\u{feff}a\n\u{feff}b\n"), ["a", "\u{feff}b"]);
        assert_eq!(read(""), [""; 0]);
    }

    #[test]
    fn files_beyond_the_limits_are_refused() {
        let nine = "123456789\n";
        assert_eq!(lines(nine.repeat(2).as_bytes()).unwrap().len(), 2);
        assert_eq!(lines(b"1\n1234567890\n").unwrap_err(), "x, line 2: is too long");
        assert_eq!(lines(b"1234567890").unwrap(), [(1, "1234567890".into())]);
        assert_eq!(lines(b"12345678901").unwrap_err(), "x, line 1: is too long");
        assert_eq!(lines(b"1\n2\n3\n").unwrap().len(), 3);
        assert_eq!(lines(b"1\n2\n3\n4\n").unwrap_err(), "x is too large");
        assert_eq!(lines(format!("{nine}{nine}1").as_bytes()).unwrap_err(), "x is too large");
    }

    #[test]
    fn an_endless_line_is_not_read_to_its_end() {
        struct Endless(usize);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += buffer.len();
                assert!(self.0 < 100_000, "read on after the limit");
                buffer.fill(0);
                Ok(buffer.len())
            }
        }
        let reader = Reader { path: Path::new("x"), field: "file", name: "x", limits: LIMITS };
        let read = reader.read(BufReader::new(Endless(0)), |_, _| Ok(()));
        assert_eq!(read.unwrap_err().problem, "x, line 1: is too long");
    }
}
