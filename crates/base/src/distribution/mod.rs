//! Quantities drawn at random: a time or a rate in a scenario that is either fixed or a distribution.
//!
//! `"30 ms"` is the fixed time; `{ kind = "uniform", from = "20 ms", to = "40 ms" }` is drawn anew each time.

mod laws;

use crate::rng::SimRng;
use crate::spec::{At, Schema, Spec, SpecError, Value, json};
use crate::time::SimDuration;
use crate::units::BitRate;

/// A quantity that distributions draw, as a number of its base units.
pub trait Quantity: Spec + Copy {
    /// Base units: nanoseconds, bits per second.
    fn units(self) -> f64;

    /// The quantity of this many base units, rounded to whole ones; zero below zero.
    fn from_units(units: f64) -> Self;
}

impl Quantity for SimDuration {
    fn units(self) -> f64 {
        self.as_nanos() as f64
    }

    fn from_units(units: f64) -> Self {
        Self::from_nanos(units.round() as u64)
    }
}

impl Quantity for BitRate {
    fn units(self) -> f64 {
        self.bps() as f64
    }

    fn from_units(units: f64) -> Self {
        Self::from_bps(units.round() as u64)
    }
}

/// Defines the distribution of a quantity: the kinds, and the type that also reads a bare quantity.
macro_rules! distribution {
    ($(#[doc = $doc:literal])* $name:ident, $kinds:ident, $module:ident, $quantity:ty, [$($example:literal),*]) => {
        #[doc = concat!("The kinds of [`", stringify!($name), "`].")]
        pub mod $module {
            super::laws::define!($kinds, $quantity, $($example),*);
        }

        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name($module::$kinds);

        impl $name {
            /// One of each kind.
            pub fn examples() -> Vec<Self> {
                $module::$kinds::examples().into_iter().map(Self).collect()
            }

            /// The same value every time.
            pub const fn fixed(value: $quantity) -> Self {
                Self($module::$kinds::Fixed($module::Fixed { value }))
            }

            /// Draws a value.
            pub fn draw(&self, rng: &mut SimRng) -> $quantity {
                Quantity::from_units(self.0.model().draw(rng))
            }

            /// The mean, in base units.
            pub fn mean(&self) -> f64 {
                self.0.model().mean()
            }

            /// The least value that a draw may return.
            pub fn least(&self) -> $quantity {
                Quantity::from_units(self.0.model().least())
            }

            /// The largest value that a draw may return. Of a distribution without an upper end, it is the largest that
            /// the 53 random bits of a draw can yield.
            pub fn most(&self) -> $quantity {
                Quantity::from_units(self.0.model().most())
            }

            /// Whether draws differ.
            pub fn is_random(&self) -> bool {
                self.least() != self.most()
            }

            /// Draws a value in proportion to its size: the length of the interval around an instant of a renewal
            /// process in equilibrium (Cox 1962, "Renewal Theory", section 5.4). By rejection.
            ///
            /// # Panics
            /// In debug builds, if the mean is zero: the loop would not end.
            pub fn draw_by_size(&self, rng: &mut SimRng) -> $quantity {
                let law = self.0.model();
                let most = law.most();
                debug_assert!(law.mean() > 0.0, "a size of zero cannot be drawn by size");
                loop {
                    let drawn = law.draw(rng);
                    if rng.unit() * most < drawn {
                        return Quantity::from_units(drawn);
                    }
                }
            }
        }

        impl Spec for $name {
            fn schema() -> Schema {
                let mut kinds = <$module::$kinds as Spec>::schema();
                let bare = <$quantity as Spec>::schema();
                let title = title(&bare, &kinds);
                if let Some(options) = kinds["oneOf"].as_array_mut() {
                    options.insert(0, bare);
                }
                json!({"title": title, "oneOf": kinds["oneOf"]})
            }

            fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
                if let Value::Table(_) = value {
                    return <$module::$kinds as Spec>::read(value, at).map(Self);
                }
                let fixed = <$quantity as Spec>::read(value, at).map_err(|error| {
                    let bare = error.allowed.clone().unwrap_or_default();
                    let kinds = $module::$kinds::KINDS.join(", ");
                    error.allowed(format!("{bare}, or a table with `kind`: {kinds}"))
                })?;
                Ok(Self::fixed(fixed))
            }

            fn write(&self) -> Value {
                match &self.0 {
                    $module::$kinds::Fixed(fixed) => fixed.value.write(),
                    kind => kind.write(),
                }
            }
        }
    };
}

distribution!(
    /// A time that is fixed or drawn.
    DurationDistribution, DurationKinds, durations, crate::SimDuration,
    [
        r#"{"value": "30 ms"}"#,
        r#"{"from": "20 ms", "to": "40 ms"}"#,
        r#"{"mean": "30 ms", "deviation": "5 ms"}"#,
        r#"{"mean": "30 ms"}"#,
        r#"{"values": ["20 ms", "30 ms", "35 ms"]}"#
    ]
);

distribution!(
    /// A rate that is fixed or drawn.
    RateDistribution, RateKinds, rates, crate::BitRate,
    [
        r#"{"value": "100 Mbps"}"#,
        r#"{"from": "50 Mbps", "to": "200 Mbps"}"#,
        r#"{"mean": "100 Mbps", "deviation": "20 Mbps"}"#,
        r#"{"mean": "100 Mbps"}"#,
        r#"{"values": ["50 Mbps", "100 Mbps", "200 Mbps"]}"#
    ]
);

/// Describes the values that a scenario may give: the bare quantity, or each kind with its keys.
fn title(bare: &Schema, kinds: &Schema) -> String {
    let options = kinds["oneOf"].as_array().into_iter().flatten();
    let kinds = options.filter_map(|option| {
        let properties = option["properties"].as_object()?;
        let keys = properties.keys().filter(|key| *key != "kind").map(|key| format!("`{key}`"));
        let kind = option["properties"]["kind"]["const"].as_str()?;
        Some(format!("`{kind}` ({})", keys.collect::<Vec<_>>().join(", ")))
    });
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    format!("{}; or a table whose `kind` is {kinds}", bare["title"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests;
