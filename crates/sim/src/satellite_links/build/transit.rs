//! The links of a scenario whose packets go from hop to hop.

use leobench_base::spec::Fault;
use leobench_base::{LinkId, RngTree, SimDuration, SimTime};
use leobench_orbit::hypatia::{Hop, Network};
use leobench_orbit::isl::routing::table::Table;
use leobench_orbit::{
    Assignment, Constellation, Ephemeris, HandoverCost, Limits, PolicySpec, Router, Terminal,
};

use super::super::stations::{EarthStation, EarthStations};
use super::super::transit::{LinkEnd, Place, Route, Searches, TransitLinks};
use super::{Passage, ephemeris, policy, router};
use crate::scenario::{ConstellationSpec, Direction, RouteChoice, Scenario, StateFile};

/// Time between two searches for routes where there are no lasers.
const SEARCH: SimDuration = SimDuration::from_secs(1);

/// The stations of links, each once.
struct Stations<'a> {
    all: &'a EarthStations,
    /// By station, the delay over land that is a hop of its own.
    backhauls: Vec<SimDuration>,
    terminals: Vec<Terminal>,
    /// The terminal and the policy of each terminal of the assignment.
    served: Vec<(usize, Option<PolicySpec>)>,
    places: Vec<Place>,
    ends: Vec<LinkEnd>,
}

