//! The links through a constellation, from a scenario.

mod forwarded;
mod lasers;
mod transit;

use std::sync::Arc;

use leobench_base::quantity::Elevation;
use leobench_base::spec::Fault;
use leobench_base::{BitRate, LinkId, Phase, RngTree, SimDuration, SimTime};
use leobench_budget::{Budget, BudgetSpec, Cell};
use leobench_orbit::frame::EQUATOR_RADIUS;
use leobench_orbit::serving::on_grid::OnGrid;
use leobench_orbit::serving::{PolicyContext, PolicySpec, Signal};
use leobench_orbit::{
    Assignment, Constellation, Ephemeris, Epoch, GatewayId, Gateways, HandoverCost, ServingPolicy,
    Sighting, Terminal,
};

use self::lasers::router;
use super::chain::ChainLinks;
use super::orbits::{LinkGateway, OrbitLinks, Routing};
use super::rate::{Rate, Rates, carrier_to_noise};
use super::stations::{EarthStation, find, stations_of};
use super::{EarthStations, Kind, LinkState, SatelliteLink, SatelliteLinks, WayState};
use crate::scenario::{
    ConstellationSpec, Direction, IslSpec, LinkSpec, PassageSpec, Satellites, Scenario,
};

/// Lowest elevation of terminals where neither scenario nor preset gives one, in degrees (Starlink's filing, see `presets`).
const LOWEST: f64 = 25.0;

/// A link through the constellation in the scenario.
struct Passage<'a> {
    number: usize,
    name: &'a str,
    link: &'a LinkSpec,
    spec: &'a PassageSpec,
    terminal: usize,
    gateways: Vec<usize>,
}

impl Passage<'_> {
    /// A fault of a key in its table.
    fn fault(&self, fault: Fault) -> Fault {
        fault.within(&format!("links.{}.constellation", self.name))
    }
}

pub(super) fn build(
    scenario: &Scenario,
    spec: &ConstellationSpec,
    rng: &RngTree,
) -> Result<SatelliteLinks, Fault> {
    let (folder, start) = (scenario.folder.as_path(), spec.start.0);
    let length = scenario.spec.longest() + scenario.spec.foresight() + spec.knots * 2;
    let satellites = spec.satellites.model().build(folder, start, length);
    let satellites = satellites.map_err(|fault| fault.within("constellation.satellites"))?;
    let satellites = match satellites {
        Satellites::Forwarded(network) => {
            return forwarded::build(scenario, spec, *network, rng);
        }
        others => others,
    };
    let preset = match &satellites {
        Satellites::Orbits { lowest, .. } => *lowest,
        Satellites::Chain(..) | Satellites::Forwarded(_) => None,
    };
    let lowest = spec.lowest_elevation.map_or(preset.unwrap_or(LOWEST), Elevation::degrees);
    let stations = stations_of(folder, spec, lowest)?;
    let passages = passages(scenario, &stations)?;
    let mut paths = Vec::new();
    for passage in &passages {
        paths.push(path(scenario, &stations, passage, rng)?);
    }
    let is_chain = matches!(satellites, Satellites::Chain(..));
    let (kind, names, warnings) = match satellites {
        Satellites::Chain(chain, reading, phase) => {
            let subflows = passages.iter().map(|passage| subflow(passage, is_chain));
            let subflows = subflows.collect::<Result<Vec<_>, _>>()?;
            let gap = [&spec.outage, &spec.overlap];
            let gap = gap.map(|span| SimDuration::from_nanos(span.mean().round() as u64));
            let phase = match phase {
                Phase::Fixed(phase) => phase,
                Phase::Random => {
                    let cycle = chain.cycle(reading);
                    cycle + phase.within(cycle, &rng.child("chain"))
                }
            };
            let satellites =
                ChainLinks::new((chain, reading, phase), subflows, gap, spec.satellite.is_none());
            (Kind::Chain(Box::new(satellites)), Vec::new(), Vec::new())
        }
        Satellites::Orbits { constellation, warnings, .. } => {
            for passage in &passages {
                subflow(passage, is_chain)?;
            }
            let names = constellation.satellites().iter().map(|one| one.name.clone()).collect();
            let kind = if spec.has_hops() {
                let along = (constellation, length);
                let satellites = transit::build(scenario, spec, along, &stations, &passages, rng)?;
                Kind::Transit(Box::new(satellites))
            } else {
                let along = (constellation, length);
                let satellites = orbits(scenario, spec, along, &stations, &passages, rng)?;
                Kind::Orbits(Box::new(satellites))
            };
            (kind, names, warnings)
        }
        Satellites::Forwarded(_) => unreachable!("it is built on its own"),
    };
    Ok(SatelliteLinks { names, warnings, ..links(spec, kind, paths, stations) })
}

