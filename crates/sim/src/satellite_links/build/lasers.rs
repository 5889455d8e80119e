//! The links between satellites of a scenario, and the routes over them.

use leobench_base::quantity::Distance;
use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::isl::layout::range::RangeSpec;
use leobench_orbit::isl::{self, Arrangements, LayoutModel};
use leobench_orbit::{
    Angle, Ephemeris, LayoutSpec, Limits, OrbitError, Router, SatelliteGrid, SatelliteId,
};

use super::super::stations::{EarthStation, EarthStations};
use super::Passage;
use crate::scenario::{IslSpec, Scenario, text_of};

/// The farthest range that an error suggests, in metres.
const FARTHEST: f64 = 15e6;
/// Pairs of places that an error names.
const NAMED: usize = 3;

/// A router to so many destinations over the links between satellites, as they are set up during a run of some length.
pub(super) fn router(
    scenario: &Scenario,
    spec: &IslSpec,
    (ephemeris, length): (&mut Ephemeris, SimDuration),
    (stations, passages): (&EarthStations, &[Passage<'_>]),
    destinations: usize,
) -> Result<Router, Fault> {
    let count = ephemeris.len();
    let limits = Limits {
        longest_m: spec.longest.map_or(f64::INFINITY, Distance::m),
        clearance_m: spec.clearance.m(),
        highest_latitude: spec.highest_latitude.map(|angle| Angle::from_degrees(angle.degrees())),
    };
    let routing = spec.routing.model().build(count, destinations);
    let arrangements = match &spec.file {
        Some(file) => {
            let text = text_of(&scenario.folder, "isl.file", file)?;
            let allowed = "pairs of satellite numbers";
            let links = isl::read_pairs(file, &text, count)
                .map_err(|error| Fault::new("isl.file", error.to_string(), allowed))?;
            if links.is_empty() {
                return Err(Fault::new("isl.file", "has no links", allowed));
            }
            Arrangements::fixed(links)
        }
        None => arrange(spec.layout.model(), limits, ephemeris, SimTime::ZERO + length)?,
    };
    let router = Router::arranged(count, arrangements, limits, destinations).routed_by(routing);
    if let (LayoutSpec::Range(range), None) = (&spec.layout, &spec.file) {
        let places = places(ephemeris, stations, passages);
        Ranged { range, limits, places }.check(ephemeris)?;
    }
    Ok(router)
}

fn arrange(
    layout: &dyn LayoutModel,
    limits: Limits,
    ephemeris: &mut Ephemeris,
    until: SimTime,
) -> Result<Arrangements, Fault> {
    let layout = layout.build(ephemeris.constellation(), limits).map_err(|fault| {
        let allowed = format!("{}, or `isl.file`", fault.allowed);
        Fault::new("isl", fault.problem, allowed)
    })?;
    let orbit = |error: OrbitError| {
        Fault::new("satellites", error.to_string(), "satellites with orbits during the run")
    };
    Arrangements::ahead(layout, ephemeris, until).map_err(orbit)
}

/// The two ends of a link: its terminal and its gateways, by name, with the satellites that they see.
struct Pair {
    names: [String; 2],
    seen: [Vec<SatelliteId>; 2],
}

/// The ends of all links at the start of the run, each pair once.
fn places(ephemeris: &Ephemeris, stations: &EarthStations, passages: &[Passage<'_>]) -> Vec<Pair> {
    let mut grid = SatelliteGrid::default();
    grid.refresh(ephemeris);
    let seen = |station: &EarthStation| {
        let (mut observer, mut seen) = (station.observer(), Vec::new());
        observer.follow(ephemeris, &grid);
        observer.look(ephemeris, &mut seen);
        seen.into_iter().map(|sighting| sighting.satellite)
    };
    let mut pairs: Vec<Pair> = Vec::new();
    for passage in passages {
        let terminal = &stations.terminals[passage.terminal];
        let gateways = || passage.gateways.iter().map(|number| &stations.gateways[*number]);
        let names: Vec<_> = gateways().map(|gateway| gateway.name.as_str()).collect();
        let names = [terminal.name.clone(), names.join("`/`")];
        if !pairs.iter().any(|pair| pair.names == names) {
            let seen = [seen(terminal).collect(), gateways().flat_map(seen).collect()];
            pairs.push(Pair { names, seen });
        }
    }
    pairs
}

/// A range, and the pairs of places that it has to join.
struct Ranged<'a> {
    range: &'a RangeSpec,
    limits: Limits,
    places: Vec<Pair>,
}

impl Ranged<'_> {
    /// Refuses a range that leaves a link without a way at the start, although both its ends see satellites.
    fn check(&self, ephemeris: &mut Ephemeris) -> Result<(), Fault> {
        let apart = self.separated(self.range, ephemeris)?;
        if apart.is_empty() {
            return Ok(());
        }
        let named: Vec<_> = apart
            .iter()
            .take(NAMED)
            .map(|pair| format!("`{}` and `{}`", pair.names[0], pair.names[1]))
            .collect();
        let more = apart.len().checked_sub(NAMED + 1);
        let more = more.map_or(String::new(), |more| format!(", and {} more pairs", more + 1));
        let problem = format!(
            "leaves no way between {}{more} at the start of the run",
            named.join(", between ")
        );
        let lasers = self.range.lasers.get();
        let allowed = match self.joining(ephemeris)? {
            Some(range_km) => {
                format!("{range_km} km or more with {lasers} lasers per satellite, or more lasers")
            }
            None => format!("more than {lasers} `lasers`, or the layout `plus_grid`"),
        };
        Err(Fault::new("isl.layout.range", problem, allowed))
    }

    /// The pairs between which there is no way at the start.
    fn separated(&self, range: &RangeSpec, ephemeris: &mut Ephemeris) -> Result<Vec<&Pair>, Fault> {
        let arrangements = arrange(range, self.limits, ephemeris, SimTime::ZERO)?;
        let mut router = Router::arranged(ephemeris.len(), arrangements, self.limits, 0);
        router.update(ephemeris);
        let components = router.components();
        let is_apart = |pair: &&Pair| !components.separated(&pair.seen).is_empty();
        Ok(self.places.iter().filter(is_apart).collect())
    }

    /// A longer range that joins all pairs, in kilometres; not the shortest one, as links compete for lasers.
    fn joining(&self, ephemeris: &mut Ephemeris) -> Result<Option<f64>, Fault> {
        let mut range_km = self.range.range.m() / 1e3;
        loop {
            range_km = (range_km * 1.1 / 50.0).ceil() * 50.0;
            if range_km * 1e3 > FARTHEST.min(self.limits.longest_m) {
                return Ok(None);
            }
            let longer =
                RangeSpec { range: Distance::constant(range_km * 1e3), ..self.range.clone() };
            if self.separated(&longer, ephemeris)?.is_empty() {
                return Ok(Some(range_km));
            }
        }
    }
}
