//! Quantities with units: read exactly (without floating-point rounding), written in the shortest form.

use super::error::{At, SpecError, cut, nearest, quoted};
use super::value::Value;
use super::{Schema, Spec, json};
use crate::largest_unit::in_largest_unit;
use crate::time::SimDuration;
use crate::units::{BitRate, Bytes};

/// The problem with a text, and the nearest valid one.
pub type Problem = (String, Option<String>);

/// A unit and its size in base units.
type Units = [(&'static str, u64)];

pub(super) const DURATIONS: &Units = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
pub(super) const SIZES: &Units = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const RATES: &Units = &[
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
];

/// Endings of units of bytes, longest first.
const BYTE_WORDS: &[&str] = &["Bytes", "bytes", "Byte", "byte", "B"];
/// Endings of units of bits, longest first. A mere `b` is left out: it often stands for bytes.
const BIT_WORDS: &[&str] = &["Bits", "bits", "Bit", "bit"];
/// Endings that make a rate of a size.
const PER_SECOND: &[&str] = &["/s", "ps"];
/// The largest quantities of a scenario: a time of 114 years, of which several add up to less than the 584 that a clock of
/// nanoseconds has; more bytes than a link of that rate carries in a week; and what a hundred of the fastest ports of 2025 carry.
pub(super) const LONGEST: (u64, &str) = (1_000_000 * 3_600_000_000_000, "1000000 h");
pub(super) const LARGEST: (u64, &str) = (1_000_000_000_000_000_000, "1000000000 GB");
const FASTEST: (u64, &str) = (100_000_000_000_000, "100000 Gbps");

const DURATION_EXAMPLES: &str = r#"a time with its unit (ns, us, ms, s, min, h), such as "10 ms""#;
const SIZE_EXAMPLES: &str =
    r#"a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as "30 kB""#;
const RATE_EXAMPLES: &str = r#"a rate with its unit (bps, kbps, Mbps, Gbps), such as "45 Mbps""#;
const WINDOW_EXAMPLES: &str = r#"a size with its unit, such as "1 MB", or "unlimited""#;

/// A flow-control window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// This many bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

/// Reads `text` as a number and one of `units`: the count of base units, or the error.
pub(super) fn parse(text: &str, units: &Units) -> Result<u64, Problem> {
    let text = text.trim();
    let split =
        text.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c))).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    if number.is_empty() {
        return Err(("does not start with a number".into(), None));
    }
    if unit.is_empty() {
        return Err(("has no unit".into(), None));
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let problem = format!("has an unknown unit {}", quoted(unit));
        return Err((problem, suggestion(number, unit, units)));
    };
    if number.starts_with('-') {
        return Err(("is negative".into(), None));
    }
    scaled(number, *scale).map_err(|problem| (problem, None))
}

/// The quantity that was probably meant by `number` and a unit that is none of `units`.
fn suggestion(number: &str, unit: &str, units: &Units) -> Option<String> {
    let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
    let counted = PER_SECOND.iter().find_map(|per| unit.strip_suffix(per)).unwrap_or(unit);
    if names.contains(&"bps")
        && let Some(prefix) = prefix(counted, BYTE_WORDS)
    {
        return in_bits(number, prefix);
    }
    if names.contains(&"B")
        && let Some((_, scale)) = prefix(unit, BIT_WORDS)
    {
        let bits = scaled(number, scale).ok()?;
        return bits.is_multiple_of(8).then(|| Bytes::new(bits / 8).to_string());
    }
    nearest(unit, &names).map(|unit| format!("{} {unit}", cut(number)))
}

/// The prefix of a unit that ends in one of `words`.
fn prefix(unit: &str, words: &[&str]) -> Option<(&'static str, u64)> {
    let prefix = words.iter().find_map(|word| unit.strip_suffix(word))?;
    let mut prefixes =
        SIZES.iter().filter_map(|(unit, scale)| Some((unit.strip_suffix('B')?, *scale)));
    prefixes.find(|(name, _)| name.eq_ignore_ascii_case(prefix))
}

