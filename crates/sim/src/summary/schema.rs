//! The JSON Schema of `summary.json`, read off the structs of the summary: names, units, and meanings.
//!
//! `summary!` defines a struct and describes it from one text, as `spec!` does for scenarios. The unit of a number follows
//! from the end of its name ([`unit()`]), or stands in brackets after its type. `leobench.summary` in Python is generated from
//! this schema, and a test holds both together.

use leobench_base::spec::{Schema, SchemaMap, json};

use super::{ByCause, Summary};

/// The schemas of the structs by name, in the order in which they were met.
pub(super) type Definitions = SchemaMap<String, Schema>;

/// Units by the last word of a name.
const UNITS: [(&str, &str); 6] = [
    ("bps", "bit/s"),
    ("ms", "ms"),
    ("s", "s"),
    ("bytes", "bytes"),
    ("packets", "packets"),
    ("messages", "messages"),
];

impl Summary {
    /// The JSON Schema of a summary. Every number has a `unit`.
    pub fn schema() -> Schema {
        let mut definitions = Definitions::new();
        let root = <Self as Described>::schema(&mut definitions);
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "leobench summary",
            "$ref": root["$ref"],
            "$defs": definitions,
        })
    }
}

/// A value that a summary can have.
pub(super) trait Described {
    /// Its schema. Adds the structs that it consists of.
    fn schema(definitions: &mut Definitions) -> Schema;

    /// Its schema where a missing value is left out instead of being `null`.
    fn present(definitions: &mut Definitions) -> Schema {
        Self::schema(definitions)
    }

    /// Adds the members of a struct; other values have none.
    fn members(_: &mut Members, _: &mut Definitions) {}
}

/// The members of a struct.
#[derive(Default)]
pub(super) struct Members {
    properties: SchemaMap<String, Schema>,
    required: Vec<&'static str>,
}

impl Members {
    /// Adds a member. `rule` is its rule for serde, if it has one; `declared` is its declared unit.
    pub(super) fn add<T: Described>(
        &mut self,
        name: &'static str,
        doc: &str,
        rule: Option<&str>,
        declared: Option<&str>,
        definitions: &mut Definitions,
    ) {
        if rule == Some("flatten") {
            T::members(self, definitions);
            return;
        }
        let mut schema = match rule {
            Some(_) => T::present(definitions),
            None => T::schema(definitions),
        };
        if let Some(schema) = schema.as_object_mut() {
            if let Some(unit) = declared.or_else(|| unit(name)) {
                schema.insert("unit".into(), unit.into());
            }
            schema.insert("description".into(), text(doc).into());
        }
        self.properties.insert(name.into(), schema);
        if rule.is_none() {
            self.required.push(name);
        }
    }
}

