//! The three macros that define specifications.

/// Defines a table of a scenario: a struct whose fields are its keys, documented for the schema by their doc
/// comments. `= expression` gives a default; a field without one is required, unless it is an `Option`. A
/// [`Bound`](crate::spec::Bound) in brackets after the type is what the value may be.
///
/// Between the name and the fields may stand, in this order:
/// - `: Default`, for a table none of whose keys is required, to implement `Default` from the defaults of its fields;
/// - `example = "{...}"`, the shortest table a user would write, as JSON ([`TableSpec::EXAMPLE`](crate::spec::TableSpec));
/// - `check = function` (`fn(&Self) -> Result<(), Fault>`), run on what was read.
///
/// A first field `..pub name: Type` takes in the keys of another table, as if they were written here.
#[macro_export]
macro_rules! spec {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:path),*)])?
        $visibility:vis struct $name:ident $(: $default_trait:ident)? $(example = $example:literal)?
            $(check = $check:path)?
        {
            $( ..pub $base:ident : $base_type:ty, )?
            $( $(#[doc = $field_doc:literal])* pub $field:ident : $type:ty $([$range:expr])? $(= $default:expr)? ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq $($(, $derive)*)?)]
        $visibility struct $name {
            $( #[doc = "The keys it has in common with others."] pub $base: $base_type, )?
            $( $(#[doc = $field_doc])* pub $field: $type, )*
        }

        impl $crate::spec::Spec for $name {
            fn schema() -> $crate::spec::Schema {
                let (mut properties, mut required) = ($crate::spec::SchemaMap::new(), Vec::new());
                <Self as $crate::spec::TableSpec>::describe(&mut properties, &mut required);
                $crate::spec::json!({
                    "type": "object",
                    "description": concat!($($doc, "\n",)*).trim().replace("\n ", "\n"),
                    "properties": properties,
                    "required": required,
                    "additionalProperties": false,
                })
            }

            fn read(
                value: &$crate::spec::Value,
                at: &$crate::spec::At<'_>,
            ) -> Result<Self, $crate::spec::SpecError> {
                let keys = <Self as $crate::spec::TableSpec>::keys();
                let reader = $crate::spec::Reader::new(value, at, &keys)?;
                let read = <Self as $crate::spec::TableSpec>::take(&reader)?;
                $crate::spec::TableSpec::check_table(&read).map_err(|fault| fault.at(value, at))?;
                Ok(read)
            }

            fn write(&self) -> $crate::spec::Value {
                let mut table = $crate::spec::Table::new();
                $crate::spec::TableSpec::put(self, &mut table);
                $crate::spec::Value::Table(table)
            }
        }

        impl $crate::spec::TableSpec for $name {
            const SUMMARY: &'static str = $crate::spec!(@first $($doc),*);
            const EXAMPLE: &'static str = $crate::spec!(@example $($example)?);

            fn keys() -> Vec<&'static str> {
                #[allow(unused_mut)]
                let mut keys: Vec<&'static str> = vec![$(stringify!($field)),*];
                $( keys.splice(0..0, <$base_type as $crate::spec::TableSpec>::keys()); )?
                keys
            }

            #[allow(unused_variables)]
            fn describe(
                properties: &mut $crate::spec::SchemaMap<String, $crate::spec::Schema>,
                required: &mut Vec<&'static str>,
            ) {
                $( <$base_type as $crate::spec::TableSpec>::describe(properties, required); )?
                $(
                    let mut schema = <$type as $crate::spec::Spec>::schema();
                    $( $crate::spec::Bound::describe(&$range, &mut schema); )?
                    let description = concat!($($field_doc, "\n",)*).trim().replace("\n ", "\n");
                    if !description.is_empty() && let Some(schema) = schema.as_object_mut() {
                        schema.insert("description".into(), description.into());
                    }
                    $crate::spec!(@default schema, $type $(, $default)?);
                    $crate::spec!(@required $type, required, stringify!($field) $(, $default)?);
                    properties.insert(stringify!($field).into(), schema);
                )*
            }

            #[allow(unused_variables)]
            fn take(reader: &$crate::spec::Reader<'_>) -> Result<Self, $crate::spec::SpecError> {
                let read = Self {
                    $( $base: <$base_type as $crate::spec::TableSpec>::take(reader)?, )?
                    $( $field: $crate::spec!(@take reader, stringify!($field), $type $(, $default)?), )*
                };
                $( $( reader.check(stringify!($field), &read.$field, &$range)?; )? )*
                Ok(read)
            }

            #[allow(unused_variables)]
            fn put(&self, table: &mut $crate::spec::Table) {
                $( $crate::spec::TableSpec::put(&self.$base, table); )?
                $(
                    if !$crate::spec::Spec::is_absent(&self.$field) {
                        table.insert(stringify!($field), $crate::spec::Spec::write(&self.$field));
                    }
                )*
            }

            fn check_table(&self) -> Result<(), $crate::spec::Fault> {
                $(
                    let check: fn(&Self) -> Result<(), $crate::spec::Fault> = $check;
                    check(self)?;
                )?
                $( $crate::spec::TableSpec::check_table(&self.$base)?; )?
                Ok(())
            }
        }

        $crate::spec!(@implement [$($default_trait)?] $name {
            $( $base: <$base_type as Default>::default(), )?
            $( $field: $crate::spec!(@value $type $(, $default)?), )*
        });
    };
    (@implement [] $name:ident $fields:tt) => {};
    (@implement [Default] $name:ident { $($field:ident : $value:expr,)* }) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $value),* }
            }
        }
    };
    (@value $type:ty, $default:expr) => { $default };
    (@value $type:ty) => { <$type as $crate::spec::Optional>::ABSENT };
    (@example $example:literal) => { $example };
    (@example) => { "{}" };
    (@first $first:literal $(, $rest:literal)*) => { $first };
    (@first) => { "" };
    (@take $reader:ident, $key:expr, $type:ty, $default:expr) => {
        $reader.take_or::<$type>($key, || $default)?
    };
    (@take $reader:ident, $key:expr, $type:ty) => { $reader.take::<$type>($key)? };
    (@default $schema:ident, $type:ty, $default:expr) => {
        let default: $type = $default;
        $schema["default"] = $crate::spec::json!($crate::spec::Spec::write(&default));
    };
    (@default $schema:ident, $type:ty) => {};
    (@required $type:ty, $required:ident, $key:expr, $default:expr) => {};
    (@required $type:ty, $required:ident, $key:expr) => {
        if <$type as $crate::spec::Spec>::absent().is_none() {
            $required.push($key);
        }
    };
}

