//! Mean elements of satellites from files: TLE, and OMM as CSV, JSON or XML (CCSDS 502.0-B-3), as public catalogues
//! have them.

use std::collections::BTreeSet;

use super::{omm, tle};
use crate::error::{FileError, Location};
use crate::frame::{Angle, Epoch};
use crate::motion::{Orbit, Satellite, Sgp4Orbit};

/// Mean motions are rounded to this, in radians per minute: less than a millimetre in a month.
const MOTION_GRAIN: f64 = 1.0 / (1u64 << 50) as f64;

/// Mean elements of SGP4.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanElements {
    /// The object's name; its catalogue number if it has none.
    pub name: String,
    /// Its number in the public catalogue.
    pub catalogue: u64,
    /// When the elements hold.
    pub epoch: Epoch,
    /// To the equator, in degrees.
    pub inclination: f64,
    /// The right ascension of the ascending node, in degrees.
    pub node: f64,
    /// From 0 to below 1.
    pub eccentricity: f64,
    /// The argument of the perigee, in degrees.
    pub perigee: f64,
    /// The mean anomaly, in degrees.
    pub anomaly: f64,
    /// Revolutions per day.
    pub motion: f64,
    /// B*, per Earth radius.
    pub drag: f64,
}

/// Mean elements and where a file holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementRecord {
    /// The elements.
    pub elements: MeanElements,
    /// The line or record in the file.
    pub location: Location,
}

impl MeanElements {
    /// The satellite that moves as the elements say.
    ///
    /// # Errors
    /// In SGP4's words.
    pub fn satellite(&self) -> Result<Satellite, String> {
        let radians = |degrees| Angle::from_degrees(degrees).radians();
        let mut orbit = sgp4::Orbit::from_kozai_elements(
            &sgp4::WGS72,
            radians(self.inclination),
            radians(self.node),
            self.eccentricity,
            radians(self.perigee),
            radians(self.anomaly),
            self.motion * (std::f64::consts::PI / 720.0),
        )
        .map_err(|error| error.to_string())?;
        // Its last digit, too, depends on the machine (see `orbit`), and its error grows with time.
        orbit.mean_motion = (orbit.mean_motion / MOTION_GRAIN).round() * MOTION_GRAIN;
        let constants = sgp4::Constants::new(
            sgp4::WGS72,
            sgp4::iau_epoch_to_sidereal_time,
            self.epoch.days_since_j2000() / 365.25,
            self.drag,
            orbit,
        )
        .map_err(|error| error.to_string())?;
        let orbit = Orbit::Sgp4(Box::new(Sgp4Orbit::new(self.epoch, constants)));
        Ok(Satellite { name: self.name.clone(), orbit })
    }

    /// Checks that all numbers are in range.
    fn check(&self) -> Result<(), String> {
        let ranges = [
            ("inclination", self.inclination, 0.0, 180.0, "degrees"),
            ("right ascension of the node", self.node, -360.0, 360.0, "degrees"),
            ("eccentricity", self.eccentricity, 0.0, 0.999_999_9, "(a closed orbit)"),
            ("argument of perigee", self.perigee, -360.0, 360.0, "degrees"),
            ("mean anomaly", self.anomaly, -360.0, 360.0, "degrees"),
            ("mean motion", self.motion, 0.01, 18.0, "revolutions per day"),
            ("B*", self.drag, -10.0, 10.0, "per Earth radius"),
        ];
        for (what, value, least, most, unit) in ranges {
            if !(least..=most).contains(&value) {
                let name = &self.name;
                return Err(format!("{name}: {what} {value} is not from {least} to {most} {unit}"));
            }
        }
        Ok(())
    }
}

/// Reads the elements in a file, whose format shows in its text; a name that ends in another format's is refused.
///
/// # Errors
/// The first line or record that is wrong.
pub fn read(file: &str, text: &str) -> Result<Vec<ElementRecord>, FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let format = Format::of_text(text);
    if let Some(named) = Format::of_name(file)
        && named != format
    {
        let (named, found) = (named.name(), format.name());
        return Err(FileError::whole(file, format!("named like {named}, but its text is {found}")));
    }
    let all = match format {
        Format::Tle => tle::read(file, text)?,
        Format::Csv => omm::read_csv(file, text)?,
        Format::Json => omm::read_json(file, text)?,
        Format::Xml => omm::read_xml(file, text)?,
    };
    if all.is_empty() {
        let formats = "TLE, or OMM as CSV, JSON or XML";
        return Err(FileError::whole(
            file,
            format!("contains no satellites; it should be {formats}"),
        ));
    }
    let mut numbers = BTreeSet::new();
    for placed in &all {
        let MeanElements { catalogue, name, .. } = &placed.elements;
        placed.elements.check().map_err(|problem| placed.error(file, problem))?;
        if !numbers.insert(*catalogue) {
            let problem =
                format!("{name} ({catalogue}) appears twice; keep one of its element sets");
            return Err(placed.error(file, problem));
        }
    }
    Ok(all)
}

impl ElementRecord {
    /// An error at the place in the file.
    pub(super) fn error(&self, file: &str, problem: impl Into<String>) -> FileError {
        FileError::at(file, self.location.clone(), problem)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Tle,
    Csv,
    Json,
    Xml,
}

impl Format {
    fn of_text(text: &str) -> Self {
        let text = text.trim_start();
        let first = text.lines().next().unwrap_or_default();
        match text.chars().next() {
            Some('[' | '{') => Self::Json,
            Some('<') => Self::Xml,
            _ if first.contains("OBJECT_NAME") || first.contains("NORAD_CAT_ID") => Self::Csv,
            _ => Self::Tle,
        }
    }

    fn of_name(file: &str) -> Option<Self> {
        match file.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "tle" | "3le" | "2le" => Some(Self::Tle),
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "xml" => Some(Self::Xml),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tle => "two-line elements",
            Self::Csv => "CSV with the columns of an OMM",
            Self::Json => "JSON",
            Self::Xml => "XML",
        }
    }
}
