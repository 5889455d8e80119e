//! Positions of satellites, terminals and gateways over time.

use std::collections::HashMap;

use leobench_base::spec::{Fault, quoted};
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::{Ephemeris, Geodetic, SatelliteId, Vector};
use serde::Serialize;

use super::{KeepGoing, duration, no_orbit, passes_over};
use crate::satellite_links::{EarthStation, EarthStations, SatelliteLinks};
use crate::scenario::Scenario;

/// Positions of satellites, terminals and gateways during a run.
#[derive(Debug, Default, Serialize)]
pub struct Scene {
    /// A trajectory for each pass of a satellite; passes over several terminals that touch each other are one.
    pub satellites: Vec<Trajectory>,
    /// A trajectory for each terminal; a single point of one that rests.
    pub terminals: Vec<Trajectory>,
    /// A point for each gateway.
    pub gateways: Vec<Trajectory>,
}

/// Position of an object over time.
#[derive(Debug, Serialize)]
pub struct Trajectory {
    /// Its name.
    pub name: String,
    /// From when on it is there, in seconds of the run.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// Seconds of the run, and a position in metres in the frame of the Earth (ECEF).
    pub points: Vec<[f64; 4]>,
}

/// Returns all positions: a point every `interval` and at the ends of each trajectory; `None` without a constellation.
///
/// # Errors
/// If the constellation cannot be built or evaluated: the fault, by its place in the scenario.
pub fn scene(
    scenario: &Scenario,
    seed: u64,
    interval: SimDuration,
    keep_going: &mut KeepGoing<'_>,
) -> Result<Option<Scene>, Fault> {
    let Some(links) = SatelliteLinks::new(scenario, seed)? else { return Ok(None) };
    let end = SimTime::ZERO + duration(scenario)?;
    let still = |place: &EarthStation| {
        trajectory(&place.name, [SimTime::ZERO, end], None, |at| ecef(place, at))
    };
    let moving = |place: &EarthStation| {
        let interval = place.track.moves().then_some(interval);
        trajectory(&place.name, [SimTime::ZERO, end], interval, |at| ecef(place, at))
    };
    let EarthStations { terminals, gateways } = links.stations();
    Ok(Some(Scene {
        satellites: satellite_trajectories(&links, end, interval, keep_going)?,
        terminals: terminals.iter().map(moving).collect(),
        gateways: gateways.iter().map(still).collect(),
    }))
}

/// The trajectories of satellites of these names over the whole run, a point every `interval`; `None` without orbits.
///
/// # Errors
/// If the constellation cannot be built or evaluated, or has no such satellite: the fault, by its place in the scenario.
pub fn trajectories(
    scenario: &Scenario,
    seed: u64,
    interval: SimDuration,
    names: &[String],
    keep_going: &mut KeepGoing<'_>,
) -> Result<Option<Vec<Trajectory>>, Fault> {
    let Some(links) = SatelliteLinks::new(scenario, seed)? else { return Ok(None) };
    let Some(ephemeris) = links.ephemeris() else { return Ok(None) };
    let span = [SimTime::ZERO, SimTime::ZERO + duration(scenario)?];
    let numbers: HashMap<_, _> = links.names().iter().map(String::as_str).zip(0usize..).collect();
    let find = |name: &String| {
        let number = numbers.get(name.as_str()).copied();
        number.ok_or_else(|| {
            let problem = format!("has no satellite {}", quoted(name));
            Fault::new("constellation.satellites", problem, "the satellites of the run")
        })
    };
    let of = |name| path_of(&links, ephemeris, SatelliteId::from(find(name)?), span, interval);
    names.iter().take_while(|_| keep_going()).map(of).collect::<Result<_, _>>().map(Some)
}

/// Name of a satellite or station, and the latitude and longitude of the place below it in degrees.
pub type PlaceBelow = (String, [f64; 2]);

/// The places below satellites, and of stations, at a time of a run.
#[derive(Debug, Serialize)]
pub struct PlacesBelow {
    /// All satellites.
    pub satellites: Vec<PlaceBelow>,
    /// All terminals.
    pub terminals: Vec<PlaceBelow>,
    /// All gateways.
    pub gateways: Vec<PlaceBelow>,
}

