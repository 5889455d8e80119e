//! The simple values: booleans, numbers, strings, lists, optional values, tables of named values.

use std::fmt;

use super::error::{At, SpecError};
use super::value::{Table, Value};
use super::{Schema, Spec, json, name};

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
                read.ok_or_else(|| not_whole(value, at).allowed(allowed()))
            }

            fn write(&self) -> Value {
                Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

integer!(u16, u32, u64, i32, i64, usize);

/// The error of a value that is no whole number, or is out of range.
fn not_whole(value: &Value, at: &At<'_>) -> SpecError {
    match value {
        Value::Integer(_) | Value::Float(_) => at.error(value, "is not a valid number"),
        other => at.error(other, format!("is {}, not a number", other.type_name())),
    }
}

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
        number.ok_or_else(|| not_whole(value, at).allowed(allowed()))
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

/// Named values in the order of the file. A key is a [`NAME`](super::NAME).
impl<T: Spec> Spec for Vec<(String, T)> {
    fn schema() -> Schema {
        json!({"type": "object", "additionalProperties": T::schema()})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::Table(table) => table
                .iter()
                .map(|(key, value)| {
                    let at = at.key(key);
                    name::check(key, value, &at)?;
                    Ok((key.to_owned(), T::read(value, &at)?))
                })
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

/// The numbers that a field may have; a field of a specification gives it in brackets after its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    least: f64,
    least_allowed: bool,
    most: f64,
    most_allowed: bool,
}

impl Range {
    /// Above 0 and below 1.
    pub const FACTOR: Self = Self::above(0.0).below(1.0);

    /// Numbers above `least`.
    pub const fn above(least: f64) -> Self {
        Self { least, least_allowed: false, most: f64::INFINITY, most_allowed: false }
    }

    /// Numbers from `least`.
    pub const fn from(least: f64) -> Self {
        Self { least_allowed: true, ..Self::above(least) }
    }

    /// Those of these numbers that are below `most`.
    #[must_use]
    pub const fn below(self, most: f64) -> Self {
        Self { most, ..self }
    }

    /// Those of these numbers that are at most `most`.
    #[must_use]
    pub const fn to(self, most: f64) -> Self {
        Self { most, most_allowed: true, ..self }
    }

    fn holds(&self, number: f64) -> bool {
        let above = if self.least_allowed { number >= self.least } else { number > self.least };
        let below = if self.most_allowed { number <= self.most } else { number < self.most };
        above && below
    }

    /// Adds the range to the schema of a number.
    pub fn describe(&self, schema: &mut Schema) {
        let low = if self.least_allowed { "minimum" } else { "exclusiveMinimum" };
        let high = if self.most_allowed { "maximum" } else { "exclusiveMaximum" };
        let both = [(low, self.least), (high, self.most)];
        let Some(schema) = schema.as_object_mut() else { return };
        for name in ["minimum", "maximum"] {
            schema.remove(name);
        }
        for (name, bound) in both.into_iter().filter(|(_, bound)| bound.is_finite()) {
            // Whole bounds without a fraction: those of whole numbers are whole.
            let whole = bound.fract() == 0.0 && bound.abs() < 9e15;
            schema.insert(name.into(), if whole { json!(bound as i64) } else { json!(bound) });
        }
    }

    /// Refuses a field's value, found at `at`, that is not in the range.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self, field: &impl Spec, at: &At<'_>) -> Result<(), SpecError> {
        let value = field.write();
        let (number, what) = match value {
            Value::Integer(number) => (number as f64, "whole number"),
            Value::Float(number) => (number, "number"),
            _ => return Ok(()),
        };
        if self.holds(number) {
            return Ok(());
        }
        Err(at.error(&value, "is out of range").allowed(format!("a {what} {self}")))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.least_allowed { "from" } else { "above" }, self.least)?;
        match (self.most.is_finite(), self.most_allowed, self.least_allowed) {
            (false, ..) => Ok(()),
            (_, false, _) => write!(f, " and below {}", self.most),
            (_, true, true) => write!(f, " to {}", self.most),
            (_, true, false) => write!(f, " up to {}", self.most),
        }
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
    /// A factor or weight above zero. The largest is ours: sums and products of some thousand weights stay exact enough.
    Weight,
    |value| value > 0.0 && value <= 1e9,
    "a number above 0 up to 1000000000",
    json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000})
);

impl Probability {
    /// Never happens.
    pub const NEVER: Self = Self(0.0);
    /// Always happens.
    pub const ALWAYS: Self = Self(1.0);
}

/// A factor above zero: a number, or the ratio of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Ratio(Weight);

const RATIO_EXAMPLES: &str = r#"a number above 0, or a ratio of two such as "20/150""#;

impl Ratio {
    /// The factor.
    pub const fn get(self) -> f64 {
        self.0.get()
    }

    fn parse(text: &str) -> Option<Self> {
        let (above, below) = text.split_once('/')?;
        let [above, below] = [above, below].map(|number| {
            let digits = number.trim();
            let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
            is_plain.then(|| digits.parse().ok()).flatten().and_then(Weight::new)
        });
        Weight::new(above?.get() / below?.get()).map(Self)
    }
}

impl Spec for Ratio {
    fn schema() -> Schema {
        json!({
            "type": ["number", "string"],
            "exclusiveMinimum": 0,
            "pattern": r"^\s*[0-9.]+\s*/\s*[0-9.]+\s*$",
            "title": RATIO_EXAMPLES,
        })
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let Value::String(text) = value else {
            let weight = Weight::read(value, at).map_err(|error| error.allowed(RATIO_EXAMPLES));
            return weight.map(Self);
        };
        Self::parse(text).ok_or_else(|| at.error(value, "is not a ratio").allowed(RATIO_EXAMPLES))
    }

    fn write(&self) -> Value {
        self.0.write()
    }
}