/// The schema of a struct: a reference to its definition, which is added unless it is there.
pub(super) fn reference<T: Described>(
    name: &str,
    doc: &str,
    definitions: &mut Definitions,
) -> Schema {
    if !definitions.contains_key(name) {
        // The place of the definition: members come after what has them.
        definitions.insert(name.into(), Schema::Null);
        let mut members = Members::default();
        T::members(&mut members, definitions);
        definitions[name] = json!({
            "type": "object",
            "description": text(doc),
            "properties": members.properties,
            "required": members.required,
        });
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// The unit that the last word of a name stands for.
fn unit(name: &str) -> Option<&'static str> {
    let word = name.rsplit('_').next()?;
    UNITS.iter().find(|(end, _)| *end == word).map(|(_, unit)| *unit)
}

/// The text of a doc comment on one line.
fn text(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Described for f64 {
    fn schema(_: &mut Definitions) -> Schema {
        json!({ "type": "number" })
    }
}

impl Described for u64 {
    fn schema(_: &mut Definitions) -> Schema {
        json!({ "type": "integer", "minimum": 0 })
    }
}

impl Described for u32 {
    fn schema(definitions: &mut Definitions) -> Schema {
        u64::schema(definitions)
    }
}

impl Described for String {
    fn schema(_: &mut Definitions) -> Schema {
        json!({ "type": "string" })
    }
}

impl Described for ByCause {
    fn schema(definitions: &mut Definitions) -> Schema {
        json!({ "type": "object", "additionalProperties": u64::schema(definitions) })
    }
}

impl<T: Described> Described for Vec<T> {
    fn schema(definitions: &mut Definitions) -> Schema {
        json!({ "type": "array", "items": T::schema(definitions) })
    }
}

impl<T: Described> Described for Option<T> {
    fn schema(definitions: &mut Definitions) -> Schema {
        let schema = T::schema(definitions);
        json!({ "anyOf": [schema, { "type": "null" }] })
    }

    fn present(definitions: &mut Definitions) -> Schema {
        T::schema(definitions)
    }
}

/// Defines a struct of the summary, and its part of the schema. Serde's rule for a field, if any, is the only attribute
/// between its documentation and its name: `flatten`, or `skip_serializing_if`. A unit in brackets after the type is for
/// names that do not tell it.
macro_rules! summary {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:path),*)])?
        pub struct $name:ident $(<$of:ident>)? {
            $(
                $(#[doc = $field_doc:literal])*
                $(#[serde($rule:ident $(= $skip:literal)?)])?
                pub $field:ident : $type:ty $([$unit:literal])?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize $($(, $derive)*)?)]
        pub struct $name $(<$of>)? {
            $(
                $(#[doc = $field_doc])*
                $(#[serde($rule $(= $skip)?)])?
                pub $field: $type,
            )*
        }

        impl $(<$of: $crate::summary::schema::Described>)? $crate::summary::schema::Described for $name $(<$of>)? {
            fn schema(
                definitions: &mut $crate::summary::schema::Definitions,
            ) -> leobench_base::spec::Schema {
                let doc = concat!($($doc, "\n",)*);
                $crate::summary::schema::reference::<Self>(stringify!($name), doc, definitions)
            }

            fn members(
                members: &mut $crate::summary::schema::Members,
                definitions: &mut $crate::summary::schema::Definitions,
            ) {
                $(
                    members.add::<$type>(
                        stringify!($field),
                        concat!($($field_doc, "\n",)*),
                        summary!(@given $(stringify!($rule))?),
                        summary!(@given $($unit)?),
                        definitions,
                    );
                )*
            }
        }
    };
    (@given $value:expr) => { Some($value) };
    (@given) => { None };
}

#[cfg(test)]
mod tests {
    use super::{Schema, Summary, json};

    /// Numbers that measure nothing, and those whose unit is that of the key above them.
    const WITHOUT_UNIT: [&str; 5] =
        ["Summary.seed", "PathSummary.path", "HandoverSummary.path", "Spread.mean", "Spread.max"];

    /// Whether a schema is one of numbers, `null` aside.
    fn is_number(schema: &Schema) -> bool {
        let or_null = schema["anyOf"].as_array();
        let kind = or_null.map_or(schema, |choices| &choices[0]);
        kind["type"] == "number" || kind["type"] == "integer"
    }

    #[test]
    fn every_number_has_a_unit_and_every_member_a_meaning() {
        let schema = Summary::schema();
        let mut without = Vec::new();
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            for (key, member) in definition["properties"].as_object().unwrap() {
                let place = format!("{name}.{key}");
                assert!(
                    member["description"].as_str().is_some_and(|told| !told.is_empty()),
                    "{place}"
                );
                if is_number(member) && member["unit"].is_null() {
                    without.push(place);
                }
            }
        }
        without.sort();
        let mut expected = WITHOUT_UNIT.to_vec();
        expected.sort_unstable();
        assert_eq!(without, expected);
    }

    #[test]
    fn members_of_a_flattened_struct_are_its_owners_own() {
        let definitions = &Summary::schema()["$defs"];
        let spread = &definitions["HandoversSummary"]["properties"]["no_way_ms"];
        assert_eq!(spread["$ref"], "#/$defs/Spread");
        assert_eq!(spread["unit"], "ms");
        let one = &definitions["HandoverSummary"]["properties"]["no_way_ms"];
        assert_eq!(one["anyOf"], json!([{ "type": "number" }, { "type": "null" }]));
        assert!(definitions["Phases"].is_null());
    }

    #[test]
    fn a_key_that_may_be_left_out_is_not_required_and_never_null() {
        let flow = &Summary::schema()["$defs"]["FlowSummary"];
        let required = flow["required"].as_array().unwrap();
        assert!(required.contains(&json!("completion_s")) && !required.contains(&json!("lost")));
        assert_eq!(flow["properties"]["lost"]["$ref"], "#/$defs/LossSummary");
        assert_eq!(flow["properties"]["reinjected_bytes"]["type"], "integer");
    }
}