/// The places below all satellites, and of stations, at a time of a run; none without orbits.
///
/// # Errors
/// If the constellation cannot be built or evaluated: the fault, by its place in the scenario.
pub fn places_below(
    scenario: &Scenario,
    seed: u64,
    at: SimTime,
) -> Result<Option<PlacesBelow>, Fault> {
    let Some(links) = SatelliteLinks::new(scenario, seed)? else { return Ok(None) };
    let Some(ephemeris) = links.ephemeris() else { return Ok(None) };
    let degrees = |place: Geodetic| [place.latitude.degrees(), place.longitude.degrees()];
    let below = |satellite: SatelliteId| {
        let state = ephemeris.exact(satellite, at);
        let below = Geodetic::from_ecef(state.map_err(|error| no_orbit(&error))?.position);
        Ok((links.name(satellite), degrees(below)))
    };
    let stations = |of: &[EarthStation]| {
        of.iter().map(|one| (one.name.clone(), degrees(one.track.place(at)))).collect()
    };
    let EarthStations { terminals, gateways } = links.stations();
    Ok(Some(PlacesBelow {
        satellites: (0..ephemeris.len())
            .map(|number| below(number.into()))
            .collect::<Result<_, _>>()?,
        terminals: stations(terminals),
        gateways: stations(gateways),
    }))
}

fn ecef(place: &EarthStation, at: SimTime) -> Vector {
    place.track.place(at).to_ecef()
}

/// The trajectories of satellites while a terminal sees them.
fn satellite_trajectories(
    links: &SatelliteLinks,
    end: SimTime,
    interval: SimDuration,
    keep_going: &mut KeepGoing<'_>,
) -> Result<Vec<Trajectory>, Fault> {
    let Some(ephemeris) = links.ephemeris() else { return Ok(Vec::new()) };
    let mut spans = Vec::new();
    for place in &links.stations().terminals {
        for pass in passes_over(ephemeris.clone(), place, end, keep_going) {
            let pass = pass.map_err(|error| no_orbit(&error))?;
            spans.push((pass.satellite, pass.rise, pass.set));
        }
    }
    spans.sort_unstable();
    let mut merged: Vec<(SatelliteId, SimTime, SimTime)> = Vec::new();
    for (satellite, rise, set) in spans {
        match merged.last_mut() {
            Some((last, _, until)) if *last == satellite && rise <= *until => {
                *until = set.max(*until);
            }
            _ => merged.push((satellite, rise, set)),
        }
    }
    let path = |(satellite, rise, set)| path_of(links, ephemeris, satellite, [rise, set], interval);
    merged.into_iter().map(path).collect()
}

/// The trajectory of a satellite.
fn path_of(
    links: &SatelliteLinks,
    ephemeris: &Ephemeris,
    satellite: SatelliteId,
    span: [SimTime; 2],
    interval: SimDuration,
) -> Result<Trajectory, Fault> {
    let mut outcome = Ok(());
    let points = trajectory(&links.name(satellite), span, Some(interval), |at| {
        let state = ephemeris.exact(satellite, at);
        state.map_or_else(
            |error| {
                outcome = Err(no_orbit(&error));
                Vector::default()
            },
            |state| state.position,
        )
    });
    outcome.map(|()| points)
}

/// Points at both ends, and every `interval` between if there is one.
fn trajectory(
    name: &str,
    [from, to]: [SimTime; 2],
    interval: Option<SimDuration>,
    mut position: impl FnMut(SimTime) -> Vector,
) -> Trajectory {
    let mut points = Vec::new();
    let mut now = from;
    loop {
        let Vector { x, y, z } = position(now);
        points.push([now.as_secs_f64(), x, y, z]);
        let Some(interval) = interval.filter(|_| now < to) else { break };
        now = (now + interval).min(to);
    }
    Trajectory { name: name.to_owned(), from_s: from.as_secs_f64(), to_s: to.as_secs_f64(), points }
}
