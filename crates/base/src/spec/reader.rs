//! Reading a table key by key, and refusing what is none of them.

use super::error::{At, SpecError};
use super::value::{Table, Value};
use super::{Bound, Spec};

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
        refuse_unknown_keys(table, at, known)?;
        Ok(Self { table, at })
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

/// Refuses the first key of a table that is not `known`, with the nearest one that is.
fn refuse_unknown_keys(table: &Table, at: &At<'_>, known: &[&str]) -> Result<(), SpecError> {
    match table.iter().find(|(key, _)| !known.contains(key)) {
        None => Ok(()),
        Some((key, value)) => {
            Err(at.key(key).error(value, SpecError::UNKNOWN_KEY).words(key, known))
        }
    }
}
