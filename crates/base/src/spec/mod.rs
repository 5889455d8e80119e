//! Specifications: what a scenario file may say, defined once and used for reading, refusing, documenting (JSON
//! Schema) and writing back.
//!
//! A file is parsed into a tree of [`Value`]s. A [`Spec`] reads itself from such a tree and fails with a
//! [`SpecError`] that names the place, the value, what is allowed and the nearest valid word. The macros
//! [`spec!`](crate::spec!) (a table), [`words!`](crate::words!) (a choice of words) and
//! [`kinds!`](crate::kinds!) (a table whose `kind` picks one of several) define all there is from one text.

mod bound;
mod error;
mod kinds;
mod leaf;
pub mod length;
pub mod limit;
mod macros;
mod name;
pub mod quantity;
mod reader;
mod value;

pub use bound::{Bound, UpTo};
pub use error::{At, Fault, SpecError, cut, nearest, quoted, sentence};
pub use kinds::{named_kind, with_kind};
pub use leaf::{Probability, Range, Ratio, Weight, Whole};
pub use length::{Length, Ring};
pub use limit::{Limit, Span};
pub use name::{LONGEST_NAME, NAME, is_label, is_name};
pub use quantity::Window;
pub use reader::Reader;
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

    /// The value that a missing key stands for; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether `write` has nothing to say, so that the key is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A specification that is a table. The macro [`spec!`](crate::spec!) implements it.
pub trait TableSpec: Spec {
    /// The first line of its documentation, for `leobench list`.
    const SUMMARY: &'static str;

    /// The shortest ordinary table a user would write, as JSON: the required keys, and no default. It is shown by
    /// `leobench list KIND NAME`, and what it describes runs through the conformance tests of its kind.
    const EXAMPLE: &'static str;

    /// Its keys, in order.
    fn keys() -> Vec<&'static str>;

    /// Adds the schemas of its keys, and the names of the required ones.
    fn describe(properties: &mut SchemaMap<String, Schema>, required: &mut Vec<&'static str>);

    /// Reads its keys from a table that may have more. [`check_table`](Self::check_table) is left to do.
    ///
    /// # Errors
    /// The first key that is wrong.
    fn take(reader: &Reader<'_>) -> Result<Self, SpecError>;

    /// Adds its keys to a table.
    fn put(&self, table: &mut Table);

    /// Checks what its keys mean together.
    ///
    /// # Errors
    /// The first key that cannot be.
    fn check_table(&self) -> Result<(), Fault>;

    /// [`EXAMPLE`](Self::EXAMPLE) as a table.
    ///
    /// # Panics
    /// If it is none.
    fn example_table() -> Table {
        serde_json::from_str(Self::EXAMPLE)
            .unwrap_or_else(|error| panic!("the example {}: {error}", Self::EXAMPLE))
    }

    /// The specification that [`EXAMPLE`](Self::EXAMPLE) describes.
    ///
    /// # Panics
    /// If the example is not valid.
    fn example() -> Self {
        Self::read(&Value::Table(Self::example_table()), &At::ROOT)
            .unwrap_or_else(|error| panic!("the example {}: {error}", Self::EXAMPLE))
    }
}

/// A type whose key may be missing without a default.
pub trait Optional {
    /// The value that a missing key stands for.
    const ABSENT: Self;
}

impl<T> Optional for Option<T> {
    const ABSENT: Self = None;
}

#[cfg(test)]
mod tests;