/// A number of bytes per second as a rate in bits, in the unit of the same decimal prefix.
fn in_bits(number: &str, (prefix, scale): (&str, u64)) -> Option<String> {
    let bits = scaled(number, scale * 8).ok()?;
    let unit = format!("{}bps", prefix.trim_end_matches('i').replace('K', "k"));
    let (name, scale) = RATES.iter().find(|(name, _)| *name == unit)?;
    Some(in_largest_unit(bits, &[(name, *scale)]))
}

/// `number` (decimal digits with an optional fraction) times `scale`, exactly.
fn scaled(number: &str, scale: u64) -> Result<u64, String> {
    let digits: String = number.trim_start_matches('+').chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let bad = || format!("{} is not a number", quoted(number));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 18 {
        return Err(bad());
    }
    let mantissa: u128 = format!("0{whole}{fraction}").parse().map_err(|_| bad())?;
    let product = mantissa.checked_mul(u128::from(scale)).ok_or("is too large")?;
    let denominator = 10u128.pow(fraction.len() as u32);
    if product % denominator != 0 {
        return Err("is not a whole number of the smallest unit".into());
    }
    u64::try_from(product / denominator).map_err(|_| "is too large".into())
}

fn read_quantity(
    value: &Value,
    at: &At<'_>,
    units: &Units,
    most: (u64, &str),
    allowed: &str,
) -> Result<u64, SpecError> {
    read_text(value, at, allowed, |text| parse(text, units).and_then(|amount| up_to(most, amount)))
}

/// An amount that is not above the largest one, which is also given in words.
pub(super) fn up_to((most, shown): (u64, &str), amount: u64) -> Result<u64, Problem> {
    if amount <= most { Ok(amount) } else { Err((format!("is too large: above {shown}"), None)) }
}

/// Reads a number with its unit by `parse`.
///
/// # Errors
/// If it is no text, or `parse` finds something wrong.
pub fn read_text<T>(
    value: &Value,
    at: &At<'_>,
    allowed: &str,
    parse: impl FnOnce(&str) -> Result<T, Problem>,
) -> Result<T, SpecError> {
    let Value::String(text) = value else {
        let problem = match value {
            Value::Integer(_) | Value::Float(_) => "is a bare number without a unit".to_owned(),
            other => format!("is {}", other.type_name()),
        };
        return Err(at.error(value, problem).allowed(allowed));
    };
    parse(text).map_err(|(problem, suggestion)| {
        let mut error = at.error(value, problem).allowed(allowed);
        error.nearest = suggestion;
        error
    })
}

fn quantity_schema(pattern: &str, allowed: &str) -> Schema {
    json!({"type": "string", "pattern": pattern, "title": allowed})
}

impl Spec for SimDuration {
    fn schema() -> Schema {
        quantity_schema(r"^\s*[0-9._]+\s*(ns|us|µs|ms|s|min|h)\s*$", DURATION_EXAMPLES)
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        read_quantity(value, at, DURATIONS, LONGEST, DURATION_EXAMPLES).map(Self::from_nanos)
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Spec for Bytes {
    fn schema() -> Schema {
        quantity_schema(r"^\s*[0-9._]+\s*(B|kB|MB|GB|KiB|MiB|GiB)\s*$", SIZE_EXAMPLES)
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        read_quantity(value, at, SIZES, LARGEST, SIZE_EXAMPLES).map(Self::new)
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Spec for BitRate {
    fn schema() -> Schema {
        quantity_schema(r"^\s*[0-9._]+\s*[kMG]?(bps|bit/s)\s*$", RATE_EXAMPLES)
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        read_quantity(value, at, RATES, FASTEST, RATE_EXAMPLES).map(Self::from_bps)
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Spec for Window {
    fn schema() -> Schema {
        quantity_schema(r"^\s*(unlimited|[0-9._]+\s*(B|kB|MB|GB|KiB|MiB|GiB))\s*$", WINDOW_EXAMPLES)
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        if *value == Value::String("unlimited".into()) {
            return Ok(Self::Unlimited);
        }
        read_quantity(value, at, SIZES, LARGEST, WINDOW_EXAMPLES)
            .map(|size| Self::Bytes(Bytes::new(size)))
    }

    fn write(&self) -> Value {
        Value::String(match self {
            Self::Bytes(size) => size.to_string(),
            Self::Unlimited => "unlimited".into(),
        })
    }
}