/// The links before a run, through satellites without names.
fn links(
    spec: &ConstellationSpec,
    kind: Kind,
    paths: Vec<SatelliteLink>,
    stations: EarthStations,
) -> SatelliteLinks {
    SatelliteLinks {
        kind,
        states: paths.iter().map(|_| LinkState::default()).collect(),
        paths,
        serving_changes: Vec::new(),
        step: spec.step,
        start: spec.start.0,
        now: SimTime::ZERO,
        names: Vec::new(),
        stations,
        warnings: Vec::new(),
        queues: spec.satellite.is_some(),
    }
}

/// The subflow of a link on a chain; only there it has one.
fn subflow(passage: &Passage<'_>, is_chain: bool) -> Result<usize, Fault> {
    match (passage.spec.subflow, is_chain) {
        (Some(subflow), true) => Ok(subflow.get() as usize),
        (None, false) => Ok(0),
        (None, true) => {
            let fault = Fault::new("subflow", "is required with a `chain` but missing", "0 or 1");
            Err(passage.fault(fault))
        }
        (Some(_), false) => {
            let allowed = "`satellites` of the kind `chain`, or no `subflow`";
            Err(passage.fault(Fault::new("subflow", "applies only to a `chain`", allowed)))
        }
    }
}

fn passages<'a>(
    scenario: &'a Scenario,
    stations: &EarthStations,
) -> Result<Vec<Passage<'a>>, Fault> {
    let links = scenario.spec.links.iter().enumerate();
    let with = links.filter_map(|(number, (name, link))| {
        link.constellation.as_ref().map(|spec| (number, name.as_str(), link, spec))
    });
    let mut all = Vec::new();
    for (number, name, link, spec) in with {
        let at = |fault: Fault| fault.within(&format!("links.{name}.constellation"));
        let terminal = find("terminal".into(), "terminal", &spec.terminal, &stations.terminals);
        let terminal = terminal.map_err(at)?;
        let gateways = match &spec.gateways {
            None => (0..stations.gateways.len()).collect(),
            Some(names) => {
                let find = |(index, name): (usize, &String)| {
                    find(format!("gateways[{index}]"), "gateway", name, &stations.gateways)
                };
                names.iter().enumerate().map(find).collect::<Result<_, _>>().map_err(at)?
            }
        };
        all.push(Passage { number, name, link, spec, terminal, gateways });
    }
    if all.is_empty() {
        let allowed = "a link with `constellation = { terminal = ... }`, or no constellation";
        return Err(Fault::new("constellation", "is not used by any link", allowed));
    }
    Ok(all)
}

fn path(
    scenario: &Scenario,
    stations: &EarthStations,
    passage: &Passage<'_>,
    rng: &RngTree,
) -> Result<SatelliteLink, Fault> {
    let Passage { number, name, link, spec, terminal, .. } = passage;
    let node = scenario.spec.node(&link.between[0]);
    let node = node
        .ok_or_else(|| Fault::new(format!("links.{name}.between[0]"), "no such node", "a node"))?;
    let there = rate(passage, Direction::Forward, "uplink", spec.uplink.as_ref())?;
    let back = rate(passage, Direction::Backward, "downlink", spec.downlink.as_ref())?;
    debug_assert!(*terminal < stations.terminals.len(), "terminals were found by name");
    let rng = rng.child("links").child(name).child("fading");
    let fading = spec.fading.as_ref().map(|fading| fading.model().build(&rng));
    let rates = Rates::new([there, back], fading, spec.cell.as_ref().map(Cell::new));
    let (link, name) = (LinkId::from(*number), (*name).to_owned());
    Ok(SatelliteLink { link, name, node, terminal: *terminal, rates, fit: None })
}

