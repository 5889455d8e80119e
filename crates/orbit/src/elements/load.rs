//! The satellites of an element file that can serve in a run.

use leobench_base::SimTime;

use super::{ElementRecord, read};
use crate::error::FileError;
use crate::frame::{EQUATOR_RADIUS, Epoch, State};
use crate::motion::{GRAVITY, SPACING, Satellite};

/// Decayed satellites that a warning names.
const NAMED: usize = 3;
/// Perigees below this altitude, in metres, are examined along the whole run. SGP4's periodic terms move a perigee by some
/// ten kilometres around its osculating value.
const LOW_PERIGEE: f64 = 200e3;

leobench_base::words! {
    /// Treatment of satellites that decay before the run ends.
    pub enum OnDecayed {
        /// They are left out, with a warning.
        Skip = "skip",
        /// The file is refused.
        Refuse = "refuse",
    }
}

/// Which element sets a run accepts. SGP4's error grows by one to three kilometres a day from their epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acceptance {
    /// Age in days beyond which there is a warning.
    pub warn_days: f64,
    /// Age in days beyond which the file is refused.
    pub refuse_days: f64,
    /// Treatment of decayed satellites.
    pub on_decayed: OnDecayed,
}

impl Default for Acceptance {
    fn default() -> Self {
        Self { warn_days: 7.0, refuse_days: 30.0, on_decayed: OnDecayed::Skip }
    }
}

/// The satellites of a file, and one-line warnings about them.
#[derive(Debug)]
pub struct Loaded {
    /// In the order of the file.
    pub satellites: Vec<Satellite>,
    /// One-line warnings for the user.
    pub warnings: Vec<String>,
}

/// Reads the satellites of a file for a run from `start` for a `length`.
///
/// # Errors
/// The first line or record that is wrong, whose epoch is too far away, or that SGP4 cannot propagate. With
/// [`OnDecayed::Skip`], satellites that have no orbit above the ground during the run are an error only if all are such.
pub fn load(
    file: &str,
    text: &str,
    start: Epoch,
    length: SimTime,
    acceptance: Acceptance,
) -> Result<Loaded, FileError> {
    let records = read(file, text)?;
    let run = Run { start, length };
    let mut satellites = Vec::new();
    let mut decayed = Vec::new();
    let (mut old, mut oldest) = (0, 0.0f64);
    for record in &records {
        let age = run.age(file, record, acceptance.refuse_days)?;
        let name = &record.elements.name;
        let named = |problem| record.error(file, format!("{name}: {problem}"));
        let satellite = record.elements.satellite().map_err(named)?;
        match (run.check(&satellite), acceptance.on_decayed) {
            (Ok(()), _) => {}
            (Err(_), OnDecayed::Skip) => {
                decayed.push(name.as_str());
                continue;
            }
            (Err(problem), OnDecayed::Refuse) => {
                return Err(named(format!("{problem}; leave it out, or use on_decayed = `skip`")));
            }
        }
        if age > acceptance.warn_days {
            old += 1;
            oldest = oldest.max(age);
        }
        satellites.push(satellite);
    }
    if satellites.is_empty() {
        let problem = "no satellite has an orbit above the ground during the run";
        return Err(FileError::whole(file, problem));
    }
    let mut warnings = Vec::new();
    if !decayed.is_empty() {
        warnings.push(skipped(file, &decayed, records.len()));
    }
    if old > 0 {
        let warn = acceptance.warn_days;
        warnings.push(format!(
            "{file}: {old} of {} satellites have elements more than {warn} days from the run, up to {oldest:.1} \
             days; expect errors of one to three kilometres per day",
            satellites.len()
        ));
    }
    Ok(Loaded { satellites, warnings })
}

/// The warning about satellites that were left out.
fn skipped(file: &str, decayed: &[&str], total: usize) -> String {
    let first = decayed[..decayed.len().min(NAMED)].join(", ");
    let more = match decayed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let count = decayed.len();
    format!(
        "{file}: {count} of {total} satellites decay before the run ends and are left out: {first}{more}"
    )
}

/// When the satellites have to have an orbit.
struct Run {
    start: Epoch,
    length: SimTime,
}

impl Run {
    /// The largest age of an element set in the run, in days; one beyond `refuse_days` is an error.
    fn age(&self, file: &str, record: &ElementRecord, refuse_days: f64) -> Result<f64, FileError> {
        let elements = &record.elements;
        let days = |at: Epoch| at.seconds_since(elements.epoch).abs() / 86_400.0;
        let end = self.start.at(self.length);
        let age = days(self.start).max(days(end));
        if age <= refuse_days {
            return Ok(age);
        }
        let far = if days(self.start) < days(end) { end } else { self.start };
        let (name, epoch) = (&elements.name, elements.epoch);
        Err(record.error(
            file,
            format!(
                "the elements of {name} have the epoch {epoch}, {age:.1} days from {far}; at most {refuse_days} \
                 days are allowed"
            ),
        ))
    }

    /// Checks that a satellite has an orbit above the ground during the run.
    fn check(&self, satellite: &Satellite) -> Result<(), String> {
        let state =
            |at: Epoch| satellite.orbit.state(at).map_err(|problem| format!("{problem} at {at}"));
        let ends = [state(self.start)?, state(self.start.at(self.length))?];
        if ends.iter().all(|state| perigee(state) > LOW_PERIGEE) {
            return Ok(());
        }
        // The knots of an ephemeris, up to that after the end.
        for knot in 0..self.length.as_nanos() / SPACING.as_nanos() + 2 {
            state(self.start.at(SimTime::ZERO + SPACING * knot))?;
        }
        Ok(())
    }
}

/// Altitude of the osculating perigee, in metres: a (1 - e), of the vis-viva equation and the angular momentum.
fn perigee(state: &State) -> f64 {
    let momentum = state.position.cross(state.velocity).norm();
    let parameter = momentum * momentum / GRAVITY;
    let speed = state.velocity.norm();
    let inverse_axis = 2.0 / state.position.norm() - speed * speed / GRAVITY;
    let eccentricity = (1.0 - parameter * inverse_axis).max(0.0).sqrt();
    parameter / (1.0 + eccentricity) - EQUATOR_RADIUS
}
