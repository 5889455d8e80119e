//! Satellites on orbits as a network of routers: next hops by destination, and where packets go up and come down.

mod parts;
mod pinned;

use leobench_base::{DirectionId, SimDuration, SimTime};
use leobench_orbit::frame::light_delay;
use leobench_orbit::isl::Load;
use leobench_orbit::{
    Assignment, DestinationId, Ephemeris, Exit, GatewayId, Handover, Isl, LaserId, Outgoing,
    Router, SatelliteGrid, SatelliteId, Sighting, Site, TerminalId,
};

use super::{LinkState, ServingChange, WayState, nadir};
use crate::scenario::RouteChoice;
use crate::topology::{LaserLoad, Leg, NextHop, TransitUpdate, TransitWay};
pub(super) use parts::{LinkEnd, Place, Route, Searches};

/// Links over a network in orbit.
pub(super) struct TransitLinks {
    assignment: Assignment,
    places: Vec<Place>,
    /// Number of terminals, and by station the delay of a backhaul that is a hop of its own.
    terminals: u32,
    backhauls: Vec<SimDuration>,
    router: Router,
    /// The ends of links, each once.
    ends: Vec<LinkEnd>,
    paths: Vec<Route>,
    searches: Searches,
    next: SimTime,
    /// Whether the router wants to know what lasers carry, and until when it has been told.
    wants_loads: bool,
    observed: SimTime,
    /// By destination and satellite, as the network knows it.
    next_hops: Vec<Vec<NextHop>>,
    exits: Vec<Exit>,
    /// The network as it is now.
    update: TransitUpdate,
}

impl TransitLinks {
    pub(super) fn new(
        assignment: Assignment,
        places: Vec<Place>,
        (terminals, backhauls): (usize, Vec<SimDuration>),
        router: Router,
        (ends, paths): (Vec<LinkEnd>, Vec<Route>),
        (searches, wants_loads): (Searches, bool),
    ) -> Self {
        let satellites = assignment.ephemeris().len();
        let next_hops = vec![vec![NextHop::Nowhere; satellites]; ends.len()];
        let update = TransitUpdate { exits: vec![Vec::new(); ends.len()], ..Default::default() };
        Self {
            assignment,
            places,
            terminals: terminals as u32,
            backhauls,
            router,
            ends,
            paths,
            searches,
            next: SimTime::ZERO,
            wants_loads,
            observed: SimTime::ZERO,
            next_hops,
            exits: Vec::new(),
            update,
        }
    }

    pub(super) fn ephemeris(&self) -> &Ephemeris {
        self.assignment.ephemeris()
    }

    pub(super) fn grid(&self) -> &SatelliteGrid {
        self.assignment.grid()
    }

    pub(super) fn next_due(&self, now: SimTime) -> Option<SimTime> {
        let of_state = Some(self.next).filter(|_| self.follow_state());
        let of_satellites = self.assignment.next_due(now);
        of_state.into_iter().chain(of_satellites).min().filter(|due| *due < SimTime::MAX)
    }

    /// Whether next hops are those of a forwarding state.
    pub(super) const fn follow_state(&self) -> bool {
        matches!(self.searches, Searches::At(_))
    }

    /// The lasers: numbers of both satellites.
    pub(super) fn lasers(&self) -> Vec<[u32; 2]> {
        let ends = |laser: &Isl| [laser.from, laser.to].map(|end| end.index() as u32);
        self.router.links().iter().map(ends).collect()
    }

    /// By direction of a link, its destination.
    pub(super) fn destinations(&self) -> impl Iterator<Item = (DirectionId, u32)> {
        self.paths.iter().flat_map(|route| {
            let [there, back] = route.directions;
            [(there, route.ends[1] as u32), (back, route.ends[0] as u32)]
        })
    }

    /// Whether packets carry routes along.
    pub(super) fn are_source_routed(&self) -> bool {
        self.paths.iter().any(|route| route.choice.is_some())
    }

    /// Which route of a pair a link takes, if it has one of its own.
    pub(super) fn route_choice(&self, path: usize) -> Option<RouteChoice> {
        self.paths[path].choice
    }

    /// The network as it is now, with what has changed since the last call.
    pub(super) fn take_update(&mut self) -> TransitUpdate {
        let next_hops = std::mem::take(&mut self.update.next_hops);
        let ways = std::mem::take(&mut self.update.ways);
        let routes = std::mem::take(&mut self.update.routes);
        let missing_routes = std::mem::take(&mut self.update.missing_routes);
        TransitUpdate { next_hops, routes, missing_routes, ways, ..self.update.clone() }
    }

    /// Forgets what has changed since the last call.
    pub(super) fn forget_update(&mut self) {
        let TransitUpdate { next_hops, routes, missing_routes, ways, .. } = &mut self.update;
        *missing_routes = 0;
        next_hops.clear();
        routes.clear();
        ways.clear();
    }

