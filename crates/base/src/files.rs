//! Opening files that users name.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a regular file for reading, and nothing else: a pipe blocks until somebody writes to it, and a device may have
/// no end.
///
/// # Errors
/// Those of [`File::open`]; `InvalidInput`, which says what `path` is instead of a file; and `Unsupported` in a build without
/// the feature `files`.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if cfg!(not(feature = "files")) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "this build reads no files"));
    }
    let found = fs::metadata(path)?;
    if found.is_file() {
        return File::open(path);
    }
    let what = if found.is_dir() { "is a folder" } else { "is a pipe, a device or a socket" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(open_regular(&folder.join("Cargo.toml")).is_ok());
        let refusal = |path: &Path| open_regular(path).unwrap_err().to_string();
        assert_eq!(refusal(folder), "is a folder");
        assert_eq!(refusal(Path::new("/dev/zero")), "is a pipe, a device or a socket");
        let missing = open_regular(&folder.join("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
