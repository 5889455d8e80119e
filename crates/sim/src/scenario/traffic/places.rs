//! The places of traffic, by name.

use std::path::Path;

use leobench_base::quantity::{Altitude, Latitude, Longitude};
use leobench_base::spec::{Fault, NAME, is_name, nearest, quoted};
use leobench_orbit::FileError;
use rustc_hash::{FxHashMap, FxHashSet};

use super::file::{self, Row};
use super::{PlaceSpec, TrafficSpec};

/// The key of the file of places.
const LIST: &str = "place_list";

/// A place with traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Its latitude, longitude and altitude, if `[traffic]` gives them.
    pub position: Option<(Latitude, Longitude, Altitude)>,
    /// Its inhabitants, if given.
    pub population: Option<f64>,
}

impl Place {
    fn new(name: &str, spec: &PlaceSpec) -> Self {
        let position = spec.latitude.zip(spec.longitude);
        Self {
            name: name.to_owned(),
            position: position.map(|(latitude, longitude)| (latitude, longitude, spec.altitude)),
            population: spec.population,
        }
    }

    fn listed(row: Row<'_>) -> Result<Self, FileError> {
        let name = row.text("name")?.to_owned();
        if !is_name(&name) {
            return Err(row.wrong(format!("the name {} should be {NAME}", quoted(&name))));
        }
        let wrong =
            |column: &str, allowed: &str| row.wrong(format!("{column} should be {allowed}"));
        let latitude = Latitude::new(row.number("latitude")?)
            .ok_or_else(|| wrong("latitude", "from -90 to 90 degrees"))?;
        let longitude = Longitude::new(row.number("longitude")?)
            .ok_or_else(|| wrong("longitude", "from -180 to 180 degrees"))?;
        let altitude = Altitude::new(row.number_if_any("altitude")?.unwrap_or(0.0))
            .ok_or_else(|| wrong("altitude", "a height of a place on the ground or in the air"))?;
        let population = row.number_if_any("population")?;
        if population.is_some_and(|population| population <= 0.0) {
            return Err(wrong("population", "above 0"));
        }
        Ok(Self { name, position: Some((latitude, longitude, altitude)), population })
    }
}

impl TrafficSpec {
    /// The places with traffic, in order. `named` are the names that the scenario has beside those of `[traffic]`: its nodes, or
    /// also its terminals and gateways.
    pub(super) fn places(&self, folder: &Path, named: &[&str]) -> Result<Vec<Place>, Fault> {
        let mut known: Vec<Place> =
            self.places.iter().map(|(name, place)| Place::new(name, place)).collect();
        if let Some(list) = &self.place_list {
            known.extend(listed(folder, list)?);
        }
        let mut numbers = FxHashMap::default();
        for (number, place) in known.iter().enumerate() {
            if numbers.insert(place.name.clone(), number).is_some() {
                let problem = format!("has the place `{}`, which is also in `places`", place.name);
                return Err(Fault::new(LIST, problem, "names that differ"));
            }
        }
        let Some(between) = &self.between else {
            if known.len() < 2 {
                let allowed = "two places at least: `places`, a `place_list`, or names (`between`)";
                return Err(Fault::new("places", "has no pair of places", allowed));
            }
            return Ok(known);
        };
        let mut chosen: Vec<Place> = Vec::with_capacity(between.len());
        for (index, name) in between.iter().enumerate() {
            let field = format!("between[{index}]");
            let place = match numbers.get(name) {
                Some(number) => known[*number].clone(),
                None if named.contains(&name.as_str()) => Place::new(name, &PlaceSpec::default()),
                None => {
                    let places = known.iter().map(|place| place.name.as_str());
                    return Err(unknown(
                        field,
                        name,
                        places.chain(named.iter().copied()).collect(),
                    ));
                }
            };
            if chosen.iter().any(|other| other.name == place.name) {
                return Err(Fault::new(field, "appears twice", "every place once"));
            }
            chosen.push(place);
        }
        Ok(chosen)
    }
}

/// The fault of a name that stands for no place.
pub(super) fn unknown(field: String, name: &str, mut words: Vec<&str>) -> Fault {
    words.sort_unstable();
    words.dedup();
    let hint = nearest(name, &words).map(|name| format!("; did you mean `{name}`?"));
    let some = words.iter().take(20).map(|word| format!("`{word}`")).collect::<Vec<_>>();
    let more = words.len() - some.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let allowed = format!("{}{more}{}", some.join(", "), hint.unwrap_or_default());
    Fault::new(field, "no such place", allowed)
}

fn listed(folder: &Path, list: &str) -> Result<Vec<Place>, Fault> {
    let allowed = "a CSV file with a place per line";
    file::read(folder, LIST, list, allowed, |rows| {
        let mut places = Vec::new();
        let mut names = FxHashSet::default();
        for row in rows.iter() {
            let place = Place::listed(row)?;
            if !names.insert(place.name.clone()) {
                return Err(row.wrong(format!("the name {} appears twice", quoted(&place.name))));
            }
            places.push(place);
        }
        Ok(places)
    })
}
