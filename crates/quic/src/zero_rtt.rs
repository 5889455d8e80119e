//! The use of 0-RTT data by a flow.

use leobench_base::spec::{At, Schema, Spec, SpecError, Value, json};

/// Whether a client sends data with its first packets, and what the server makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRtt {
    /// It does not.
    Unused,
    /// It does, and the server accepts it.
    Accepted,
    /// It does, and the server rejects it: the client sends it again after the handshake.
    Rejected,
}

impl ZeroRtt {
    const REJECTED: &'static str = "rejected";
    /// All, for messages.
    const ALLOWED: &'static str = "`true`, `false` or `\"rejected\"`";
}

impl Spec for ZeroRtt {
    fn schema() -> Schema {
        json!({"title": Self::ALLOWED, "oneOf": [{"type": "boolean"}, {"enum": [Self::REJECTED]}]})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Bool(true) => Ok(Self::Accepted),
            Value::Bool(false) => Ok(Self::Unused),
            Value::String(word) if word == Self::REJECTED => Ok(Self::Rejected),
            Value::String(_) => Err(at.error(value, "unknown word").allowed(Self::ALLOWED)),
            other => {
                let error = at.error(other, format!("is {}", other.type_name()));
                Err(error.allowed(Self::ALLOWED))
            }
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Unused => Value::Bool(false),
            Self::Accepted => Value::Bool(true),
            Self::Rejected => Value::String(Self::REJECTED.into()),
        }
    }
}
