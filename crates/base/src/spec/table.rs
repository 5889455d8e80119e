//! Reading a table key by key, and refusing what is left over.

use super::Spec;
use super::error::{At, SpecError};
use super::value::{Table, Value};

/// Reads the keys of one table; whatever was not asked for is refused at the end.
pub struct Reader<'a> {
    table: &'a Table,
    at: &'a At<'a>,
    known: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    /// Starts reading the table found at `at`.
    ///
    /// # Errors
    /// If the value is no table.
    pub fn new(value: &'a Value, at: &'a At<'a>) -> Result<Self, SpecError> {
        match value {
            Value::Table(table) => Ok(Self { table, at, known: Vec::new() }),
            other => Err(at.error(other, format!("is {}", other.type_name())).allowed("a table")),
        }
    }

    /// Marks a key as known without reading it.
    pub fn know(&mut self, key: &'static str) {
        self.known.push(key);
    }

    /// Reads a key whose absence means [`Spec::absent`].
    ///
    /// # Errors
    /// If the value is wrong, or missing and required.
    pub fn take<T: Spec>(&mut self, key: &'static str) -> Result<T, SpecError> {
        self.know(key);
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
        &mut self,
        key: &'static str,
        default: impl FnOnce() -> T,
    ) -> Result<T, SpecError> {
        self.know(key);
        let at = self.at.key(key);
        self.table.get(key).map_or_else(|| Ok(default()), |value| T::read(value, &at))
    }

    /// Refuses keys that were not asked for.
    ///
    /// # Errors
    /// For the first unknown key.
    pub fn finish(self) -> Result<(), SpecError> {
        for (key, value) in self.table.iter() {
            if !self.known.contains(&key) {
                let error = self.at.key(key).error(value, "unknown key");
                return Err(error.words(key, &self.known));
            }
        }
        Ok(())
    }
}
