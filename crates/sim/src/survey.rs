//! A look at a constellation without a network: passes, handovers, and what each link through it offers over time.

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::serving::starlink;
use leobench_orbit::{
    Ephemeris, Geodetic, Observer, OrbitError, Pass, Passes, SatelliteId, Sighting, Vector,
};
use serde::Serialize;

use crate::scenario::Scenario;
use crate::sky::{Place, Places, Sky};

/// Passes, handovers and link states of a constellation during a run.
#[derive(Debug, Default, Serialize)]
pub struct Survey {
    /// The instant at which the run starts.
    pub start: String,
    /// How long it takes, in seconds.
    pub duration_s: f64,
    /// Number of satellites; none of a chain, which has no end.
    pub satellites: Option<usize>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Terminals.
    pub terminals: Vec<Spot>,
    /// Gateways.
    pub gateways: Vec<Spot>,
    /// Passes over each terminal, by terminal, then by set.
    pub passes: Vec<PassRow>,
    /// Changes of serving satellites.
    pub handovers: Vec<HandoverRow>,
    /// States of the links over time.
    pub samples: Vec<SampleRow>,
    /// The choice at each slot of 15 s.
    pub slots: Vec<SlotRow>,
}

/// A place on the ground.
#[derive(Debug, Serialize)]
pub struct Spot {
    /// Its name.
    pub name: String,
    /// In degrees.
    pub latitude: f64,
    /// In degrees.
    pub longitude: f64,
    /// Lowest elevation at which it uses satellites, in degrees.
    pub lowest_deg: f64,
}

/// A pass of a satellite over a terminal.
#[derive(Debug, Serialize)]
pub struct PassRow {
    /// The terminal.
    pub terminal: String,
    /// The satellite.
    pub satellite: String,
    /// When it comes into use, in seconds of the run.
    pub rise_s: f64,
    /// When it goes out of use.
    pub set_s: f64,
    /// Highest elevation, in degrees.
    pub highest_deg: f64,
    /// Shortest distance, in km.
    pub closest_km: f64,
}

/// A change of the serving satellite of a link.
#[derive(Debug, Serialize)]
pub struct HandoverRow {
    /// In seconds of the run.
    pub t_s: f64,
    /// The link.
    pub link: String,
    /// The satellite before; none at first, and after a gap.
    pub from: Option<String>,
    /// The satellite from then on; none if there is none.
    pub to: Option<String>,
    /// Time in which packets wait, in milliseconds.
    pub outage_ms: f64,
}

/// State of a link at an instant.
#[derive(Debug, Serialize)]
pub struct SampleRow {
    /// In seconds of the run.
    pub t_s: f64,
    /// The link.
    pub link: String,
    /// The serving satellite; without one, the rest is missing.
    pub satellite: Option<String>,
    /// The gateway.
    pub gateway: Option<String>,
    /// Azimuth in degrees from north over east.
    pub azimuth_deg: Option<f64>,
    /// Elevation in degrees.
    pub elevation_deg: Option<f64>,
    /// Distance in km.
    pub range_km: Option<f64>,
    /// Links between satellites on the way.
    pub hops: Option<usize>,
    /// Delay one way in milliseconds, without the link's own.
    pub delay_ms: Option<f64>,
    /// Rate from the terminal, in Mbit/s.
    pub uplink_mbps: f64,
    /// Rate to the terminal, in Mbit/s.
    pub downlink_mbps: f64,
    /// Carrier over noise from the terminal, in dB.
    pub uplink_db: Option<f64>,
    /// Carrier over noise to the terminal, in dB.
    pub downlink_db: Option<f64>,
    /// Latitude below the satellite, in degrees.
    pub latitude: Option<f64>,
    /// Longitude below the satellite, in degrees.
    pub longitude: Option<f64>,
}

/// The choice of a link at a slot of Starlink's grid.
#[derive(Debug, Serialize)]
pub struct SlotRow {
    /// In seconds of the run.
    pub t_s: f64,
    /// The link.
    pub link: String,
    /// Satellites that the terminal sees.
    pub candidates: usize,
    /// Whether the highest of them serves.
    pub highest: bool,
    /// Whether the same satellite serves as at the slot before; missing at the first.
    pub kept: Option<bool>,
    /// Angle between the serving satellite and the arc of the geostationary ones, in degrees.
    pub separation_deg: f64,
}

/// Positions of satellites, terminals and gateways during a run.
#[derive(Debug, Default, Serialize)]
pub struct Scene {
    /// A way for each pass of a satellite; passes over several terminals that touch each other are one.
    pub satellites: Vec<Way>,
    /// A way for each terminal; a single point of one that rests.
    pub terminals: Vec<Way>,
    /// A point for each gateway.
    pub gateways: Vec<Way>,
}

/// Position of an object over time.
#[derive(Debug, Serialize)]
pub struct Way {
    /// Its name.
    pub name: String,
    /// From when on it is there, in seconds of the run.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// Seconds of the run, and a position in metres in the frame of the Earth (ECEF).
    pub points: Vec<[f64; 4]>,
}

