//! The simple values: booleans, numbers, strings, lists, optional values, tables of named values.

use super::error::{At, SpecError};
use super::value::{Table, Value};
use super::{Schema, Spec, json};

impl Spec for bool {
    fn schema() -> Schema {
        json!({"type": "boolean"})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Bool(value) => Ok(*value),
            other => Err(at
                .error(other, format!("is {}, not a boolean", other.type_name()))
                .allowed("true, false")),
        }
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Spec for f64 {
    fn schema() -> Schema {
        json!({"type": "number"})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Integer(value) => Ok(*value as f64),
            Value::Float(value) if value.is_finite() => Ok(*value),
            Value::Float(_) => Err(at.error(value, "is not finite").allowed("a finite number")),
            other => Err(at
                .error(other, format!("is {}, not a number", other.type_name()))
                .allowed("a number")),
        }
    }

    fn write(&self) -> Value {
        Value::Float(*self)
    }
}

/// The largest number of a type that fits the signed 64-bit integers of a file (TOML 1.0).
macro_rules! largest {
    ($type:ty) => {
        i64::try_from(<$type>::MAX).unwrap_or(i64::MAX)
    };
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Spec for $type {
            fn schema() -> Schema {
                json!({"type": "integer", "minimum": <$type>::MIN, "maximum": largest!($type)})
            }

            fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
                let read = match value {
                    Value::Integer(value) => <$type>::try_from(*value).ok(),
                    _ => None,
                };
                let allowed = || format!("a whole number from {} to {}", <$type>::MIN, largest!($type));
                read.ok_or_else(|| at.error(value, "is no such number").allowed(allowed()))
            }

            fn write(&self) -> Value {
                Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

integer!(u16, u32, u64, i32, i64, usize);

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const LEAST: u32, const MOST: u32>(u32);

impl<const LEAST: u32, const MOST: u32> Whole<LEAST, MOST> {
    /// The number, if it is in range.
    pub const fn new(number: u32) -> Option<Self> {
        if LEAST <= number && number <= MOST { Some(Self(number)) } else { None }
    }

    /// The nearest number in range.
    pub fn nearest(number: u32) -> Self {
        Self(number.clamp(LEAST, MOST))
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const LEAST: u32, const MOST: u32> Spec for Whole<LEAST, MOST> {
    fn schema() -> Schema {
        json!({"type": "integer", "minimum": LEAST, "maximum": MOST})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let number = u32::read(value, at).ok().and_then(Self::new);
        let allowed = || format!("a whole number from {LEAST} to {MOST}");
        number.ok_or_else(|| at.error(value, "is no such number").allowed(allowed()))
    }

    fn write(&self) -> Value {
        Value::Integer(self.0.into())
    }
}

impl Spec for String {
    fn schema() -> Schema {
        json!({"type": "string"})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::String(value) => Ok(value.clone()),
            other => Err(at
                .error(other, format!("is {}, not a string", other.type_name()))
                .allowed("a string")),
        }
    }

    fn write(&self) -> Value {
        Value::String(self.clone())
    }
}

impl<T: Spec> Spec for Option<T> {
    fn schema() -> Schema {
        T::schema()
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        T::read(value, at).map(Some)
    }

    fn write(&self) -> Value {
        self.as_ref().map_or_else(|| Value::Table(Table::new()), Spec::write)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Spec> Spec for Vec<T> {
    fn schema() -> Schema {
        json!({"type": "array", "items": T::schema()})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Array(values) => values
                .iter()
                .enumerate()
                .map(|(index, value)| T::read(value, &at.index(index)))
                .collect(),
            other => Err(at
                .error(other, format!("is {}, not an array", other.type_name()))
                .allowed("an array")),
        }
    }

    fn write(&self) -> Value {
        Value::Array(self.iter().map(Spec::write).collect())
    }
}

impl<T: Spec, const N: usize> Spec for [T; N] {
    fn schema() -> Schema {
        json!({"type": "array", "items": T::schema(), "minItems": N, "maxItems": N})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let items = Vec::<T>::read(value, at)?;
        let found = items.len();
        items.try_into().map_err(|_| {
            at.error(value, format!("has {found} values"))
                .allowed(format!("an array of {N} values"))
        })
    }

    fn write(&self) -> Value {
        Value::Array(self.iter().map(Spec::write).collect())
    }
}

/// Named values in the order of the file.
impl<T: Spec> Spec for Vec<(String, T)> {
    fn schema() -> Schema {
        json!({"type": "object", "additionalProperties": T::schema()})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Table(table) => table
                .iter()
                .map(|(key, value)| Ok((key.to_owned(), T::read(value, &at.key(key))?)))
                .collect(),
            other => Err(at
                .error(other, format!("is {}, not a table", other.type_name()))
                .allowed("a table of named tables")),
        }
    }

    fn write(&self) -> Value {
        let mut table = Table::new();
        for (key, value) in self {
            table.insert(key, value.write());
        }
        Value::Table(table)
    }
}

/// Any values under any names: parameters that leobench passes on without interpretation.
impl Spec for Table {
    fn schema() -> Schema {
        json!({"type": "object"})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Table(table) => Ok(table.clone()),
            other => Err(at
                .error(other, format!("is {}, not a table", other.type_name()))
                .allowed("a table")),
        }
    }

    fn write(&self) -> Value {
        Value::Table(self.clone())
    }
}

macro_rules! bounded_number {
    ($(#[$doc:meta])* $name:ident, $holds:expr, $allowed:literal, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// The number, if it is in range.
            pub fn new(value: f64) -> Option<Self> {
                let holds: fn(f64) -> bool = $holds;
                holds(value).then_some(Self(value))
            }

            /// The number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl Spec for $name {
            fn schema() -> Schema {
                $schema
            }

            fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
                let number = f64::read(value, at).map_err(|error| error.allowed($allowed))?;
                Self::new(number).ok_or_else(|| at.error(value, "is out of range").allowed($allowed))
            }

            fn write(&self) -> Value {
                Value::Float(self.0)
            }
        }
    };
}

bounded_number!(
    /// A probability.
    Probability,
    |value| (0.0..=1.0).contains(&value),
    "a number from 0 to 1",
    json!({"type": "number", "minimum": 0, "maximum": 1})
);

bounded_number!(
    /// A factor or weight above zero.
    Weight,
    |value| value > 0.0 && value.is_finite(),
    "a number above 0",
    json!({"type": "number", "exclusiveMinimum": 0})
);

impl Probability {
    /// Never happens.
    pub const NEVER: Self = Self(0.0);
    /// Always happens.
    pub const ALWAYS: Self = Self(1.0);
}
