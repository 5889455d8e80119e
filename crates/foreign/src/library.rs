//! A loaded library and its table of functions.

use std::ffi::CStr;
use std::path::Path;

use crate::abi::Failure;

/// The longest description of a failure that is passed on.
const LONGEST_TEXT: usize = 500;

/// A table of functions, and the library that it belongs to, which stays loaded.
pub(crate) struct Loaded<T> {
    pub(crate) table: T,
    _library: libloading::Library,
}

/// A table of functions that begins with its version and its size.
pub(crate) trait Interface: Copy {
    /// The function that returns it.
    const SYMBOL: &'static str;
    /// The version that leobench has.
    const VERSION: u32;

    /// The name of a required function that is missing.
    fn missing(&self) -> Option<&'static str>;
}

impl<T: Interface> Loaded<T> {
    /// Loads a library and checks its interface.
    ///
    /// # Errors
    /// If the file is no library, or has another interface.
    pub(crate) fn open(file: &Path) -> Result<Self, String> {
        let path =
            std::path::absolute(file).map_err(|error| format!("cannot be found: {error}"))?;
        if !path.is_file() {
            return Err("there is no such file".to_owned());
        }
        // SAFETY: The initialisers of the library run; the scenario's author trusts it as a program.
        let library = unsafe { libloading::Library::new(&path) }
            .map_err(|error| format!("cannot be loaded: {}", sentence(&described(&error))))?;
        let symbol = T::SYMBOL;
        // SAFETY: The header gives the function this type.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const T>(symbol.as_bytes()) };
        let entry = entry.map_err(|_| format!("has no function `{symbol}`"))?;
        // SAFETY: As above; it has no arguments.
        let table = unsafe { entry() };
        if table.is_null() {
            return Err(format!("`{symbol}` returned NULL"));
        }
        // SAFETY: Every version of the interface begins with two such numbers.
        let [version, size] = unsafe { table.cast::<[u32; 2]>().read_unaligned() };
        let (expected, own) = (T::VERSION, size_of::<T>());
        if version != expected {
            return Err(format!(
                "has version {version} of the interface `{symbol}`; this leobench has version {expected}"
            ));
        }
        if size as usize != own {
            return Err(format!("`{symbol}` has a table of {size} bytes instead of {own}"));
        }
        // SAFETY: Version and size are those of `T`, whose fields may have any bits but for functions, which the author vouches for.
        let table = unsafe { table.read_unaligned() };
        match table.missing() {
            Some(name) => Err(format!("`{symbol}` lacks the function `{name}`")),
            None => Ok(Self { table, _library: library }),
        }
    }
}

fn described(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// The result of a call of `name`.
///
/// # Errors
/// The failure that the library describes.
pub(crate) fn result(name: &str, failure: Failure) -> Result<(), String> {
    match text(failure) {
        None => Ok(()),
        Some(text) => Err(format!("`{name}` failed: {text}")),
    }
}

/// A text of the library's, on one line; none for NULL.
pub(crate) fn text(text: Failure) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: The interface demands a C string that is valid until the next call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    Some(sentence(&text))
}

fn sentence(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
