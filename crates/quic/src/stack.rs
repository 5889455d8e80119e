//! The implementation of QUIC that a flow uses.

use leobench_base::spec::{At, Schema, Spec, SpecError, TableSpec, Value, json, with_kind};
use leobench_transport::library::LibrarySpec;
use leobench_transport::plugin::LIBRARY;

/// The implementation of QUIC.
#[derive(Clone, Debug, PartialEq)]
pub enum Stack {
    /// Leobench's own.
    Own,
    /// The crate `noq-proto`, the reference for leobench's own.
    Noq,
    /// A shared library.
    Library(LibrarySpec),
}

impl Stack {
    /// Those that are part of leobench.
    const WORDS: [&'static str; 2] = ["own", "noq"];
    /// All, for messages.
    const ALLOWED: &'static str = "`own`, `noq`, or a table with `library`";

    /// The library, if it is one.
    pub fn library(&self) -> Option<&LibrarySpec> {
        match self {
            Self::Library(library) => Some(library),
            Self::Own | Self::Noq => None,
        }
    }

    /// Its name in messages; that of its file if it is a library.
    pub fn name(&self) -> &str {
        match self {
            Self::Own => "own",
            Self::Noq => "noq",
            Self::Library(library) => library.name(),
        }
    }
}

impl Spec for Stack {
    fn schema() -> Schema {
        let mut library = LibrarySpec::schema();
        library["properties"]["kind"] = json!({"const": LIBRARY});
        library["examples"] = json!([LibrarySpec::example_table()]);
        json!({"title": Self::ALLOWED, "oneOf": [{"enum": Self::WORDS}, library]})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::String(word) if word == "own" => Ok(Self::Own),
            Value::String(word) if word == "noq" => Ok(Self::Noq),
            Value::String(_) => Err(at.error(value, "unknown word").allowed(Self::ALLOWED)),
            Value::Table(table) => {
                let mut rest = table.clone();
                if let Some(kind) = rest.remove("kind")
                    && kind != Value::String(LIBRARY.into())
                {
                    let error = at.key("kind").error(&kind, "unknown kind");
                    return Err(error.allowed(format!("`{LIBRARY}`")));
                }
                LibrarySpec::read(&Value::Table(rest), at).map(Self::Library)
            }
            other => {
                let error = at.error(other, format!("is {}", other.type_name()));
                Err(error.allowed(Self::ALLOWED))
            }
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Own => Value::String("own".into()),
            Self::Noq => Value::String("noq".into()),
            Self::Library(library) => match library.write() {
                Value::Table(table) => Value::Table(with_kind(LIBRARY, table)),
                other => other,
            },
        }
    }
}
