//! Kinds of tables, each told by the key `kind` or by a key named after it.

use super::Schema;
use super::value::{Table, Value};

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
