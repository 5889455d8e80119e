//! The tree a scenario file is parsed into, whatever its syntax.

use std::collections::BTreeMap;
use std::fmt;

use super::error::{key, quoted};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Characters of the longest key: the longest names in a place of a scenario, which campaigns have as keys.
const LONGEST_KEY: usize = 1_000;

/// A value in a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// A table of named values.
    Table(Table),
}

/// Named values in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<(String, Value)>,
    /// Places in `entries` by name: a scenario may have thousands of links.
    places: BTreeMap<String, usize>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Table {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.places.get(key).map(|place| &self.entries[*place].1)
    }

    /// The value under `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.places.get(key).map(|place| &mut self.entries[*place].1)
    }

    /// Puts `value` under `key`, in place of what was there or at the end.
    pub fn insert(&mut self, key: &str, value: Value) {
        if let Some(old) = self.get_mut(key) {
            *old = value;
        } else {
            self.places.insert(key.to_owned(), self.entries.len());
            self.entries.push((key.to_owned(), value));
        }
    }

    /// Takes the value under `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let place = self.places.remove(key)?;
        for later in self.places.values_mut().filter(|later| **later > place) {
            *later -= 1;
        }
        Some(self.entries.remove(place).1)
    }

    /// The keys and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl IntoIterator for Table {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl Value {
    /// The kind of this value, with its article, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}

impl fmt::Display for Value {
    /// As it would stand in a TOML file, on one line and cut to a readable length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 80;
        let text = match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => format!("{value:?}"),
            Self::String(value) => return f.write_str(&quoted(value)),
            Self::Array(values) => {
                let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                format!("[{}]", values.join(", "))
            }
            Self::Table(table) if table.is_empty() => "{}".to_owned(),
            Self::Table(table) => {
                let entries: Vec<_> =
                    table.iter().map(|(name, value)| format!("{} = {value}", key(name))).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        };
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(f, "{}…", &text[..end]),
            None => f.write_str(&text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::String(value) => serializer.serialize_str(value),
            Self::Array(values) => values.serialize(serializer),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Table(table) => Ok(table),
            other => Err(D::Error::custom(format!("is {}, not a table", other.type_name()))),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, number, string, array or table")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        let value = i64::try_from(value).map_err(|_| E::custom("an integer too large to hold"))?;
        Ok(Value::Integer(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = access.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut table = Table::new();
        while let Some((key, value)) = access.next_entry::<String, Value>()? {
            if key.starts_with("$__toml_private") {
                return Err(A::Error::custom("dates and times have no meaning in a scenario"));
            }
            if key.chars().nth(LONGEST_KEY).is_some() {
                let allowed = format!("at most {LONGEST_KEY} characters");
                let long = format!("the key {} is too long; allowed: {allowed}", quoted(&key));
                return Err(A::Error::custom(long));
            }
            if table.get(&key).is_some() {
                return Err(A::Error::custom(format!("the name {} is given twice", quoted(&key))));
            }
            table.insert(&key, value);
        }
        Ok(Value::Table(table))
    }
}
