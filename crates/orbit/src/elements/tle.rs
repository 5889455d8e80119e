//! Two-line element sets, with or without a line for the name.

use super::{ElementRecord, MeanElements};
use crate::error::{FileError, Location};
use crate::frame::Epoch;

/// Characters of a line.
const LENGTH: usize = 69;

pub(super) fn read(file: &str, text: &str) -> Result<Vec<ElementRecord>, FileError> {
    let mut lines = (1..)
        .zip(text.lines().map(str::trim_end))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut all = Vec::new();
    while let Some((number, line)) = lines.next() {
        let (name, number, first) = if is_first(line) {
            (None, number, line)
        } else {
            let name = line.strip_prefix("0 ").unwrap_or(line).trim();
            match lines.next() {
                Some((number, first)) if is_first(first) => (Some(name), number, first),
                _ => {
                    let problem =
                        "expected line 1 of an element set (`1 44713U ...`) or a name before one";
                    return Err(FileError::line(file, number, problem));
                }
            }
        };
        let second = match lines.next() {
            Some((_, second)) if second.starts_with("2 ") => second,
            other => {
                let at = other.map_or(number, |(number, _)| number);
                let problem = "expected line 2 of the element set (`2 44713 ...`)";
                return Err(FileError::line(file, at, problem));
            }
        };
        check_line(first).map_err(|problem| FileError::line(file, number, problem))?;
        check_line(second).map_err(|problem| FileError::line(file, number + 1, problem))?;
        let elements = parse(name, first, second).map_err(|(second, problem)| {
            FileError::line(file, number + u64::from(second), problem)
        })?;
        all.push(ElementRecord { elements, location: Location::Line(number) });
    }
    Ok(all)
}

fn is_first(line: &str) -> bool {
    line.starts_with("1 ") && line.len() > 60
}

/// Checks length and checksum: the sum of all digits, a minus sign counting 1, modulo 10.
fn check_line(line: &str) -> Result<(), String> {
    if !line.is_ascii() || line.len() != LENGTH {
        let length = line.chars().count();
        return Err(format!(
            "a line of an element set has {LENGTH} ASCII characters, but this one has {length}"
        ));
    }
    let sum: u32 = line.as_bytes()[..LENGTH - 1]
        .iter()
        .map(|byte| match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'-' => 1,
            _ => 0,
        })
        .sum();
    let (found, right) = (&line[LENGTH - 1..], sum % 10);
    if found == right.to_string() {
        Ok(())
    } else {
        Err(format!(
            "the checksum is {found}, but the digits of the line add up to {right}: a digit is wrong"
        ))
    }
}

/// The elements of two checked lines; on error, whether the second one is wrong, and what.
fn parse(name: Option<&str>, first: &str, second: &str) -> Result<MeanElements, (bool, String)> {
    let mut first = first.as_bytes().to_vec();
    // The type of ephemeris, always 0 in public sets, and blank in old ones.
    if first[62] == b' ' {
        first[62] = b'0';
    }
    let set = sgp4::Elements::from_tle(None, &first, second.as_bytes())
        .map_err(|error| (error.to_string().contains("on TLE line 2"), error.to_string()))?;
    let nanos = set.datetime.and_utc().timestamp_nanos_opt();
    let epoch = nanos.map(Epoch::from_unix_nanos);
    Ok(MeanElements {
        name: name.map_or_else(|| set.norad_id.to_string(), str::to_owned),
        catalogue: set.norad_id,
        epoch: epoch.ok_or_else(|| (false, "the epoch is out of range".to_owned()))?,
        inclination: set.inclination,
        node: set.right_ascension,
        eccentricity: set.eccentricity,
        perigee: set.argument_of_perigee,
        anomaly: set.mean_anomaly,
        motion: set.mean_motion,
        drag: set.drag_term,
    })
}
