//! Physical quantities with their units, such as `"12 GHz"` and `"25 deg"`: read and written as scenarios have them.
//!
//! Each is one `f64` in its base unit. What is written reads back as the same number.

use crate::decibel::{db, ratio};
use crate::spec::quantity::{Problem, read_text};
use crate::spec::{At, Schema, Spec, SpecError, UpTo, Value, json, nearest, quoted};

/// A unit: its name, and how a number of it becomes one of the base unit and back.
struct Unit {
    name: &'static str,
    to_base: fn(f64) -> f64,
    from_base: fn(f64) -> f64,
}

/// Characters in which a number is looked for before an unknown unit.
const LONGEST_NUMBER: usize = 40;

fn parse(text: &str, units: &[Unit]) -> Result<f64, Problem> {
    let text = text.trim();
    let number = |text: &str| text.trim_end().replace('_', "").parse::<f64>().ok();
    // The longest unit first: "dBm" also ends in "m".
    let split = units
        .iter()
        .filter(|unit| text.ends_with(unit.name))
        .max_by_key(|unit| unit.name.len())
        .and_then(|unit| Some((unit, number(&text[..text.len() - unit.name.len()])?)));
    if let Some((unit, number)) = split {
        let base = (unit.to_base)(number);
        return if base.is_finite() { Ok(base) } else { Err(("is out of range".into(), None)) };
    }
    if number(text).is_some() {
        return Err(("has no unit".into(), None));
    }
    let ends = (1..text.len().min(LONGEST_NUMBER)).rev();
    let prefix = ends.into_iter().find(|end| text.get(..*end).and_then(number).is_some());
    let Some(end) = prefix else { return Err(("does not start with a number".into(), None)) };
    let (amount, suffix) = (text[..end].trim(), text[end..].trim());
    let names: Vec<_> = units.iter().map(|unit| unit.name).collect();
    let suggestion = nearest(suffix, &names).map(|unit| format!("{amount} {unit}"));
    Err((format!("has an unknown unit {}", quoted(suffix)), suggestion))
}

/// The shortest text that reads back as `base`; among equally short ones that in the earliest unit.
fn show(base: f64, units: &[Unit]) -> String {
    let texts = units.iter().map(|unit| format!("{} {}", (unit.from_base)(base), unit.name));
    let exact = texts.filter(|text| parse(text, units) == Ok(base));
    exact.min_by_key(String::len).unwrap_or_else(|| format!("{base} {}", units[0].name))
}

fn schema(units: &[Unit], allowed: &str) -> Schema {
    let names: Vec<_> = units.iter().map(|unit| unit.name.replace('/', r"\/")).collect();
    let pattern = format!(r"^\s*[-+0-9._eE]+\s*({})\s*$", names.join("|"));
    json!({"type": "string", "pattern": pattern, "title": allowed})
}

/// Defines a quantity: its name, the accessor of its number, what it may be (with the words for it), and its units, of
/// which the first is the base unit. A unit is a factor, or a pair of functions.
macro_rules! quantity {
    (
        $(#[doc = $doc:literal])*
        $name:ident . $accessor:ident, $holds:expr, $allowed:literal, [$($unit:literal: $scale:tt),*]
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            const UNITS: &[Unit] = &[$(quantity!(@unit $unit, $scale)),*];

            /// The quantity of this many base units, if it is in range.
            pub fn new(value: f64) -> Option<Self> {
                let holds: fn(f64) -> bool = $holds;
                (value.is_finite() && holds(value)).then_some(Self(value))
            }

            /// A constant, which has to be in range.
            pub const fn constant(value: f64) -> Self {
                Self(value)
            }

            #[doc = concat!("The number of base units (", quantity!(@first $($unit),*), ").")]
            pub const fn $accessor(self) -> f64 {
                self.0
            }
        }

        impl Spec for $name {
            fn schema() -> Schema {
                schema(Self::UNITS, $allowed)
            }

            fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
                let number = read_text(value, at, $allowed, |text| parse(text, Self::UNITS))?;
                Self::new(number).ok_or_else(|| at.error(value, "is out of range").allowed($allowed))
            }

            fn write(&self) -> Value {
                Value::String(show(self.0, Self::UNITS))
            }
        }
    };
    (@first $first:literal $(, $rest:literal)*) => { $first };
    (@unit $unit:literal, ($to:expr, $from:expr)) => {
        Unit { name: $unit, to_base: $to, from_base: $from }
    };
    (@unit $unit:literal, $factor:literal) => {
        Unit { name: $unit, to_base: |number| number * $factor, from_base: |number| number / $factor }
    };
}