    /// Whether routes depend on what lasers carry.
    pub(super) const fn wants_loads(&self) -> bool {
        self.wants_loads
    }

    /// Tells what each laser, by direction, has carried since the last time.
    pub(super) fn observe(&mut self, now: SimTime, loads: &[LaserLoad]) {
        let elapsed = now.saturating_since(self.observed);
        self.observed = now;
        if elapsed.is_zero() {
            return;
        }
        let load = |load: &LaserLoad| Load {
            utilisation: (load.busy.as_secs_f64() / elapsed.as_secs_f64()).min(1.0),
            queueing: SimDuration::from_nanos(load.waited.as_nanos() / load.packets.max(1)),
        };
        let loads: Vec<_> = loads.iter().map(load).collect();
        self.router.observe(elapsed, &loads);
    }

    /// The ways of packets of a link, from its terminal and to it.
    pub(super) fn ways(&self, path: usize) -> &[Option<TransitWay>; 2] {
        &self.paths[path].ways
    }

    /// Whether the terminal of a link sees any satellite now.
    pub(super) fn sees_any(&self, path: usize) -> bool {
        match &self.ends[self.paths[path].ends[0]] {
            LinkEnd::Free(places) => {
                places.iter().any(|place| !self.places[*place].seen.is_empty())
            }
            LinkEnd::Selected(place, _) => !self.places[*place].seen.is_empty(),
            LinkEnd::Served(member, _) => {
                let mut seen = Vec::new();
                let observer = self.assignment.observer(TerminalId::from(*member));
                observer.look(self.assignment.ephemeris(), &mut seen);
                !seen.is_empty()
            }
        }
    }

    pub(super) fn advance(
        &mut self,
        now: SimTime,
        serving_changes: &mut Vec<ServingChange>,
        states: &mut [LinkState],
    ) {
        let handovers = self.assignment.advance(now).expect("orbits were checked over the run");
        let handovers = handovers.to_vec();
        let (ephemeris, grid) = (self.assignment.ephemeris(), self.assignment.grid());
        for place in &mut self.places {
            place.observer.follow(ephemeris, grid);
            place.observer.look(ephemeris, &mut place.seen);
        }
        self.router.update(ephemeris);
        let went_off = self.refresh_lasers();
        for destination in 0..self.ends.len() {
            self.refresh_exits(destination);
        }
        let due = now >= self.next || went_off || self.has_lost_an_entry();
        self.find_next(now);
        let moved = |end: &LinkEnd| match end {
            LinkEnd::Served(member, _) => {
                handovers.iter().any(|one| one.terminal.index() == *member)
            }
            LinkEnd::Free(_) | LinkEnd::Selected(..) => false,
        };
        let mut stale: Vec<_> = self.ends.iter().map(|end| due || moved(end)).collect();
        for route in self.paths.iter().filter(|route| route.choice.is_some()) {
            let either = route.ends.iter().any(|end| stale[*end]);
            route.ends.iter().for_each(|end| stale[*end] |= either);
        }
        for (destination, _) in stale.iter().enumerate().filter(|(_, stale)| **stale) {
            self.route(destination);
            if self.follow_state() {
                self.refresh_exits(destination);
            }
        }
        self.pin(&stale);
        let entered: Vec<_> =
            self.paths.iter().map(|route| route.entries[0].map(|leg| leg.satellite)).collect();
        for index in 0..self.paths.len() {
            let [first, second] = self.paths[index].ends;
            let entries = match self.pinned_entries(&self.paths[index]) {
                Some(entries) => entries,
                None => [
                    self.entry(index, first, second, 0, due),
                    self.entry(index, second, first, 1, due),
                ],
            };
            self.paths[index].entries = entries;
        }
        self.update.entries.clear();
        for route in &self.paths {
            self.update.entries.extend(route.directions.into_iter().zip(route.entries));
        }
        for (path, (state, before)) in states.iter_mut().zip(entered).enumerate() {
            self.note_serving(path, before, &handovers, serving_changes);
            self.follow_ways(path);
            state.way = self.way(path);
        }
    }

    /// Finds the first search after a time.
    fn find_next(&mut self, now: SimTime) {
        while self.next <= now {
            self.next = match &mut self.searches {
                Searches::Every(time) => self.next + *time,
                Searches::At(times) => times.pop().unwrap_or(SimTime::MAX),
            };
        }
    }

    /// Takes over the delays of lasers; whether any of them has gone off.
    fn refresh_lasers(&mut self) -> bool {
        let Self { router, update, .. } = self;
        let lasers =
            (0..router.links().len()).map(|link| router.laser_delay(LaserId::from(2 * link)));
        let before = std::mem::replace(&mut update.lasers, lasers.collect());
        before.iter().zip(&update.lasers).any(|(was, is)| was.is_some() && is.is_none())
    }

