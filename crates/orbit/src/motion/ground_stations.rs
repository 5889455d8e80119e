//! Lists of stations on the ground, such as gateways, as CSV.

use leobench_base::spec::{LONGEST_NAME, is_label, quoted};

use super::table::Table;
use crate::error::FileError;
use crate::frame::Geodetic;

/// A station on the ground with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct GroundStation {
    /// Unique in its list.
    pub name: String,
    /// The coordinates.
    pub position: Geodetic,
}

/// Reads a list with the columns `name`, `latitude`, `longitude` (degrees) and, on request, `altitude` (metres); others are
/// ignored.
///
/// # Errors
/// The first line that is wrong, and what would be right.
pub fn read(file: &str, text: &str) -> Result<Vec<GroundStation>, FileError> {
    let mut table = Table::open(file, text)?;
    let required = |name| table.required(name, "a list has name, latitude, longitude, altitude");
    let (name, latitude, longitude) =
        (required("name")?, required("latitude")?, required("longitude")?);
    let altitude = table.column("altitude");
    let mut stations: Vec<GroundStation> = Vec::new();
    for row in table.rows() {
        let row = row?;
        let altitude = altitude.map_or(Ok(0.0), |column| row.number(column))?;
        let position =
            Geodetic::from_degrees(row.number(latitude)?, row.number(longitude)?, altitude);
        let name = row.text(name).to_owned();
        if !is_label(&name) {
            let allowed = format!("text on one line, up to {LONGEST_NAME} characters");
            return Err(row.error(format!("the name {} should be {allowed}", quoted(&name))));
        }
        position.check().map_err(|problem| row.error(format!("{name}: {problem}")))?;
        if stations.iter().any(|other| other.name == name) {
            return Err(
                row.error(format!("the name {} should be unique in the file", quoted(&name)))
            );
        }
        stations.push(GroundStation { name, position });
    }
    if stations.is_empty() {
        return Err(FileError::whole(file, "contains no places; it should have a line for each"));
    }
    Ok(stations)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "name,type,latitude,longitude\n\"Adelanto, CA\",gateway,34.5828,-117.409\nAerzen,gateway,52.05,9.27\n";

    #[test]
    fn lists_are_read() {
        let stations = read("g.csv", LIST).unwrap();
        assert_eq!(stations.len(), 2);
        assert_eq!(stations[0].name, "Adelanto, CA");
        assert_eq!(stations[1].position, Geodetic::from_degrees(52.05, 9.27, 0.0));
    }

    #[test]
    fn wrong_lists_are_refused() {
        for (text, problem) in [
            (
                LIST.replace("52.05", "north"),
                "g.csv, line 3: latitude should be a number, found \"north\"",
            ),
            (LIST.replace("52.05", "95"), "line 3: Aerzen: latitude 95 is not from -90 to 90"),
            (LIST.replace("longitude", "lon"), "line 1: no column \"longitude\""),
            (LIST.replace("Aerzen", "\"Adelanto, CA\""), "should be unique in the file"),
            (LIST.replace(",9.27", ""), "line 3: not CSV"),
            ("name,latitude,longitude\n".to_owned(), "contains no places"),
        ] {
            let message = read("g.csv", &text).unwrap_err().to_string();
            assert!(message.contains(problem), "{message}");
        }
    }
}
