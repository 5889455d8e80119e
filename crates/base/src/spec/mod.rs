//! Specifications: what a scenario file may say, defined once and used for reading, refusing, documenting (JSON
//! Schema) and writing back.
//!
//! A file is parsed into a tree of [`Value`]s. A [`Spec`] reads itself from such a tree and fails with a
//! [`SpecError`] that names the place, the value, what is allowed and the nearest valid word. The macros
//! [`spec!`](crate::spec!) (a table), [`words!`](crate::words!) (a choice of words) and
//! [`kinds!`](crate::kinds!) (a table whose `kind` picks one of several) define all there is from one text.

mod error;
mod leaf;
mod macros;
pub mod quantity;
mod table;
mod value;

pub use error::{At, Fault, SpecError, cut, nearest, quoted};
pub use leaf::{Probability, Range, Weight, Whole};
pub use quantity::{Limit, Window};
pub use table::{Reader, named_kind};
pub use value::{Table, Value};

pub use serde_json::{Map as SchemaMap, Value as Schema, json};

/// Something that a scenario file can say.
pub trait Spec: Sized {
    /// The JSON Schema of the values that [`Spec::read`] accepts.
    fn schema() -> Schema;

    /// Reads the value found at `at`.
    ///
    /// # Errors
    /// The first thing wrong with it, by place.
    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError>;

    /// The value that reads back as `self`, defaults spelled out.
    fn write(&self) -> Value;

    /// What a missing key means; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether `write` has nothing to say, so that the key is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A specification that is a table, with its own one-line summary.
pub trait TableSpec: Spec {
    /// The first line of its documentation, for `leobench list`.
    const SUMMARY: &'static str;
}

/// A valid instance of a specification, for conformance tests that run on every kind.
pub trait Example {
    /// A small, ordinary instance.
    fn example() -> Self;
}

#[cfg(test)]
mod tests;
