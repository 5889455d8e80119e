//! Instants of the calendar (UTC), and the angle of the Earth at them.

use std::f64::consts::{PI, TAU};
use std::fmt;

use leobench_base::{SimDuration, SimTime};

use super::angle::Angle;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// 2000-01-01 in days since 1970-01-01.
const DAYS_TO_2000: i64 = 10_957;
const MONTH_LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// An instant of UTC, in whole nanoseconds; days without leap seconds, as in element sets and Unix time.
///
/// UT1 is taken to be UTC. They differ by less than 0.9 s, in the 2020s by less than 0.1 s, which turns the Earth by
/// less than 50 m at the equator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch {
    /// Since 2000-01-01T12:00:00.
    nanos: i64,
}

impl Epoch {
    /// 2000-01-01T12:00:00.
    pub const J2000: Self = Self { nanos: 0 };

    /// A day of the Gregorian calendar and a time of day in nanoseconds; `None` if the calendar has no such day, or
    /// outside the years 1900 to 2199.
    pub fn from_date(year: i32, month: u32, day: u32, nanos_of_day: i64) -> Option<Self> {
        let valid = (1900..2200).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && (0..NANOS_PER_DAY).contains(&nanos_of_day);
        let days = days_since_1970(year, month, day) - DAYS_TO_2000;
        valid.then(|| Self { nanos: days * NANOS_PER_DAY - NANOS_PER_DAY / 2 + nanos_of_day })
    }

    /// Reads ISO 8601: `2026-03-20`, `2026-03-20T10:39`, `2026-03-20T10:39:26.66`, with or without `Z`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_suffix('Z').unwrap_or(text);
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "0:0"));
        let mut parts = date.splitn(3, '-');
        let year = number(parts.next()?, 4)?;
        let month = number(parts.next()?, 2)?;
        let day = number(parts.next()?, 2)?;
        let mut parts = time.splitn(3, ':');
        let hour = number(parts.next()?, 2)?;
        let minute = number(parts.next()?, 2)?;
        let nanos = parts.next().map_or(Some(0), nanos_of_seconds)?;
        if hour > 23 || minute > 59 {
            return None;
        }
        let of_day = (i64::from(hour) * 60 + i64::from(minute)) * 60_000_000_000 + nanos;
        Self::from_date(year as i32, month, day, of_day)
    }

    /// Nanoseconds since 1970-01-01T00:00:00, to make it one.
    pub const fn from_unix_nanos(nanos: i64) -> Self {
        Self { nanos: nanos - (DAYS_TO_2000 * NANOS_PER_DAY + NANOS_PER_DAY / 2) }
    }

    /// Nanoseconds since 1970-01-01T00:00:00.
    pub const fn unix_nanos(self) -> i64 {
        self.nanos + (DAYS_TO_2000 * NANOS_PER_DAY + NANOS_PER_DAY / 2)
    }

    /// Days since 2000-01-01T12:00:00.
    pub fn days_since_j2000(self) -> f64 {
        self.nanos as f64 / NANOS_PER_DAY as f64
    }

    /// Seconds since an instant, negative before it.
    pub fn seconds_since(self, other: Self) -> f64 {
        (self.nanos - other.nanos) as f64 * 1e-9
    }

    /// Nanoseconds since the start of the present minute.
    pub const fn nanos_of_minute(self) -> u64 {
        self.nanos.rem_euclid(60_000_000_000) as u64
    }

    /// The instant of a time of a run that starts here.
    pub fn at(self, time: SimTime) -> Self {
        Self { nanos: self.nanos.saturating_add_unsigned(time.as_nanos()) }
    }

    /// The instant this much later.
    pub fn after(self, duration: SimDuration) -> Self {
        Self { nanos: self.nanos.saturating_add_unsigned(duration.as_nanos()) }
    }

    /// The angle between the vernal equinox and Greenwich: the IAU 1982 model of mean sidereal time (Vallado, Fundamentals
    /// of Astrodynamics, section 3.5), which the frame TEME of SGP4 is defined by.
    pub fn sidereal_angle(self) -> Angle {
        // The whole turns of a day are taken out first, so that none of the angle's digits are lost.
        let day_turn = self.nanos.rem_euclid(NANOS_PER_DAY) as f64 / NANOS_PER_DAY as f64;
        let centuries = self.days_since_j2000() / 36_525.0;
        let seconds =
            67_310.548_41 + 8_640_184.812_866 * centuries + 0.093_104 * centuries * centuries
                - 6.2e-6 * centuries * centuries * centuries;
        Angle::from_radians(day_turn * TAU + seconds % 86_400.0 * (PI / 43_200.0)).turned_positive()
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.unix_nanos();
        let (year, month, day) = date_of(nanos.div_euclid(NANOS_PER_DAY));
        let of_day = nanos.rem_euclid(NANOS_PER_DAY) / 1_000_000;
        let (minutes, millis) = (of_day / 60_000, of_day % 60_000);
        let (hour, minute) = (minutes / 60, minutes % 60);
        let (second, millis) = (millis / 1_000, millis % 1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

fn number(text: &str, longest: usize) -> Option<u32> {
    let digits =
        !text.is_empty() && text.len() <= longest && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Seconds below 60, with up to nine decimals that count; further ones are cut.
fn nanos_of_seconds(text: &str) -> Option<i64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let whole = i64::from(number(whole, 2)?);
    let padded = format!("{decimals:0<9}");
    let decimals = number(padded.get(..9)?, 9)?;
    let rest_valid = padded.bytes().all(|b| b.is_ascii_digit());
    (whole < 60 && rest_valid).then_some(whole * 1_000_000_000 + i64::from(decimals))
}

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i32, month: u32) -> u32 {
    if month == 2 && is_leap(year) { 29 } else { MONTH_LENGTHS[month as usize - 1] }
}

/// Days of a valid date since 1970-01-01; of an invalid one, anything.
fn days_since_1970(year: i32, month: u32, day: u32) -> i64 {
    let before = i64::from(year) - 1;
    let leaps = before / 4 - before / 100 + before / 400;
    let months: u32 = (1..month.min(12)).map(|month| days_in_month(year, month)).sum();
    before * 365 + leaps + i64::from(months) + i64::from(day) - 719_163
}

fn date_of(days: i64) -> (i32, u32, u32) {
    let mut year = 1970 + (days.div_euclid(366)) as i32;
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut rest = (days - days_since_1970(year, 1, 1)) as u32;
    let mut month = 1;
    while rest >= days_in_month(year, month) {
        rest -= days_in_month(year, month);
        month += 1;
    }
    (year, month, rest + 1)
}