    /// Whether a satellite where packets go up has left the sky of its station, or where those of a route of their own come down.
    fn has_lost_an_entry(&self) -> bool {
        if self.paths.iter().any(|route| self.is_interrupted(route)) {
            return true;
        }
        let lost = |(leg, end): (&Option<Leg>, usize)| match (&leg, &self.ends[end]) {
            (Some(leg), LinkEnd::Free(_)) => self.leg_of(end, leg).is_none(),
            _ => false,
        };
        self.paths.iter().any(|route| route.entries.iter().zip(route.ends).any(lost))
    }

    /// A way up or down that an end has used before, as it is now.
    fn leg_of(&self, end: usize, leg: &Leg) -> Option<Leg> {
        let LinkEnd::Free(places) = &self.ends[end] else { return None };
        let place = places
            .iter()
            .map(|place| &self.places[*place])
            .find(|place| place.station == leg.station)?;
        let sighting =
            place.seen.iter().find(|seen| seen.satellite.index() as u32 == leg.satellite)?;
        Some(Leg { delay: light_delay(sighting.look.range_m) + place.onwards, ..*leg })
    }

    /// Finds the satellites from which an end can be reached.
    fn refresh_exits(&mut self, destination: usize) {
        let legs = &mut self.update.exits[destination];
        legs.clear();
        match &self.ends[destination] {
            LinkEnd::Served(member, station) => {
                let serving = self.assignment.serving(TerminalId::from(*member));
                legs.extend(serving.map(|seen| leg(*station, seen, SimDuration::ZERO)));
            }
            LinkEnd::Free(places) => {
                for Place { station, onwards, seen, .. } in
                    places.iter().map(|place| &self.places[*place])
                {
                    for seen in seen {
                        let found = leg(*station, seen, *onwards);
                        match legs.iter_mut().find(|known| known.satellite == found.satellite) {
                            Some(known) if found.delay < known.delay => *known = found,
                            Some(_) => {}
                            None => legs.push(found),
                        }
                    }
                }
            }
            LinkEnd::Selected(place, _) => {
                let ephemeris = self.assignment.ephemeris();
                let hops = (0..).zip(&self.next_hops[destination]);
                let downs = hops.filter(|(_, hop)| **hop == NextHop::Down);
                legs.extend(downs.map(|(at, _)| self.places[*place].leg(ephemeris, at)));
            }
        }
    }

    /// Finds the next hops to a destination, and notes which have changed.
    fn route(&mut self, destination: usize) {
        let id = DestinationId::from(destination);
        self.exits.clear();
        self.exits.extend(self.update.exits[destination].iter().map(|leg| Exit {
            satellite: SatelliteId::from(leg.satellite as usize),
            gateway: GatewayId::from(leg.station as usize),
            delay: leg.delay + self.backhauls[leg.station as usize],
        }));
        self.router.route(id, &self.exits);
        let (known, changes) = (&mut self.next_hops[destination], &mut self.update.next_hops);
        self.router.for_each_change(id, |satellite, outgoing| {
            let hop = match outgoing {
                None => NextHop::Nowhere,
                Some(Outgoing::Down(_)) => NextHop::Down,
                Some(Outgoing::Laser(laser)) => NextHop::Over(laser.index() as u32),
            };
            let before = std::mem::replace(&mut known[satellite.index()], hop);
            if before != hop {
                changes.push((destination as u32, satellite.index() as u32, hop));
            }
        });
    }

    /// The way up of packets of a link from one end to the other: to the serving satellite, or to that of the shortest way, which is
    /// searched for when routes are.
    fn entry(&self, path: usize, from: usize, to: usize, way: usize, due: bool) -> Option<Leg> {
        let to = DestinationId::from(to);
        match &self.ends[from] {
            LinkEnd::Served(member, station) => {
                let serving = self.assignment.serving(TerminalId::from(*member))?;
                self.router.delay(serving.satellite, to)?;
                Some(leg(*station, serving, SimDuration::ZERO))
            }
            LinkEnd::Selected(place, station) => {
                let satellite = self.router.entry(*station, to)?.index() as u32;
                Some(self.places[*place].leg(self.ephemeris(), satellite))
            }
            LinkEnd::Free(places) => {
                let known = self.paths[path].entries[way];
                if let Some(known) = known.filter(|_| !due) {
                    return self.leg_of(from, &known);
                }
                let legs = places.iter().map(|place| &self.places[*place]).flat_map(|place| {
                    place.seen.iter().map(|seen| leg(place.station, seen, place.onwards))
                });
                let ways = legs.filter_map(|leg| {
                    let rest = self.router.delay(SatelliteId::from(leg.satellite as usize), to)?;
                    let over_land = self.backhauls[leg.station as usize];
                    Some((leg.delay + over_land + rest, leg.satellite, leg))
                });
                ways.min_by_key(|(delay, satellite, _)| (*delay, *satellite)).map(|(_, _, leg)| leg)
            }
        }
    }

