//! Positions of satellites, terminals and gateways over time.

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::{Geodetic, SatelliteId, Vector};
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

/// Name of a satellite, and the latitude and longitude of the place below it in degrees.
pub type PlaceBelow = (String, [f64; 2]);

/// The places below all satellites at a time of a run, by name: latitude and longitude in degrees; none without orbits.
///
/// # Errors
/// If the constellation cannot be built or evaluated: the fault, by its place in the scenario.
pub fn places_below(
    scenario: &Scenario,
    seed: u64,
    at: SimTime,
) -> Result<Option<Vec<PlaceBelow>>, Fault> {
    let Some(links) = SatelliteLinks::new(scenario, seed)? else { return Ok(None) };
    let Some(ephemeris) = links.ephemeris() else { return Ok(None) };
    let place = |number: usize| {
        let state = ephemeris.exact(SatelliteId::from(number), at);
        let below = Geodetic::from_ecef(state.map_err(|error| no_orbit(&error))?.position);
        Ok((links.name(number), [below.latitude.degrees(), below.longitude.degrees()]))
    };
    (0..ephemeris.len()).map(place).collect::<Result<_, _>>().map(Some)
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
            spans.push((pass.satellite.index(), pass.rise, pass.set));
        }
    }
    spans.sort_unstable();
    let mut merged: Vec<(usize, SimTime, SimTime)> = Vec::new();
    for (satellite, rise, set) in spans {
        match merged.last_mut() {
            Some((last, _, until)) if *last == satellite && rise <= *until => {
                *until = set.max(*until);
            }
            _ => merged.push((satellite, rise, set)),
        }
    }
    let trajectories = merged.into_iter().map(|(satellite, rise, set)| {
        let mut outcome = Ok(());
        let points = trajectory(&links.name(satellite), [rise, set], Some(interval), |at| {
            let state = ephemeris.exact(SatelliteId::from(satellite), at);
            state.map_or_else(
                |error| {
                    outcome = Err(no_orbit(&error));
                    Vector::default()
                },
                |state| state.position,
            )
        });
        outcome.map(|()| points)
    });
    trajectories.collect()
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
