//! Reading a table key by key, and refusing what is none of them.

use super::error::{At, SpecError};
use super::value::{Table, Value};
use super::{Bound, Schema, Spec};

/// Reads the keys of one table, of which it knows all.
pub struct Reader<'a> {
    table: &'a Table,
    at: &'a At<'a>,
}

impl<'a> Reader<'a> {
    /// Starts reading the table found at `at`, which may have the keys `known`.
    ///
    /// Keys are refused before values are read, so that a misspelt key is not taken for a missing one.
    ///
    /// # Errors
    /// If the value is no table, or for the first unknown key.
    pub fn new(value: &'a Value, at: &'a At<'a>, known: &[&str]) -> Result<Self, SpecError> {
        let Value::Table(table) = value else {
            return Err(at.error(value, format!("is {}", value.type_name())).allowed("a table"));
        };
        match table.iter().find(|(key, _)| !known.contains(key)) {
            None => Ok(Self { table, at }),
            Some((key, value)) => {
                Err(at.key(key).error(value, SpecError::UNKNOWN_KEY).words(key, known))
            }
        }
    }

    /// Reads a key whose absence means [`Spec::absent`].
    ///
    /// # Errors
    /// If the value is wrong, or missing and required.
    pub fn take<T: Spec>(&self, key: &'static str) -> Result<T, SpecError> {
        let at = self.at.key(key);
        match self.table.get(key) {
            Some(value) => T::read(value, &at),
            None => T::absent().ok_or_else(|| at.missing("is required but missing")),
        }
    }

    /// Reads a key whose absence means `default()`.
    ///
    /// # Errors
    /// If the value is wrong.
    pub fn take_or<T: Spec>(
        &self,
        key: &'static str,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError> {
        let at = self.at.key(key);
        self.table.get(key).map_or_else(|| Ok(default()), |value| T::read(value, &at))
    }

    /// Refuses a value under `key` that is out of its bounds.
    ///
    /// # Errors
    /// If it is.
    pub fn check(&self, key: &str, field: &impl Spec, bound: &impl Bound) -> Result<(), SpecError> {
        bound.check(field, &self.at.key(key))
    }
}

/// The name of a kind, and its schema.
type Kind<'k> = (&'k str, fn() -> Schema);

/// The kind of a table that does not say it: the first of `kinds` that requires a key named after itself which the
/// table has.
#[doc(hidden)]
pub fn named_kind(table: &Table, kinds: &[Kind<'_>]) -> Option<Value> {
    let is_named = |(word, schema): &&Kind<'_>| {
        table.get(word).is_some()
            && schema()["required"].as_array().is_some_and(|keys| keys.contains(&(*word).into()))
    };
    kinds.iter().find(is_named).map(|(word, _)| Value::String((*word).to_owned()))
}

/// The table of a kind: `kind`, and the keys of `inner`.
#[doc(hidden)]
pub fn with_kind(kind: &str, inner: Table) -> Table {
    let mut table = Table::new();
    table.insert("kind", Value::String(kind.to_owned()));
    for (key, value) in inner {
        table.insert(&key, value);
    }
    table
}