    /// Notes a change of the satellite over a link's terminal.
    fn note_serving(
        &self,
        path: usize,
        before: Option<u32>,
        handovers: &[Handover],
        serving_changes: &mut Vec<ServingChange>,
    ) {
        let number = |leg: Leg| leg.satellite;
        match &self.ends[self.paths[path].ends[0]] {
            LinkEnd::Served(member, _) => {
                let handover = handovers.iter().find(|one| one.terminal.index() == *member);
                serving_changes.extend(handover.map(|handover| ServingChange {
                    path,
                    from: handover.from,
                    to: handover.to,
                    outage: handover.outage,
                    overlap: handover.overlap,
                }));
            }
            LinkEnd::Free(_) | LinkEnd::Selected(..) => {
                let after = self.paths[path].entries[0].map(number);
                if before != after {
                    let [from, to] =
                        [before, after].map(|one| one.map(|one| SatelliteId::from(one as usize)));
                    let (outage, overlap) = (SimDuration::ZERO, SimDuration::ZERO);
                    serving_changes.push(ServingChange { path, from, to, outage, overlap });
                }
            }
        }
    }

    /// Finds the ways of packets of a link, and notes those that lead over other satellites or stations than before.
    fn follow_ways(&mut self, path: usize) {
        let Route { directions, entries, is_told, .. } = self.paths[path];
        self.paths[path].is_told = true;
        for (index, up) in entries.into_iter().enumerate() {
            let way = up.and_then(|up| self.walk(&self.paths[path], up, 1 - index));
            let known = &mut self.paths[path].ways[index];
            let is_known = TransitWay::are_same(known.as_ref(), way.as_ref());
            if !(is_told && is_known) {
                self.update.ways.push((directions[index], way.clone()));
            }
            *known = way;
        }
    }

    /// The way of a link, if packets have one there and one back.
    fn way(&self, path: usize) -> Option<WayState> {
        let route = &self.paths[path];
        let [Some(there), Some(back)] = &route.ways else { return None };
        let site = self.site(route.ends[0])?;
        let satellite = SatelliteId::from(*there.satellites.first()? as usize);
        let state = self.ephemeris().state(satellite);
        let look = site.look(&state);
        Some(WayState {
            satellite,
            azimuth_deg: look.azimuth.degrees(),
            elevation_deg: look.elevation.degrees(),
            range_m: look.range_m,
            nadir_deg: nadir(state.position, site.position()).degrees(),
            gateway: there.stations[1].checked_sub(self.terminals).map(|gateway| gateway as usize),
            hops: there.satellites.len() - 1,
            delay: there.delay,
            delay_back: back.delay,
            sharers: 1,
        })
    }

    fn site(&self, end: usize) -> Option<&Site> {
        match &self.ends[end] {
            LinkEnd::Served(member, _) => {
                Some(self.assignment.observer(TerminalId::from(*member)).site())
            }
            LinkEnd::Free(places) => Some(self.places[*places.first()?].observer.site()),
            LinkEnd::Selected(place, _) => Some(self.places[*place].observer.site()),
        }
    }

    /// The way from a satellite where packets go up to an end of a link.
    fn walk(&self, route: &Route, up: Leg, end: usize) -> Option<TransitWay> {
        if route.choice.is_some() {
            return self.walk_pinned(route, up, end);
        }
        let destination = route.ends[end];
        let mut delay = up.delay + self.backhauls[up.station as usize];
        let mut at = up.satellite;
        let mut satellites = vec![at];
        while satellites.len() <= self.ephemeris().len() {
            match self.next_hops[destination][at as usize] {
                NextHop::Nowhere => return None,
                NextHop::Over(laser) => {
                    let laser = LaserId::from(laser as usize);
                    delay += self.router.laser_delay(laser)?;
                    at = self.router.laser(laser).to.index() as u32;
                    satellites.push(at);
                }
                NextHop::Down => {
                    let exits = &self.update.exits[destination];
                    let down = exits.iter().find(|leg| leg.satellite == at)?;
                    delay += down.delay + self.backhauls[down.station as usize];
                    let stations = [up.station, down.station];
                    return Some(TransitWay { stations, satellites, delay });
                }
            }
        }
        None
    }
}

fn leg(station: u32, seen: &Sighting, onwards: SimDuration) -> Leg {
    let satellite = seen.satellite.index() as u32;
    Leg { satellite, station, delay: light_delay(seen.look.range_m) + onwards }
}