/// Asked time and again whether to go on; where not, what there is so far is returned.
pub type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// Returns all positions: a point every `interval` and at the ends of each way; `None` without a constellation.
///
/// # Errors
/// If the constellation cannot be built or evaluated: the fault, by its place in the scenario.
pub fn scene(
    scenario: &Scenario,
    seed: u64,
    interval: SimDuration,
    go_on: &mut GoOn<'_>,
) -> Result<Option<Scene>, Fault> {
    let Some(sky) = Sky::new(scenario, seed)? else { return Ok(None) };
    let end = SimTime::ZERO + duration(scenario)?;
    let still = |place: &Place| way(&place.name, [SimTime::ZERO, end], None, |at| ecef(place, at));
    let moving = |place: &Place| {
        let interval = place.track.moves().then_some(interval);
        way(&place.name, [SimTime::ZERO, end], interval, |at| ecef(place, at))
    };
    let Places { terminals, gateways } = sky.places();
    Ok(Some(Scene {
        satellites: satellites(&sky, end, interval, go_on)?,
        terminals: terminals.iter().map(moving).collect(),
        gateways: gateways.iter().map(still).collect(),
    }))
}

fn ecef(place: &Place, at: SimTime) -> Vector {
    place.track.place(at).to_ecef()
}

/// The ways of satellites while a terminal sees them.
fn satellites(
    sky: &Sky,
    end: SimTime,
    interval: SimDuration,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Way>, Fault> {
    let Some(ephemeris) = sky.ephemeris() else { return Ok(Vec::new()) };
    let mut spans = Vec::new();
    for place in &sky.places().terminals {
        for pass in passes_over(ephemeris.clone(), place, end, go_on) {
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
    let ways = merged.into_iter().map(|(satellite, rise, set)| {
        let mut outcome = Ok(());
        let points = way(&sky.name(satellite), [rise, set], Some(interval), |at| {
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
    ways.collect()
}

/// Points at both ends, and every `interval` between if there is one.
fn way(
    name: &str,
    [from, to]: [SimTime; 2],
    interval: Option<SimDuration>,
    mut position: impl FnMut(SimTime) -> Vector,
) -> Way {
    let mut points = Vec::new();
    let mut now = from;
    loop {
        let Vector { x, y, z } = position(now);
        points.push([now.as_secs_f64(), x, y, z]);
        let Some(interval) = interval.filter(|_| now < to) else { break };
        now = (now + interval).min(to);
    }
    Way { name: name.to_owned(), from_s: from.as_secs_f64(), to_s: to.as_secs_f64(), points }
}

/// How long the sky is looked at.
fn duration(scenario: &Scenario) -> Result<SimDuration, Fault> {
    let missing = || Fault::new("duration", "is required but missing", "a time above zero");
    scenario.spec.duration.ok_or_else(missing)
}

/// Looks at the constellation of a scenario for its duration, a sample every `interval`; `None` if it has none.
///
/// # Errors
/// What is wrong, by its place in the scenario.
pub fn survey(
    scenario: &Scenario,
    seed: u64,
    interval: SimDuration,
    go_on: &mut GoOn<'_>,
) -> Result<Option<Survey>, Fault> {
    let Some(mut sky) = Sky::new(scenario, seed)? else { return Ok(None) };
    let duration = duration(scenario)?;
    let end = SimTime::ZERO + duration;
    let mut survey = Survey {
        start: sky.start().to_string(),
        duration_s: duration.as_secs_f64(),
        satellites: sky.ephemeris().map(Ephemeris::len),
        warnings: sky.warnings().to_vec(),
        terminals: spots(&sky.places().terminals),
        gateways: spots(&sky.places().gateways),
        ..Survey::default()
    };
    survey.passes = passes(&sky, end, go_on)?;
    let mut observers = Vec::new();
    for path in 0..sky.len() {
        let Place { track, view, .. } = &sky.places().terminals[sky.terminal(path)];
        observers.push((Observer::new(track.clone(), view.clone()), None));
    }
    let mut grids = Grids { sample: SimTime::ZERO, slot: first_slot(&sky), interval };
    loop {
        let now = sky.now();
        handovers(&sky, &mut survey.handovers);
        if now >= grids.sample {
            samples(&sky, &mut survey.samples);
        }
        if now >= grids.slot {
            slots(&sky, &mut observers, &mut survey.slots);
        }
        grids.pass(now);
        if now >= end || !go_on() {
            return Ok(Some(survey));
        }
        let next = sky.next().min(grids.sample).min(grids.slot).min(end);
        sky.advance(next);
    }
}

/// When samples are taken, and slots begin.
struct Grids {
    sample: SimTime,
    slot: SimTime,
    interval: SimDuration,
}

impl Grids {
    fn pass(&mut self, now: SimTime) {
        while self.sample <= now {
            self.sample += self.interval;
        }
        while self.slot <= now {
            self.slot += starlink::PERIOD;
        }
    }
}

/// The first slot of Starlink's grid in the run.
fn first_slot(sky: &Sky) -> SimTime {
    match starlink::into_slot(sky.start()) {
        SimDuration::ZERO => SimTime::ZERO,
        past => SimTime::ZERO + (starlink::PERIOD - past),
    }
}

fn spots(places: &[Place]) -> Vec<Spot> {
    let spot = |place: &Place| {
        let at = place.track.place(SimTime::ZERO);
        Spot {
            name: place.name.clone(),
            latitude: at.latitude.degrees(),
            longitude: at.longitude.degrees(),
            lowest_deg: place.view.lowest.degrees(),
        }
    };
    places.iter().map(spot).collect()
}

fn passes(sky: &Sky, end: SimTime, go_on: &mut GoOn<'_>) -> Result<Vec<PassRow>, Fault> {
    let mut rows = Vec::new();
    let Some(ephemeris) = sky.ephemeris() else { return Ok(rows) };
    for place in &sky.places().terminals {
        for pass in passes_over(ephemeris.clone(), place, end, go_on) {
            let pass = pass.map_err(|error| no_orbit(&error))?;
            rows.push(PassRow {
                terminal: place.name.clone(),
                satellite: sky.name(pass.satellite.index()),
                rise_s: pass.rise.as_secs_f64(),
                set_s: pass.set.as_secs_f64(),
                highest_deg: pass.highest.degrees(),
                closest_km: pass.closest_m / 1e3,
            });
        }
    }
    Ok(rows)
}

/// The passes over a terminal.
fn passes_over(
    mut ephemeris: Ephemeris,
    place: &Place,
    end: SimTime,
    go_on: &mut GoOn<'_>,
) -> Vec<Result<Pass, OrbitError>> {
    let observer = Observer::new(place.track.clone(), place.view.clone());
    let passes = Passes::new(&mut ephemeris, observer, SimTime::ZERO, end);
    passes.take_while(|_| go_on()).collect()
}

fn no_orbit(error: &OrbitError) -> Fault {
    let allowed = "satellites with orbits during the run";
    Fault::new("constellation.satellites", error.to_string(), allowed)
}

fn handovers(sky: &Sky, rows: &mut Vec<HandoverRow>) {
    rows.extend(sky.moves().iter().map(|step| HandoverRow {
        t_s: sky.now().as_secs_f64(),
        link: sky.link(step.path).to_owned(),
        from: step.from.map(|satellite| sky.name(satellite)),
        to: step.to.map(|satellite| sky.name(satellite)),
        outage_ms: step.outage.as_millis_f64(),
    }));
}

fn samples(sky: &Sky, rows: &mut Vec<SampleRow>) {
    for path in 0..sky.len() {
        let state = sky.state(path);
        let way = state.way.as_ref();
        let below = way.zip(sky.ephemeris()).map(|(way, ephemeris)| {
            Geodetic::from_ecef(ephemeris.position(SatelliteId::from(way.satellite)))
        });
        let [uplink_mbps, downlink_mbps] = state.rates.map(|rate| rate.bps() as f64 / 1e6);
        let gateway = way.and_then(|way| way.gateway);
        rows.push(SampleRow {
            t_s: sky.now().as_secs_f64(),
            link: sky.link(path).to_owned(),
            satellite: way.map(|way| sky.name(way.satellite)),
            gateway: gateway.map(|number| sky.places().gateways[number].name.clone()),
            azimuth_deg: way.map(|way| way.azimuth_deg),
            elevation_deg: way.map(|way| way.elevation_deg),
            range_km: way.map(|way| way.range_m / 1e3),
            hops: way.map(|way| way.hops),
            delay_ms: way.map(|way| way.delay.as_millis_f64()),
            uplink_mbps,
            downlink_mbps,
            uplink_db: state.carrier_to_noise[0],
            downlink_db: state.carrier_to_noise[1],
            latitude: below.map(|place| place.latitude.degrees()),
            longitude: below.map(|place| place.longitude.degrees()),
        });
    }
}

/// An observer at the terminal of a link, and the satellite that served it at the slot before.
type Watch = (Observer, Option<usize>);

fn slots(sky: &Sky, observers: &mut [Watch], rows: &mut Vec<SlotRow>) {
    let (Some(ephemeris), Some(grid)) = (sky.ephemeris(), sky.grid()) else { return };
    let mut seen: Vec<Sighting> = Vec::new();
    for (path, (observer, before)) in observers.iter_mut().enumerate() {
        observer.follow(ephemeris, grid);
        observer.look(ephemeris, &mut seen);
        let Some(way) = &sky.state(path).way else {
            *before = None;
            continue;
        };
        let serving = seen.iter().find(|one| one.satellite.index() == way.satellite);
        let highest = seen.iter().max_by(|one, other| {
            one.look.elevation.radians().total_cmp(&other.look.elevation.radians())
        });
        let separation = serving.map(|serving| observer.arc_separation(&serving.look).degrees());
        rows.push(SlotRow {
            t_s: sky.now().as_secs_f64(),
            link: sky.link(path).to_owned(),
            candidates: seen.len(),
            highest: highest.is_some_and(|one| one.satellite.index() == way.satellite),
            kept: before.map(|before| before == way.satellite),
            separation_deg: separation.unwrap_or(f64::NAN),
        });
        *before = Some(way.satellite);
    }
}
