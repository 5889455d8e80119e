//! When the clock of a source starts within its flow.

use leobench_base::spec::{At, Schema, Spec, SpecError, Value, json};
use leobench_base::{RngTree, SimDuration};

/// A time after the start of the flow, given or drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// This time.
    Fixed(SimDuration),
    /// Any time within a period of the source, equally likely.
    Random,
}

impl Offset {
    /// The start of the flow itself.
    pub const ZERO: Self = Self::Fixed(SimDuration::ZERO);

    /// The offset of a source that repeats after `period`, drawn from `rng` if it is random.
    pub(super) fn within(self, period: SimDuration, rng: &RngTree) -> SimDuration {
        match self {
            Self::Fixed(offset) => offset,
            Self::Random => {
                SimDuration::from_nanos(rng.child("offset").rng().below(period.as_nanos()))
            }
        }
    }
}

const RANDOM: &str = "random";
const ALLOWED: &str = r#"a time with its unit, such as "20 ms", or "random""#;

impl Spec for Offset {
    fn schema() -> Schema {
        json!({"oneOf": [SimDuration::schema(), {"const": RANDOM}], "title": ALLOWED})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::String(word) if word == RANDOM => Ok(Self::Random),
            _ => match SimDuration::read(value, at) {
                Ok(offset) => Ok(Self::Fixed(offset)),
                Err(error) => Err(error.allowed(ALLOWED)),
            },
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Fixed(offset) => offset.write(),
            Self::Random => Value::String(RANDOM.into()),
        }
    }
}
