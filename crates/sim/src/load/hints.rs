//! Hints for keys and classes that a scenario may have, but not where the file has them.

use std::sync::LazyLock;

use leobench_base::spec::{Limit, Schema, Spec, SpecError, Value, json};
use leobench_transport::plugin;

use super::overrides::{child, steps};
use crate::scenario::ScenarioSpec;

/// Keys of tables that have little in common.
const ORDINARY: [&str; 2] = ["kind", "name"];

/// The queue of satellites, whose limit may not depend on the rate of a link of its own.
const OF_SATELLITES: &str = "constellation.satellite.queue";

/// The schema of scenarios. Building it takes some 40 ms, and a campaign loads hundreds of variants.
static SCHEMA: LazyLock<Schema> = LazyLock::new(ScenarioSpec::schema);

/// The error about a file, with a hint at where it could have said the same.
pub(super) fn added(mut error: SpecError, tree: &Value) -> SpecError {
    if error.place.starts_with(OF_SATELLITES) && error.allowed.as_deref() == Some(Limit::ALLOWED) {
        error.allowed = Some(Limit::OF_SATELLITES.to_owned());
        return error;
    }
    let Some(steps) = steps(&error.place) else { return error };
    let [tables @ .., key] = &steps[..] else { return error };
    if *key == "kind"
        && let Some(class) = tables.iter().try_fold(tree, |here, step| child(here, step))
        && child(class, plugin::KEY).is_some()
    {
        return without_classes(error, class);
    }
    if error.problem != SpecError::UNKNOWN_KEY {
        return error;
    }
    match misplaced(&steps, error.nearest.as_deref(), tree) {
        Some(place) if place == *key => SpecError {
            problem: format!(
                "unknown key here; `{place}` belongs above the first table of the file"
            ),
            nearest: None,
            ..error
        },
        found => SpecError { nearest: found.or(error.nearest), ..error },
    }
}

/// The error about an override, with a hint at where the scenario could have what it should replace.
pub(super) fn absent(error: SpecError, tree: &Value) -> SpecError {
    let Some(steps) = steps(&error.place).filter(|_| error.nearest.is_none()) else { return error };
    let mut place = Place::root(tree);
    let missing = steps.iter().position(|step| {
        place = place.child(step);
        place.value.is_none()
    });
    let Some(depth) = missing else { return error };
    if !place.schemas.is_empty() {
        return error;
    }
    let (known, rest) = steps.split_at(depth + 1);
    let found = misplaced(known, None, tree);
    let nearest =
        found.map(|found| rest.iter().fold(found, |place, step| format!("{place}.{step}")));
    SpecError { nearest, ..error }
}

/// The first of `steps` that the scenario is without, if it and all that follow it but the last are tables that it could have.
pub(super) fn absent_tables(steps: &[&str], tree: &Value) -> Option<usize> {
    let [tables @ .., _] = steps else { return None };
    if tables.iter().try_fold(tree, |here, step| child(here, step)).is_some() {
        return None;
    }
    let mut place = Place::root(tree);
    let mut first = None;
    for (depth, step) in tables.iter().enumerate() {
        let is_optional = place.has_optional(step);
        place = place.child(step);
        if place.value.is_none() {
            first.get_or_insert(depth);
            let is_table = place.schemas.iter().any(|schema| schema["properties"].is_object());
            if !is_optional || !is_table {
                return None;
            }
        }
    }
    first
}

/// The place of the key that `steps` end in, if the scenario has none here but one near. A key that is spelt like
/// `nearest` in the same table is preferred to those of tables around it.
fn misplaced(steps: &[&str], nearest: Option<&str>, tree: &Value) -> Option<String> {
    let [tables @ .., key] = steps else { return None };
    let mut around = vec![Place::root(tree)];
    for step in tables {
        around.push(around.last()?.child(step));
    }
    let path = |depth: usize, rest: &[&str]| [&steps[..depth], rest].concat().join(".");
    let (here, depth) = (around.pop()?, tables.len());
    let below = |is_given| here.table_with(key, is_given).map(|table| path(depth, &[table, key]));
    if let Some(found) = below(true) {
        return Some(found);
    }
    if nearest.is_some() || ORDINARY.contains(key) {
        return None;
    }
    let above = around.iter().rposition(|place| place.has(key));
    let beside = || {
        let table = around.last()?.table_with(key, true)?;
        Some(path(depth - 1, &[table, key]))
    };
    above.map(|above| path(above, &[key])).or_else(|| below(false)).or_else(beside)
}