/// The rate of a direction: a constant one, a budget, or that of the link's channel.
fn rate(
    passage: &Passage<'_>,
    direction: Direction,
    key: &str,
    budget: Option<&BudgetSpec>,
) -> Result<Rate, Fault> {
    let either = format!(
        "a `rate` for the link or for its direction `{}`, or a budget `{key}`",
        direction.key()
    );
    let own = passage.link.changes(direction).rate;
    match (own.or(passage.link.rate), budget) {
        (_, Some(_)) if own.is_some() => {
            let problem = "is given together with a rate of this direction";
            Err(passage.fault(Fault::new(key, problem, either)))
        }
        (_, Some(spec)) => {
            let budget = Budget::new(spec.clone());
            let budget = budget.map_err(|fault| passage.fault(fault.within(key)))?;
            Ok(Rate::Budget { budget: Arc::new(budget), before: None })
        }
        (Some(BitRate::ZERO), None) => {
            let field = format!("links.{}.rate", passage.name);
            Err(Fault::new(field, "is zero, so the link is never up", "a rate above zero"))
        }
        (Some(rate), None) => Ok(Rate::Constant(rate)),
        (None, None) if passage.link.channel.is_some() => Ok(Rate::Unlimited),
        (None, None) => {
            let field = format!("links.{}.rate", passage.name);
            Err(Fault::new(field, "is required but missing", either))
        }
    }
}