/// Defines a choice of words: `words! { /// doc pub enum Until { /// doc Time = "time" } }`.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident { $( $(#[doc = $word_doc:literal])* $variant:ident = $word:literal ),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[doc = $word_doc])* $variant, )* }

        impl $name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word that names this.
            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
            }

            /// Each word and the first line of its documentation.
            pub fn summaries() -> Vec<(&'static str, &'static str)> {
                vec![$( ($word, $crate::spec!(@first $($word_doc),*).trim_ascii()) ),*]
            }
        }

        impl $crate::spec::Spec for $name {
            fn schema() -> $crate::spec::Schema {
                $crate::spec::json!({"enum": Self::WORDS})
            }

            fn read(
                value: &$crate::spec::Value,
                at: &$crate::spec::At<'_>,
            ) -> Result<Self, $crate::spec::SpecError> {
                let word = <String as $crate::spec::Spec>::read(value, at)
                    .map_err(|error| error.words("", Self::WORDS))?;
                match word.as_str() {
                    $( $word => Ok(Self::$variant), )*
                    other => Err(at
                        .error(value, "unknown word")
                        .words(other, Self::WORDS)
                        .or_longer(other, Self::WORDS)),
                }
            }

            fn write(&self) -> $crate::spec::Value {
                $crate::spec::Value::String(self.word().into())
            }
        }
    };
}

