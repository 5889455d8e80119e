//! Durations of XML Schema (part 2, section 3.2.6): `PT9M56.46S`.

use leobench_base::SimDuration;

/// Nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;

/// The units before and after the `T` in order, in seconds. Years and months have no length of their own.
const DATE: [(char, Option<u128>); 3] = [('Y', None), ('M', None), ('D', Some(86_400))];
const TIME: [(char, Option<u128>); 3] = [('H', Some(3_600)), ('M', Some(60)), ('S', Some(1))];

/// The duration of a text; none if it is no duration, or has years or months. It is cut to nanoseconds.
pub(super) fn parse(text: &str) -> Option<SimDuration> {
    let text = text.trim().strip_prefix('P')?;
    let (date, time) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None if text.is_empty() => return None,
        None => (text, ""),
    };
    let nanos = sum(date, &DATE)?.checked_add(sum(time, &TIME)?)?;
    u64::try_from(nanos).ok().map(SimDuration::from_nanos)
}

/// The nanoseconds of numbers with units, each unit once at most and in order.
fn sum(mut text: &str, units: &[(char, Option<u128>)]) -> Option<u128> {
    let (mut sum, mut units) = (0u128, units.iter());
    while let Some(end) = text.find(|c: char| c.is_ascii_alphabetic()) {
        let (letter, seconds) = units.find(|(letter, _)| text[end..].starts_with(*letter))?;
        let nanos = number(&text[..end], *letter == 'S')?;
        let part = match seconds {
            Some(seconds) => nanos.checked_mul(*seconds)?,
            None if nanos == 0 => 0,
            None => return None,
        };
        sum = sum.checked_add(part)?;
        text = &text[end + 1..];
    }
    text.is_empty().then_some(sum)
}

/// A billion times a number, which has a fraction only in seconds.
fn number(text: &str, fractional: bool) -> Option<u128> {
    let is_whole =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) if fractional && is_whole(fraction) => (whole, fraction),
        Some(_) => return None,
        None => (text, "0"),
    };
    if !is_whole(whole) {
        return None;
    }
    let fraction: u128 = format!("{fraction:0<9}")[..9].parse().ok()?;
    whole.parse::<u64>().ok().map(|whole| u128::from(whole) * SECOND + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_to_the_nanosecond() {
        for (text, nanos) in [
            ("PT634.566S", 634_566_000_000),
            ("PT0H9M56.46S", 596_460_000_000),
            ("P0Y0M0DT0H3M30.000S", 210_000_000_000),
            ("P1DT1H", 90_000_000_000_000),
            ("P2D", 172_800_000_000_000),
            ("PT0.1234567899S", 123_456_789),
            (" PT1M ", 60_000_000_000),
        ] {
            assert_eq!(parse(text), Some(SimDuration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_durations() {
        for text in [
            "",
            "P",
            "PT",
            "T1S",
            "60",
            "60 s",
            "PT60",
            "PTS",
            "PT1.S",
            "PT.5S",
            "PT1.5M",
            "PT1S1M",
            "PT1M1M",
            "P1M",
            "P1Y",
            "-PT1S",
            "PT-1S",
            "P1H",
            "PT1D",
            "PT99999999999999999999S",
            "PT1é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