fn orbits(
    scenario: &Scenario,
    spec: &ConstellationSpec,
    (constellation, length): (Constellation, SimDuration),
    stations: &EarthStations,
    passages: &[Passage<'_>],
    rng: &RngTree,
) -> Result<OrbitLinks, Fault> {
    let at = |fault: Fault| fault.within("constellation");
    let mut ephemeris = ephemeris(spec, constellation)?;
    let routing = match &spec.isl {
        Some(isl) => {
            let along = (&mut ephemeris, length);
            Some(routing(scenario, isl, along, stations, passages).map_err(at)?)
        }
        None => None,
    };
    let constellation = ephemeris.constellation();
    let link_gateways: Vec<Vec<_>> = passages
        .iter()
        .map(|passage| link_gateways(passage, stations, constellation, routing.is_some()))
        .collect();
    let mut terminals = Vec::new();
    for (passage, link_gateways) in passages.iter().zip(&link_gateways) {
        if passage.gateways.is_empty() {
            let allowed = "`constellation.gateways`, or a `constellation.gateway_list`";
            return Err(Fault::new("constellation.gateways", "is empty", allowed));
        }
        let rng = rng.child("links").child(passage.name);
        let observers = link_gateways.iter().map(|link_gateway| link_gateway.observer.clone());
        let station = &stations.terminals[passage.terminal];
        terminals.push(Terminal {
            observer: station.observer(),
            apart: station.apart.then_some(passage.terminal),
            gateways: if routing.is_some() { Vec::new() } else { observers.collect() },
            policy: policy(spec, stations, passage, &rng)?,
            cost: HandoverCost { outage: spec.outage.clone(), overlap: spec.overlap.clone() },
            rng: rng.child("outage").rng(),
        });
    }
    Ok(OrbitLinks::new(Assignment::new(ephemeris, terminals), link_gateways, routing))
}

/// The satellites along the run.
fn ephemeris(spec: &ConstellationSpec, constellation: Constellation) -> Result<Ephemeris, Fault> {
    let allowed = "satellites with orbits during the run";
    Ephemeris::new(constellation, spec.start.0, spec.knots)
        .map_err(|error| Fault::new("constellation.satellites", error.to_string(), allowed))
}

/// The gateways of a link. On a bent pipe from a fixed terminal, those that cannot share a satellite with it are left out.
fn link_gateways(
    passage: &Passage<'_>,
    stations: &EarthStations,
    constellation: &Constellation,
    routed: bool,
) -> Vec<LinkGateway> {
    let terminal = &stations.terminals[passage.terminal];
    let reach = (!routed && !terminal.track.moves()).then(|| {
        constellation.shells().iter().map(|placed| placed.shell.altitude_m).reduce(f64::max)
    });
    // Seen from both, a satellite is at most twice as far as the horizon of a place 100 km up.
    let farthest = reach.flatten().map_or(f64::INFINITY, |altitude| {
        let horizon = |height: f64| (height * (2.0 * EQUATOR_RADIUS + height)).sqrt();
        2.0 * (horizon(altitude) + horizon(100e3))
    });
    let ecef = |place: &EarthStation| place.track.place(SimTime::ZERO).to_ecef();
    let near =
        |number: &&usize| (ecef(&stations.gateways[**number]) - ecef(terminal)).norm() <= farthest;
    let link_gateway = |number: &usize| {
        let place = &stations.gateways[*number];
        LinkGateway { number: *number, observer: place.observer(), onwards: place.onwards }
    };
    let some: Vec<_> = passage.gateways.iter().filter(near).map(link_gateway).collect();
    // If none is near, none is of use either; the scenario is refused for that.
    if some.is_empty() { passage.gateways.iter().map(link_gateway).collect() } else { some }
}

fn policy(
    spec: &ConstellationSpec,
    stations: &EarthStations,
    passage: &Passage<'_>,
    rng: &RngTree,
) -> Result<Box<dyn ServingPolicy>, Fault> {
    let chosen: &PolicySpec = passage.spec.policy.as_ref().unwrap_or(&spec.policy);
    let signal = match &passage.spec.downlink {
        Some(budget) => {
            let built = Budget::new(budget.clone());
            let built = built.map_err(|fault| passage.fault(fault.within("downlink")))?;
            Some(signal(built, stations.terminals[passage.terminal].air()))
        }
        None => None,
    };
    let context = PolicyContext { start: spec.start.0, rng: rng.child("policy").rng(), signal };
    let policy = chosen.model().build(context).map_err(|fault| {
        if passage.spec.policy.is_some() {
            passage.fault(fault)
        } else {
            fault.within("constellation")
        }
    })?;
    let Some(every) = spec.reconfigure_every else { return Ok(policy) };
    if chosen.model().period().is_some() {
        return Ok(policy);
    }
    Ok(Box::new(OnGrid::new(policy, every, into_run(spec, every))))
}

/// The phase of the grid, counted from the start of the run.
fn into_run(spec: &ConstellationSpec, every: SimDuration) -> SimDuration {
    let phase = spec.reconfigure_phase.unwrap_or_default().as_nanos() % every.as_nanos();
    let start: Epoch = spec.start.0;
    let past = start.nanos_of_minute() % every.as_nanos();
    SimDuration::from_nanos((phase + every.as_nanos() - past) % every.as_nanos())
}

fn signal(budget: Budget, air: (f64, f64)) -> Signal {
    Box::new(move |sighting: &Sighting| {
        let elevation_deg = sighting.look.elevation.degrees();
        let way = WayState {
            satellite: sighting.satellite,
            azimuth_deg: sighting.look.azimuth.degrees(),
            elevation_deg,
            range_m: sighting.look.range_m,
            // The satellite's beam is taken to be as strong towards every candidate's terminal.
            nadir_deg: 0.0,
            gateway: None,
            hops: 0,
            delay: SimDuration::ZERO,
            delay_back: SimDuration::ZERO,
            sharers: 1,
        };
        carrier_to_noise(&budget, air, &way)
    })
}

fn routing(
    scenario: &Scenario,
    spec: &IslSpec,
    orbits: (&mut Ephemeris, SimDuration),
    stations: &EarthStations,
    passages: &[Passage<'_>],
) -> Result<Routing, Fault> {
    let mut groups: Vec<&[usize]> = Vec::new();
    let mut of_path = Vec::new();
    for passage in passages {
        let known = groups.iter().position(|group| *group == passage.gateways);
        of_path.push(known.unwrap_or(groups.len()));
        if known.is_none() {
            groups.push(&passage.gateways);
        }
    }
    let destinations = groups.iter().map(|group| {
        let mut gateways = Gateways::default();
        for number in *group {
            let place = &stations.gateways[*number];
            gateways.push(GatewayId::from(*number), place.observer(), place.onwards);
        }
        gateways
    });
    let destinations: Vec<_> = destinations.collect();
    let router = router(scenario, spec, orbits, (stations, passages), destinations.len())?;
    let ways = passages.iter().map(|_| None).collect();
    let (every, next, exits) = (spec.every, SimTime::ZERO, Vec::new());
    Ok(Routing { router, destinations, of_path, every, next, ways, exits })
}
