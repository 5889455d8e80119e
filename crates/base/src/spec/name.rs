//! The rule for names: of nodes, links, flows, streams, objects, handovers, terminals, gateways and shells. They stand in
//! places such as `links.uplink.delay`, in rows such as `uplink/client->server`, and in the names of files.

use super::error::{At, SpecError, quoted};
use super::value::Value;

/// The characters of a name, for messages.
pub const NAME: &str = "letters from a to z, digits, `_` and `-`, up to 100 of them";

/// Characters of the longest name; files have names of up to 255 bytes, and those of captures are made of two names.
pub const LONGEST_NAME: usize = 100;

/// Whether `text` is a name.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    !text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(fits)
}

/// Whether `text` can be shown as the name that something has elsewhere, such as "Adelanto, CA": on one line, and not long.
pub fn is_label(text: &str) -> bool {
    let fits = |c: char| !c.is_control() && !"\u{2028}\u{2029}".contains(c);
    !text.trim().is_empty() && text.chars().count() <= LONGEST_NAME && text.chars().all(fits)
}

/// Refuses a key that is no name; `at` is the place of its value.
pub(super) fn check(name: &str, value: &Value, at: &At<'_>) -> Result<(), SpecError> {
    if is_name(name) {
        return Ok(());
    }
    Err(at.error(value, format!("{} is not a valid name", quoted(name))).allowed(NAME))
}