/// The error about a Python class where none may be.
fn without_classes(error: SpecError, class: &Value) -> SpecError {
    let mut places = Vec::new();
    class_places(&SCHEMA, "", &mut places);
    let words = error.allowed.unwrap_or_default();
    SpecError {
        place: error.place.trim_end_matches(".kind").to_owned(),
        value: Some(class.to_string()),
        problem: "is a Python class, which is not allowed here".into(),
        allowed: Some(format!("{words}; Python classes are allowed only as {}", places.join(", "))),
        nearest: None,
    }
}

/// The places at which a scenario may name a Python class.
fn class_places(schema: &Schema, place: &str, places: &mut Vec<String>) {
    let below =
        |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    for option in options(schema, None) {
        if option["properties"]["kind"]["const"] == plugin::KEY {
            // TCP and QUIC have the same keys.
            let named = format!("`{place}`");
            if !places.contains(&named) {
                places.push(named);
            }
            continue;
        }
        for (key, schema) in option["properties"].as_object().into_iter().flatten() {
            class_places(schema, &below(key), places);
        }
        for (key, step) in [("additionalProperties", "NAME"), ("items", "NUMBER")] {
            if option[key].is_object() {
                class_places(&option[key], &below(step), places);
            }
        }
    }
}

/// A place in a scenario: what may be there, and what is.
struct Place<'a> {
    schemas: Vec<&'a Schema>,
    value: Option<&'a Value>,
}

impl<'a> Place<'a> {
    /// The whole scenario.
    fn root(tree: &'a Value) -> Self {
        Self { schemas: options(&SCHEMA, Some(tree)), value: Some(tree) }
    }

    fn child(&self, step: &str) -> Self {
        let value = self.value.and_then(|value| child(value, step));
        let found = self.schemas.iter().filter_map(|schema| {
            let named = ["additionalProperties", "items"].map(|key| schema.get(key));
            let any = named.into_iter().flatten().find(|schema| schema.is_object());
            schema["properties"].get(step).or(any)
        });
        Self { schemas: found.flat_map(|schema| options(schema, value)).collect(), value }
    }

    fn has(&self, key: &str) -> bool {
        self.schemas.iter().any(|schema| schema["properties"].get(key).is_some())
    }

    /// Whether a table here may have `key`, and is without it unless it is given.
    fn has_optional(&self, key: &str) -> bool {
        let mut found = self.schemas.iter().filter_map(|schema| schema["properties"].get(key));
        found.any(|schema| schema.get("default").is_none_or(|default| *default == json!({})))
    }

    /// The first table here that may have `key`, of all or of those that the file gives.
    fn table_with(&self, key: &str, is_given: bool) -> Option<&'a str> {
        let mut names =
            self.schemas.iter().filter_map(|schema| schema["properties"].as_object()).flatten();
        let found = names.find(|(name, _)| {
            let place = self.child(name);
            (!is_given || place.value.is_some()) && place.has(key)
        });
        found.map(|(name, _)| name.as_str())
    }
}

/// The schemas that a value may follow: its own, or those of its kinds, of which the value may have named one.
fn options<'s>(schema: &'s Schema, value: Option<&Value>) -> Vec<&'s Schema> {
    let Some(kinds) = schema["oneOf"].as_array() else { return vec![schema] };
    let kind = match value {
        Some(Value::String(word)) => Some(word),
        Some(Value::Table(table)) => match table.get("kind") {
            Some(Value::String(word)) => Some(word),
            _ => None,
        },
        _ => None,
    };
    let is_meant =
        |option: &&Schema| kind.is_none_or(|kind| option["properties"]["kind"]["const"] == **kind);
    kinds.iter().filter(is_meant).collect()
}