/// Defines a registry: a table whose `kind` picks one of several specifications, or the bare word of a kind that
/// needs no parameters. A table with the required key that its kind is named after goes without `kind`: `{python = "m:C"}` is
/// of the kind `python`. Every inner specification implements the trait behind `as dyn`, through which it is built.
///
/// A line `Variant(mod file::Spec) = "name"` declares the module of a model (`mod` or `pub mod`; none for a path that is
/// there already), gives it its name in scenarios, in `leobench list` and in the schema, and enrols it (by
/// [`TableSpec::EXAMPLE`](crate::spec::TableSpec)) in the conformance tests of its kind.
///
/// A block `refuses { "name" = "reason" }` after the enum gives names that a user may expect, each with the reason why there
/// is no such model. An error and `leobench list` tell it.
#[macro_export]
macro_rules! kinds {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident as dyn $trait:path {
            $( $variant:ident($($inner:tt)+) = $word:literal ),* $(,)?
        }
        $( refuses { $( $refused:literal = $reason:literal ),* $(,)? } )?
    ) => {
        $( $crate::kinds!(@module $($inner)+); )*

        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name { $(
            #[doc = concat!("`", $word, "`")]
            $variant($crate::kinds!(@type $($inner)+)),
        )* }

        impl $name {
            /// The names of all kinds, in order.
            pub const KINDS: &'static [&'static str] = &[$($word),*];

            /// Names that are refused, each with the reason.
            pub const REFUSED: &'static [(&'static str, &'static str)] = &[$( $( ($refused, $reason) ),* )?];

            /// The name of this kind.
            pub const fn kind(&self) -> &'static str {
                match self { $( Self::$variant(_) => $word, )* }
            }

            /// Each kind's name and the first line of its documentation.
            pub fn summaries() -> Vec<(&'static str, &'static str)> {
                vec![$( ($word, <$crate::kinds!(@type $($inner)+) as $crate::spec::TableSpec>::SUMMARY.trim_ascii()) ),*]
            }

            /// One ordinary instance of every kind, for conformance tests: its example, read as a scenario is.
            pub fn examples() -> Vec<Self> {
                vec![$( Self::$variant(<$crate::kinds!(@type $($inner)+) as $crate::spec::TableSpec>::example()) ),*]
            }

            /// The specification as its trait, through which models are built.
            pub fn model(&self) -> &dyn $trait {
                match self { $( Self::$variant(inner) => inner, )* }
            }
        }

        impl $crate::spec::Spec for $name {
            fn schema() -> $crate::spec::Schema {
                let mut options: Vec<$crate::spec::Schema> = Vec::new();
                $(
                    let mut schema = <$crate::kinds!(@type $($inner)+) as $crate::spec::Spec>::schema();
                    schema["properties"]["kind"] = $crate::spec::json!({"const": $word});
                    schema["examples"] = $crate::spec::json!([$crate::spec::with_kind(
                        $word, <$crate::kinds!(@type $($inner)+) as $crate::spec::TableSpec>::example_table(),
                    )]);
                    if schema["required"].as_array().is_some_and(Vec::is_empty) {
                        options.push($crate::spec::json!({"const": $word}));
                    }
                    if let Some(required) = schema["required"].as_array_mut()
                        && !required.contains(&$word.into())
                    {
                        required.insert(0, "kind".into());
                    }
                    options.push(schema);
                )*
                $crate::spec::json!({"oneOf": options})
            }

            fn read(
                value: &$crate::spec::Value,
                at: &$crate::spec::At<'_>,
            ) -> Result<Self, $crate::spec::SpecError> {
                let (kind, rest) = match value {
                    $crate::spec::Value::String(word) => ($crate::spec::Value::String(word.clone()), $crate::spec::Table::new()),
                    $crate::spec::Value::Table(table) => {
                        let mut rest = table.clone();
                        let named = || $crate::spec::named_kind(
                            table, &[$( ($word, <$crate::kinds!(@type $($inner)+) as $crate::spec::Spec>::schema) ),*],
                        );
                        let kind = rest.remove("kind").or_else(named).ok_or_else(|| {
                            at.key("kind").missing("is required but missing").words("", Self::KINDS)
                        })?;
                        (kind, rest)
                    }
                    other => {
                        let error = at.error(other, format!("is {}", other.type_name()));
                        return Err(error.allowed(format!(
                            "a table with `kind`, or one of the words {}",
                            Self::KINDS.join(", ")
                        )));
                    }
                };
                let word = <String as $crate::spec::Spec>::read(&kind, &at.key("kind"))
                    .map_err(|error| error.words("", Self::KINDS))?;
                let rest = $crate::spec::Value::Table(rest);
                match word.as_str() {
                    $( $word => <$crate::kinds!(@type $($inner)+) as $crate::spec::Spec>::read(&rest, at).map(Self::$variant), )*
                    other => {
                        let place = at.key("kind");
                        let place = if matches!(value, $crate::spec::Value::String(_)) { at } else { &place };
                        let refused = Self::REFUSED.iter().find(|(name, _)| name.eq_ignore_ascii_case(other));
                        Err(match refused {
                            Some((_, reason)) => place.error(&kind, *reason).words("", Self::KINDS),
                            None => place.error(&kind, "unknown kind").words(other, Self::KINDS),
                        })
                    }
                }
            }

            fn write(&self) -> $crate::spec::Value {
                let inner = match self { $( Self::$variant(inner) => $crate::spec::Spec::write(inner), )* };
                let inner = if let $crate::spec::Value::Table(inner) = inner { inner } else { $crate::spec::Table::new() };
                $crate::spec::Value::Table($crate::spec::with_kind(self.kind(), inner))
            }
        }
    };
    (@module $visibility:vis mod $module:ident :: $spec:ident) => { $visibility mod $module; };
    (@module $inner:path) => {};
    (@type $visibility:vis mod $module:ident :: $spec:ident) => { $module::$spec };
    (@type $inner:path) => { $inner };
}