pub(super) fn build(
    scenario: &Scenario,
    spec: &ConstellationSpec,
    (constellation, length): (Constellation, SimDuration),
    stations: &EarthStations,
    passages: &[Passage<'_>],
    rng: &RngTree,
) -> Result<TransitLinks, Fault> {
    let at = |fault: Fault| fault.within("constellation");
    let mut found = Stations::new(spec, stations);
    let mut paths: Vec<Route> = Vec::new();
    for passage in passages {
        refuse(passage)?;
        let ends = [found.terminal(spec, passage, rng)?, found.gateways(passage)?];
        let directions = LinkId::from(passage.number).directions();
        let choice = spec.is_multipath().then(|| passage.spec.route.unwrap_or(RouteChoice::First));
        let taken = paths.iter().zip(passages).filter(|(other, _)| other.ends == ends);
        refuse_taken(passage, choice, &taken.collect::<Vec<_>>())?;
        paths.push(Route::new(directions, ends, choice));
    }
    let Stations { terminals, places, ends, backhauls, .. } = found;
    let mut ephemeris = ephemeris(spec, constellation)?;
    let (router, every) = match &spec.isl {
        Some(isl) => {
            let along = (&mut ephemeris, length);
            let router = router(scenario, isl, along, (stations, passages), ends.len());
            (router.map_err(at)?, isl.every)
        }
        None => (Router::new(ephemeris.len(), Vec::new(), Limits::default(), ends.len()), SEARCH),
    };
    let wants_loads = spec.isl.as_ref().is_some_and(|isl| isl.routing.model().needs_loads());
    if wants_loads && !scenario.spec.foresight().is_zero() {
        let allowed =
            "another `routing`, or no `forecast`: nobody knows ahead what lasers will carry";
        return Err(at(Fault::new("isl.routing", "is given together with forecasts", allowed)));
    }
    let assignment = Assignment::new(ephemeris, terminals);
    let stations = (stations.terminals.len(), backhauls);
    let searches = (Searches::Every(every), wants_loads);
    Ok(TransitLinks::new(assignment, places, stations, router, (ends, paths), searches))
}

/// The links over satellites that forward packets by a state of Hypatia, between pairs of its stations.
pub(super) fn by_state(
    (network, ephemeris, states): (Network, Ephemeris, Vec<StateFile>),
    stations: &EarthStations,
    passages: &[Passage<'_>],
    pairs: &[[usize; 2]],
) -> Result<TransitLinks, String> {
    let mut ends = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    let mut paths = Vec::new();
    for (passage, pair) in passages.iter().zip(pairs) {
        let gateway = stations.terminals.len() + passage.gateways[0];
        let mut of_link = [0; 2];
        for ((end, number), station) in
            of_link.iter_mut().zip(pair).zip([passage.terminal, gateway])
        {
            let known = places.iter().position(|place| place.station as usize == station);
            *end = known.unwrap_or(places.len());
            if known.is_none() {
                let all = stations.terminals.iter().chain(&stations.gateways);
                let observer = all.skip(station).map(EarthStation::observer).next();
                let observer = observer.expect("passages name stations");
                let (station, onwards, seen) = (station as u32, SimDuration::ZERO, Vec::new());
                places.push(Place { station, observer, onwards, seen });
                ends.push(LinkEnd::Selected(*end, *number));
            }
        }
        let directions = LinkId::from(passage.number).directions();
        paths.push(Route::new(directions, of_link, None));
    }
    let (table, times) = tables(&network, states, &ends)?;
    let links: Vec<_> = network.isls().collect();
    let limits = Limits { clearance_m: f64::NEG_INFINITY, ..Limits::default() };
    let router = Router::new(network.satellites.len(), links, limits, ends.len());
    let router = router.routed_by(Box::new(table));
    let backhauls = vec![SimDuration::ZERO; stations.terminals.len() + stations.gateways.len()];
    let assignment = Assignment::new(ephemeris, Vec::new());
    let stations = (stations.terminals.len(), backhauls);
    let searches = (Searches::At(times), false);
    Ok(TransitLinks::new(assignment, places, stations, router, (ends, paths), searches))
}

/// The forwarding state towards ends of links, which are its destinations, and the instants at which it changes, the last one first.
fn tables(
    network: &Network,
    states: Vec<StateFile>,
    ends: &[LinkEnd],
) -> Result<(Table, Vec<SimTime>), String> {
    let satellites = network.satellites.len();
    let mut times: Vec<_> = states.iter().map(|state| state.at).collect();
    times.reverse();
    let mut changes = Vec::new();
    for StateFile { at, file, hops } in states {
        let mut of_ends = Vec::new();
        for Hop { node, end, next } in hops {
            let is_relay = |next: &u32| !network.is_satellite(*next) && *next != end;
            if let Some(relay) = next.filter(|next| network.is_satellite(node) && is_relay(next)) {
                return Err(format!(
                    "{file}: packets from {node} to {end} come down to the relay {relay}; with queues of hops, they should go over satellites only"
                ));
            }
            let number = (0..).zip(ends).filter_map(|(number, known)| match known {
                LinkEnd::Selected(_, station) => {
                    (satellites + station == end as usize).then_some(number)
                }
                LinkEnd::Served(..) | LinkEnd::Free(_) => None,
            });
            let end = |number: usize| (satellites + number) as u32;
            of_ends.extend(number.map(|number| Hop { node, end: end(number), next }));
        }
        changes.push((at, of_ends));
    }
    let stations = network.stations.len().max(ends.len());
    let links: Vec<_> = network.isls().collect();
    Ok((Table::new(satellites, stations, &links, changes)?, times))
}

/// Refuses what a link cannot have whose packets go from hop to hop.
pub(super) fn refuse(passage: &Passage<'_>) -> Result<(), Fault> {
    let Passage { name, link, .. } = passage;
    let has_access =
        || Direction::BOTH.into_iter().any(|direction| link.access(direction).is_some());
    let (key, allowed) = if link.channel.is_some() {
        ("channel", "a `rate`, or a budget of the link's `constellation`")
    } else if has_access() {
        ("access", "no `access`, or a `constellation` without queues of hops")
    } else {
        return Ok(());
    };
    let problem = "is given for a link whose packets go from hop to hop (`constellation.isl.rate`, `ground`, `beam`, a `backhaul`)";
    Err(Fault::new(format!("links.{name}.{key}"), problem, allowed))
}

/// Refuses a route of a pair that another link between the same ends has.
fn refuse_taken(
    passage: &Passage<'_>,
    choice: Option<RouteChoice>,
    taken: &[(&Route, &Passage<'_>)],
) -> Result<(), Fault> {
    let Some(choice) = choice else { return Ok(()) };
    let Some((_, other)) = taken.iter().find(|(other, _)| other.choice == Some(choice)) else {
        return Ok(());
    };
    let free = match choice {
        RouteChoice::First => RouteChoice::Second,
        RouteChoice::Second => RouteChoice::First,
    };
    let problem = format!("is `{}`, which the link `{}` takes", choice.word(), other.name);
    let allowed = if taken.len() < 2 {
        format!("`{}`", free.word())
    } else {
        "at most two links between the same terminal and gateways".to_owned()
    };
    Err(passage.fault(Fault::new("route", problem, allowed)))
}

impl<'a> Stations<'a> {
    fn new(spec: &ConstellationSpec, stations: &'a EarthStations) -> Self {
        let gateways = stations.gateways.iter().map(|gateway| {
            let given = spec.gateways.iter().find(|(name, _)| *name == gateway.name);
            let has_hop = given.is_some_and(|(_, given)| given.backhaul.is_some());
            if has_hop { gateway.onwards } else { SimDuration::ZERO }
        });
        let backhauls = stations.terminals.iter().map(|_| SimDuration::ZERO).chain(gateways);
        Self {
            all: stations,
            backhauls: backhauls.collect(),
            terminals: Vec::new(),
            served: Vec::new(),
            places: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The end of a link at its terminal.
    fn terminal(
        &mut self,
        spec: &ConstellationSpec,
        passage: &Passage<'_>,
        rng: &RngTree,
    ) -> Result<usize, Fault> {
        let number = passage.terminal;
        let station = &self.all.terminals[number];
        if station.apart {
            let allowed =
                "no `apart`: with queues of hops, all links of a terminal use one satellite";
            let field = format!("constellation.terminals.{}.apart", station.name);
            return Err(Fault::new(field, "is given together with queues of hops", allowed));
        }
        let chosen = passage.spec.policy.as_ref();
        if chosen.unwrap_or(&spec.policy).model().is_free() {
            let place = self.place(number as u32);
            return Ok(self.end(LinkEnd::Free(vec![place])));
        }
        let own = chosen.cloned();
        let known = self.served.iter().position(|served| *served == (number, own.clone()));
        let member = if let Some(member) = known {
            member
        } else {
            let rng = rng.child("terminals").child(&station.name);
            let gateways = passage.gateways.iter().map(|one| &self.all.gateways[*one]);
            let bent = spec.isl.is_none();
            let gateways = gateways.filter(|_| bent).map(EarthStation::observer);
            self.terminals.push(Terminal {
                observer: station.observer(),
                apart: None,
                gateways: gateways.collect(),
                policy: policy(spec, self.all, passage, &rng)?,
                cost: HandoverCost { outage: spec.outage.clone(), overlap: spec.overlap.clone() },
                rng: rng.child("outage").rng(),
            });
            self.served.push((number, own));
            self.terminals.len() - 1
        };
        Ok(self.end(LinkEnd::Served(member, number as u32)))
    }

    /// The end of a link at its gateways.
    fn gateways(&mut self, passage: &Passage<'_>) -> Result<usize, Fault> {
        if passage.gateways.is_empty() {
            let allowed = "`constellation.gateways`, or a `constellation.gateway_list`";
            return Err(Fault::new("constellation.gateways", "is empty", allowed));
        }
        let first = self.all.terminals.len();
        let places = passage.gateways.iter().map(|number| self.place((first + number) as u32));
        let places: Vec<_> = places.collect();
        Ok(self.end(LinkEnd::Free(places)))
    }

    fn end(&mut self, end: LinkEnd) -> usize {
        let known = self.ends.iter().position(|known| *known == end);
        known.unwrap_or_else(|| {
            self.ends.push(end);
            self.ends.len() - 1
        })
    }

    /// A station that uses all satellites in its sky.
    fn place(&mut self, station: u32) -> usize {
        if let Some(known) = self.places.iter().position(|place| place.station == station) {
            return known;
        }
        let terminals = self.all.terminals.len();
        let place = match (station as usize).checked_sub(terminals) {
            None => &self.all.terminals[station as usize],
            Some(gateway) => &self.all.gateways[gateway],
        };
        // A backhaul that is a hop of its own takes its time there.
        let onwards = place.onwards.saturating_sub(self.backhauls[station as usize]);
        self.places.push(Place { station, observer: place.observer(), onwards, seen: Vec::new() });
        self.places.len() - 1
    }
}
