//! Bounds of fields: a field of a specification gives one in brackets after its type.

use std::cmp::Ordering;

use super::error::{At, SpecError};
use super::value::Value;
use super::{Range, Schema, Spec, json};
use crate::SimDuration;

/// A limit on a field beyond its type.
pub trait Bound {
    /// Adds the bound to the schema of the field.
    fn describe(&self, schema: &mut Schema);

    /// Refuses a field, found at `at`, that is out of bounds.
    ///
    /// # Errors
    /// If it is.
    fn check(&self, field: &impl Spec, at: &At<'_>) -> Result<(), SpecError>;
}

/// Quantities up to this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpTo<T>(pub T);

impl UpTo<SimDuration> {
    /// Delays and times of reaction of a network: light needs 23 minutes to Mars where it is farthest.
    pub const DELAY: Self = Self(SimDuration::from_secs(3_600));
}

impl<T: Spec + PartialOrd> UpTo<T> {
    fn allowed(&self, of_all: &str) -> String {
        let most = match self.0.write() {
            Value::String(text) => text,
            other => other.to_string(),
        };
        if of_all.is_empty() {
            format!("at most {most}")
        } else {
            format!("{of_all}; at most {most}")
        }
    }
}

impl<T: Spec + PartialOrd> Bound for UpTo<T> {
    fn describe(&self, schema: &mut Schema) {
        let title = schema["title"].as_str().unwrap_or_default();
        schema["title"] = json!(self.allowed(title));
    }

    fn check(&self, field: &impl Spec, at: &At<'_>) -> Result<(), SpecError> {
        let value = field.write();
        // A field without a value is written as none of this type.
        match T::read(&value, at) {
            Ok(read) if read.partial_cmp(&self.0).is_none_or(Ordering::is_gt) => {
                Err(at.error(&value, "is too large").allowed(self.allowed("")))
            }
            _ => Ok(()),
        }
    }
}

impl Bound for Range {
    fn describe(&self, schema: &mut Schema) {
        Range::describe(self, schema);
    }

    fn check(&self, field: &impl Spec, at: &At<'_>) -> Result<(), SpecError> {
        Range::check(self, field, at)
    }
}
