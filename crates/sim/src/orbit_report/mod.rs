//! Passes, handovers, and the state of each link through a constellation over time, without a network: what
//! `leobench orbit` shows.

mod routes;
mod rows;
mod scene;

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::serving::starlink;
use leobench_orbit::{
    Ephemeris, Geodetic, Observer, OrbitError, Pass, Passes, SatelliteId, Sighting,
};

use routes::Routes;
pub use rows::{HandoverRow, OrbitReport, PassRow, RouteRow, SampleRow, SlotRow, Station};
pub use scene::{PlaceBelow, PlacesBelow, Scene, Trajectory, places_below, scene, trajectories};

use crate::satellite_links::{EarthStation, SatelliteLinks};
use crate::scenario::Scenario;

/// Asked repeatedly whether to go on; if not, the rows so far are returned.
pub type KeepGoing<'a> = dyn FnMut() -> bool + 'a;

/// The time span of a report.
fn duration(scenario: &Scenario) -> Result<SimDuration, Fault> {
    let missing = || Fault::new("duration", "is required but missing", "a time above zero");
    scenario.spec.duration.ok_or_else(missing)
}

/// Returns the report of a scenario's constellation over its duration, with a sample every `interval`; `None` without a
/// constellation.
///
/// # Errors
/// The fault, with its place in the scenario.
pub fn report(
    scenario: &Scenario,
    seed: u64,
    interval: SimDuration,
    keep_going: &mut KeepGoing<'_>,
) -> Result<Option<OrbitReport>, Fault> {
    let Some(mut links) = SatelliteLinks::new(scenario, seed)? else { return Ok(None) };
    let duration = duration(scenario)?;
    let end = SimTime::ZERO + duration;
    let mut report = OrbitReport {
        start: links.start().to_string(),
        duration_s: duration.as_secs_f64(),
        satellites: links.ephemeris().map(Ephemeris::len),
        warnings: links.warnings().to_vec(),
        terminals: stations_of(&links.stations().terminals),
        gateways: stations_of(&links.stations().gateways),
        ..OrbitReport::default()
    };
    report.passes = passes(&links, end, keep_going)?;
    let mut observers = Vec::new();
    for path in 0..links.len() {
        let EarthStation { track, view, .. } = &links.stations().terminals[links.terminal(path)];
        observers.push((Observer::new(track.clone(), view.clone()), None));
    }
    let mut routes = Routes::default();
    let mut grids = Grids { sample: SimTime::ZERO, slot: first_slot(&links), interval };
    loop {
        let now = links.now();
        handovers(&links, &mut report.handovers);
        routes.follow(&links, &mut report.routes);
        if now >= grids.sample {
            samples(&links, &mut report.samples);
        }
        if now >= grids.slot {
            slots(&links, &mut observers, &mut report.slots);
        }
        grids.pass(now);
        if now >= end || !keep_going() {
            return Ok(Some(report));
        }
        let next = links.next_move().min(grids.sample).min(grids.slot).min(end);
        links.advance(next);
        links.forget_transit();
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
fn first_slot(links: &SatelliteLinks) -> SimTime {
    match starlink::into_slot(links.start()) {
        SimDuration::ZERO => SimTime::ZERO,
        past => SimTime::ZERO + (starlink::PERIOD - past),
    }
}

fn stations_of(places: &[EarthStation]) -> Vec<Station> {
    let station = |place: &EarthStation| {
        let at = place.track.place(SimTime::ZERO);
        Station {
            name: place.name.clone(),
            latitude: at.latitude.degrees(),
            longitude: at.longitude.degrees(),
            lowest_deg: place.view.lowest.degrees(),
        }
    };
    places.iter().map(station).collect()
}

fn passes(
    links: &SatelliteLinks,
    end: SimTime,
    keep_going: &mut KeepGoing<'_>,
) -> Result<Vec<PassRow>, Fault> {
    let mut rows = Vec::new();
    let Some(ephemeris) = links.ephemeris() else { return Ok(rows) };
    for place in &links.stations().terminals {
        for pass in passes_over(ephemeris.clone(), place, end, keep_going) {
            let pass = pass.map_err(|error| no_orbit(&error))?;
            rows.push(PassRow {
                terminal: place.name.clone(),
                satellite: links.name(pass.satellite),
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
    place: &EarthStation,
    end: SimTime,
    keep_going: &mut KeepGoing<'_>,
) -> Vec<Result<Pass, OrbitError>> {
    let observer = Observer::new(place.track.clone(), place.view.clone());
    let passes = Passes::new(&mut ephemeris, observer, SimTime::ZERO, end);
    passes.take_while(|_| keep_going()).collect()
}

fn no_orbit(error: &OrbitError) -> Fault {
    let allowed = "satellites with orbits during the run";
    Fault::new("constellation.satellites", error.to_string(), allowed)
}

fn handovers(links: &SatelliteLinks, rows: &mut Vec<HandoverRow>) {
    rows.extend(links.serving_changes().iter().map(|step| HandoverRow {
        t_s: links.now().as_secs_f64(),
        link: links.link(step.path).to_owned(),
        from: step.from.map(|satellite| links.name(satellite)),
        to: step.to.map(|satellite| links.name(satellite)),
        outage_ms: step.outage.as_millis_f64(),
    }));
}

fn samples(links: &SatelliteLinks, rows: &mut Vec<SampleRow>) {
    for path in 0..links.len() {
        let state = links.state(path);
        let way = state.way.as_ref();
        let below = way
            .zip(links.ephemeris())
            .map(|(way, ephemeris)| Geodetic::from_ecef(ephemeris.position(way.satellite)));
        let [uplink_mbps, downlink_mbps] = state.rates.map(|rate| rate.bps() as f64 / 1e6);
        let [uplink_db, downlink_db] = state.carrier_to_noise;
        let loss = state.fit.as_ref().map(|fit| fit.loss);
        let gateway = way.and_then(|way| way.gateway);
        rows.push(SampleRow {
            t_s: links.now().as_secs_f64(),
            link: links.link(path).to_owned(),
            satellite: way.map(|way| links.name(way.satellite)),
            gateway: gateway.map(|number| links.stations().gateways[number].name.clone()),
            azimuth_deg: way.map(|way| way.azimuth_deg),
            elevation_deg: way.map(|way| way.elevation_deg),
            range_km: way.map(|way| way.range_m / 1e3),
            hops: way.map(|way| way.hops),
            delay_ms: state.delays().map(|[there, _]| there.as_millis_f64()),

            uplink_mbps,
            downlink_mbps,
            uplink_loss: loss.map(|[there, _]| there),
            downlink_loss: loss.map(|[_, back]| back),
            uplink_db,
            downlink_db,
            latitude: below.map(|place| place.latitude.degrees()),
            longitude: below.map(|place| place.longitude.degrees()),
        });
    }
}

/// An observer at the terminal of a link, and the satellite that served it at the slot before.
type Watch = (Observer, Option<SatelliteId>);

fn slots(links: &SatelliteLinks, observers: &mut [Watch], rows: &mut Vec<SlotRow>) {
    let (Some(ephemeris), Some(grid)) = (links.ephemeris(), links.grid()) else { return };
    let mut seen: Vec<Sighting> = Vec::new();
    for (path, (observer, before)) in observers.iter_mut().enumerate() {
        observer.follow(ephemeris, grid);
        observer.look(ephemeris, &mut seen);
        let Some(way) = &links.state(path).way else {
            *before = None;
            continue;
        };
        let serving = seen.iter().find(|one| one.satellite == way.satellite);
        let highest = seen.iter().max_by(|one, other| {
            one.look.elevation.radians().total_cmp(&other.look.elevation.radians())
        });
        let separation = serving.map(|serving| observer.arc_separation(&serving.look).degrees());
        rows.push(SlotRow {
            t_s: links.now().as_secs_f64(),
            link: links.link(path).to_owned(),
            candidates: seen.len(),
            highest: highest.is_some_and(|one| one.satellite == way.satellite),
            kept: before.map(|before| before == way.satellite),
            separation_deg: separation.unwrap_or(f64::NAN),
        });
        *before = Some(way.satellite);
    }
}
