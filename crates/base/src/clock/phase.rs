//! The phase of a grid of times.

use crate::rng::RngTree;
use crate::spec::{At, Schema, Spec, SpecError, Value, json};
use crate::time::SimDuration;

/// The offset of a grid on the time axis, given or drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// One of its times.
    Fixed(SimDuration),
    /// Any time within the period, equally likely.
    Random,
}

impl Phase {
    /// A grid with a time at zero.
    pub const ZERO: Self = Self::Fixed(SimDuration::ZERO);

    /// The phase of a grid of this period, drawn from `rng` if it is random.
    pub fn within(self, period: SimDuration, rng: &RngTree) -> SimDuration {
        match self {
            Self::Fixed(phase) => phase,
            Self::Random => SimDuration::from_nanos(rng.rng().below(period.as_nanos())),
        }
    }
}

const RANDOM: &str = "random";
const ALLOWED: &str = r#"a time with its unit, such as "20 ms", or "random""#;

impl Spec for Phase {
    fn schema() -> Schema {
        json!({"oneOf": [SimDuration::schema(), {"const": RANDOM}], "title": ALLOWED})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        match value {
            Value::String(word) if word == RANDOM => Ok(Self::Random),
            _ => match SimDuration::read(value, at) {
                Ok(phase) => Ok(Self::Fixed(phase)),
                Err(error) => Err(error.allowed(ALLOWED)),
            },
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Fixed(phase) => phase.write(),
            Self::Random => Value::String(RANDOM.into()),
        }
    }
}