quantity!(
    /// A frequency or a bandwidth; radio waves end at 3,000 GHz (ITU Radio Regulations, No. 1.5).
    Frequency.hz,
    |hz| hz > 0.0 && hz <= 3e12,
    r#"a frequency above zero, up to 3000 GHz, with its unit (Hz, kHz, MHz, GHz), such as "12 GHz""#,
    ["Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9]
);

impl Frequency {
    /// The number of gigahertz.
    pub fn ghz(self) -> f64 {
        self.0 / 1e9
    }
}

quantity!(
    /// A distance, height or diameter. Two satellites on opposite sides of the geostationary orbit are 84,328 km apart.
    Distance.m,
    |m| (0.0..=1e8).contains(&m),
    r#"a length from 0 to 100000 km with its unit (mm, cm, m, km), such as "60 cm""#,
    ["m": 1.0, "km": 1e3, "cm": 1e-2, "mm": 1e-3]
);

impl Distance {
    /// Apertures of antennas: the largest dish, FAST, measures 500 m.
    pub const APERTURE: UpTo<Self> = UpTo(Self::constant(500.0));
}

quantity!(
    /// An angle.
    Angle.degrees,
    |degrees| (0.0..=180.0).contains(&degrees),
    r#"an angle from 0 to 180 degrees with its unit (deg), such as "3.5 deg""#,
    ["deg": 1.0]
);

quantity!(
    /// A height above the horizon.
    Elevation.degrees,
    |degrees| (0.0..=90.0).contains(&degrees),
    r#"an elevation from 0 to 90 degrees with its unit (deg), such as "25 deg""#,
    ["deg": 1.0]
);

quantity!(
    /// A latitude, north positive.
    Latitude.degrees,
    |degrees| (-90.0..=90.0).contains(&degrees),
    r#"a latitude from -90 to 90 degrees with its unit (deg), such as "47.6 deg""#,
    ["deg": 1.0]
);

quantity!(
    /// A longitude, east positive.
    Longitude.degrees,
    |degrees| (-180.0..=360.0).contains(&degrees),
    r#"a longitude from -180 to 360 degrees with its unit (deg), such as "-122.3 deg""#,
    ["deg": 1.0]
);

quantity!(
    /// A direction around a full circle, such as an azimuth from north over east.
    Bearing.degrees,
    |degrees| (0.0..=360.0).contains(&degrees),
    r#"an angle from 0 to 360 degrees with its unit (deg), such as "270 deg""#,
    ["deg": 1.0]
);

quantity!(
    /// A height above the ellipsoid, which may be negative.
    Altitude.metres,
    |metres| (-1e5..=1e8).contains(&metres),
    r#"a height from -100 to 100000 km with its unit (m, km), such as "50 m""#,
    ["m": 1.0, "km": 1e3]
);

quantity!(
    /// A loss, margin or ratio in decibels.
    Decibels.db,
    |db| (0.0..=300.0).contains(&db),
    r#"decibels from 0 to 300, such as "1.5 dB""#,
    ["dB": 1.0]
);

quantity!(
    /// The standard deviation of a level. Beyond 30 dB, a level says nothing: fades by rain in the Ka band have a few dB.
    LevelError.db,
    |db| (0.0..=30.0).contains(&db),
    r#"decibels from 0 to 30, such as "1.5 dB""#,
    ["dB": 1.0]
);

quantity!(
    /// A level in decibels that may be negative.
    Level.db,
    |db| (-300.0..=300.0).contains(&db),
    r#"decibels from -300 to 300, such as "-3 dB""#,
    ["dB": 1.0]
);

quantity!(
    /// An antenna's gain over an isotropic one.
    Gain.dbi,
    |dbi| (-100.0..=100.0).contains(&dbi),
    r#"a gain from -100 to 100 dBi, such as "37.7 dBi""#,
    ["dBi": 1.0]
);

quantity!(
    /// A power, or an equivalent isotropic radiated power.
    Power.dbw,
    |dbw| (-200.0..=200.0).contains(&dbw),
    r#"a power from -200 to 200 dBW with its unit (dBW, dBm, W, mW), such as "36 dBW""#,
    ["dBW": 1.0, "dBm": (|dbm| dbm - 30.0, |dbw| dbw + 30.0), "W": (db, ratio),
        "mW": (|mw| db(mw) - 30.0, |dbw| ratio(dbw + 30.0))]
);

quantity!(
    /// A receiver's figure of merit, G/T.
    FigureOfMerit.db_per_k,
    |db| (-100.0..=100.0).contains(&db),
    r#"a figure of merit from -100 to 100 dB/K, such as "9.2 dB/K""#,
    ["dB/K": 1.0]
);

quantity!(
    /// A spectral density of noise power.
    NoiseDensity.dbw_per_hz,
    |dbw| (-300.0..=0.0).contains(&dbw),
    r#"a noise density from -300 to 0 dBW/Hz with its unit (dBW/Hz, dBm/Hz, W/Hz), such as "-198 dBW/Hz""#,
    ["dBW/Hz": 1.0, "dBm/Hz": (|dbm| dbm - 30.0, |dbw| dbw + 30.0), "W/Hz": (db, ratio)]
);

quantity!(
    /// A temperature.
    Temperature.kelvin,
    |kelvin| kelvin > 0.0 && kelvin < 1e6,
    r#"a temperature above 0 with its unit (K), such as "290 K""#,
    ["K": 1.0]
);

quantity!(
    /// An atmospheric pressure.
    Pressure.hpa,
    |hpa| hpa > 0.0 && hpa <= 1_100.0,
    r#"a pressure up to 1100 hPa, such as "1013.25 hPa""#,
    ["hPa": 1.0]
);

quantity!(
    /// A rain rate.
    RainRate.mm_per_h,
    |rate| (0.0..=500.0).contains(&rate),
    r#"a rain rate from 0 to 500 mm/h, such as "42 mm/h""#,
    ["mm/h": 1.0]
);

quantity!(
    /// A density of water vapour.
    VapourDensity.g_per_m3,
    |density| (0.0..=100.0).contains(&density),
    r#"a density from 0 to 100 g/m3, such as "7.5 g/m3""#,
    ["g/m3": 1.0]
);

quantity!(
    /// Water above an area.
    Column.kg_per_m2,
    |column| (0.0..=200.0).contains(&column),
    r#"a column of water from 0 to 200 kg/m2, such as "0.4 kg/m2""#,
    ["kg/m2": 1.0]
);

quantity!(
    /// A share of time.
    TimeShare.percent,
    |percent| percent > 0.0 && percent <= 100.0,
    r#"a share of time above 0 and up to 100 %, such as "0.1 %""#,
    ["%": 1.0]
);

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "tests expect exact numbers where they are exact")]
mod tests;
