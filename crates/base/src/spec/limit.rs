//! How much a queue holds: a number of packets or bytes, or as much as a link carries in some time.

use super::error::{At, SpecError};
use super::quantity::{DURATIONS, LARGEST, LONGEST, SIZES, parse, up_to};
use super::value::{Table, Value};
use super::{Schema, Spec, json};
use crate::time::SimDuration;
use crate::units::Bytes;

const PACKETS: &[(&str, u64)] = &[("packets", 1), ("packet", 1)];
/// In millionths, to be exact.
const PRODUCTS: &[(&str, u64)] = &[("BDP", 1_000_000)];

/// The longest limits: no queue of packets or products is as long, and their bytes still fit 64 bits.
const MOST_PACKETS: (u64, &str) = (1_000_000_000_000, "1000000000000 packets");
const MOST_PRODUCTS: (u64, &str) = (1_000_000_000_000, "1000000 BDP");

const KEYS: [&str; 3] = ["bdp", "time", "link"];

/// The capacity of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this many waiting packets.
    Packets(u64),
    /// At most this many waiting bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
    /// As many bytes as a link carries at its mean rate.
    Carried {
        /// For how long.
        span: Span,
        /// The link; that of the queue unless named.
        link: Option<String>,
    },
}

/// How long a link carries the bytes of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Millionths of its round-trip time: its bandwidth-delay product is a million of them.
    Products(u64),
    /// A time.
    Time(SimDuration),
}

impl Limit {
    /// The limits that a queue in front of a link may have, for messages.
    pub const ALLOWED: &str = r#""15 packets", "30 kB", "1.5 BDP", "100 ms", "unlimited", or a table with `bdp` or `time` and a `link`"#;

    /// Those that the queue of a satellite may have, whose packets have the rates of several links.
    pub const OF_SATELLITES: &str =
        r#""15 packets", "30 kB", "unlimited", or a table with `bdp` or `time` and a `link`"#;

    /// Whether it is a number of nothing.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Packets(packets) => *packets == 0,
            Self::Bytes(bytes) => bytes.is_zero(),
            Self::Carried { span: Span::Products(millionths), .. } => *millionths == 0,
            Self::Carried { span: Span::Time(time), .. } => time.is_zero(),
            Self::Unlimited => false,
        }
    }

    fn parse(text: &str) -> Result<Self, (String, Option<String>)> {
        let carried = |span| Self::Carried { span, link: None };
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Ok(packets) = parse(text, PACKETS) {
            return up_to(MOST_PACKETS, packets).map(Self::Packets);
        }
        if let Ok(millionths) = parse(text, PRODUCTS) {
            return up_to(MOST_PRODUCTS, millionths)
                .map(|millionths| carried(Span::Products(millionths)));
        }
        if let Ok(time) = parse(text, DURATIONS) {
            let time = up_to(LONGEST, time)?;
            return Ok(carried(Span::Time(SimDuration::from_nanos(time))));
        }
        // The error is about a unit of any kind, unless the unit is known.
        let units = [PACKETS, PRODUCTS, SIZES, DURATIONS];
        let unit =
            text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-._".contains(c));
        let known = |units: &&&[(&str, u64)]| units.iter().any(|(name, _)| *name == unit.trim());
        match units.iter().find(known) {
            Some(units) if *units != SIZES => parse(text, units).map(|_| Self::Unlimited),
            _ => match parse(text, SIZES) {
                Ok(bytes) => Ok(Self::Bytes(Bytes::new(up_to(LARGEST, bytes)?))),
                Err((problem, _)) => {
                    Err((problem, parse(text, &units.concat()).err().and_then(|(_, near)| near)))
                }
            },
        }
    }

    fn from_table(table: &Table, value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        for (key, found) in table.iter() {
            if !KEYS.contains(&key) {
                return Err(at.key(key).error(found, SpecError::UNKNOWN_KEY).words(key, &KEYS));
            }
        }
        let link = table.get("link").map(|link| String::read(link, &at.key("link"))).transpose()?;
        let span = match (table.get("bdp"), table.get("time")) {
            (Some(bdp), None) => {
                let at = at.key("bdp");
                let number = f64::read(bdp, &at)?;
                if !(0.0..=1e6).contains(&number) {
                    let allowed = "a number above 0 up to 1000000";
                    return Err(at.error(bdp, "is out of range").allowed(allowed));
                }
                Span::Products((number * 1e6).round() as u64)
            }
            (None, Some(time)) => Span::Time(SimDuration::read(time, &at.key("time"))?),
            _ => return Err(at.error(value, "is not a limit").allowed("either `bdp` or `time`")),
        };
        Ok(Self::Carried { span, link })
    }
}

impl Spec for Limit {
    fn schema() -> Schema {
        let pattern = r"^\s*(unlimited|[0-9._]+\s*(packets?|BDP|B|kB|MB|GB|KiB|MiB|GiB|ns|us|µs|ms|s|min|h))\s*$";
        let mut time = SimDuration::schema();
        time["description"] = json!("Time in which the link carries the bytes at its mean rate.");
        json!({"title": Self::ALLOWED, "oneOf": [
            {"type": "string", "pattern": pattern},
            {"type": "object", "additionalProperties": false, "required": [], "properties": {
                "bdp": {
                    "type": "number", "exclusiveMinimum": 0,
                    "description": "Multiple of the link's bandwidth-delay product.",
                },
                "time": time,
                "link": {
                    "type": "string",
                    "description": "The link; by default the link of the queue.",
                },
            }},
        ]})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let text = match value {
            Value::String(text) => text,
            Value::Table(table) => return Self::from_table(table, value, at),
            Value::Integer(_) | Value::Float(_) => {
                return Err(at
                    .error(value, "is a bare number without a unit")
                    .allowed(Self::ALLOWED));
            }
            other => {
                return Err(at
                    .error(other, format!("is {}", other.type_name()))
                    .allowed(Self::ALLOWED));
            }
        };
        Self::parse(text).map_err(|(problem, nearest)| {
            let mut error = at.error(value, problem).allowed(Self::ALLOWED);
            error.nearest = nearest;
            error
        })
    }

    fn write(&self) -> Value {
        let text = match self {
            Self::Packets(packets) => format!("{packets} packets"),
            Self::Bytes(size) => size.to_string(),
            Self::Unlimited => "unlimited".into(),
            Self::Carried { span: Span::Products(millionths), link: None } => {
                format!("{} BDP", *millionths as f64 / 1e6)
            }
            Self::Carried { span: Span::Time(time), link: None } => return time.write(),
            Self::Carried { span, link: Some(link) } => {
                let mut table = Table::new();
                match span {
                    Span::Products(millionths) => {
                        table.insert("bdp", Value::Float(*millionths as f64 / 1e6));
                    }
                    Span::Time(time) => {
                        table.insert("time", time.write());
                    }
                }
                table.insert("link", Value::String(link.clone()));
                return Value::Table(table);
            }
        };
        Value::String(text)
    }
}
