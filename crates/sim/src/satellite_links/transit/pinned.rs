//! Links whose packets do not follow the tables of satellites, but carry a route along: one of the two between their ends that share
//! no laser.

use leobench_orbit::{LaserId, Router, Sighting, SourceRoute, TerminalId};

use super::{LinkEnd, Route, TransitLinks};
use crate::scenario::RouteChoice;
use crate::topology::{Leg, TransitWay};

/// A route between both ends of a link; packets of both directions take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::satellite_links) struct Pinned {
    /// The satellites at the ends of the link.
    satellites: [u32; 2],
    /// All lasers in order, from the first end.
    lasers: Vec<LaserId>,
}

impl Pinned {
    fn new(router: &Router, route: &SourceRoute) -> Self {
        let last = route.lasers.last().map_or(route.entry, |laser| router.laser(*laser).to);
        let satellites = [route.entry, last].map(|satellite| satellite.index() as u32);
        Self { satellites, lasers: route.lasers.clone() }
    }

    /// The lasers there and back, by number.
    fn lasers(&self) -> [Vec<u32>; 2] {
        let number = |laser: LaserId| laser.index() as u32;
        let there = self.lasers.iter().map(|laser| number(*laser)).collect();
        [there, self.lasers.iter().rev().map(|laser| number(laser.reverse())).collect()]
    }
}

impl TransitLinks {
    /// Chooses the routes of links between ends whose tables are new.
    pub(super) fn pin(&mut self, stale: &[bool]) {
        let mut known: Vec<([usize; 2], Vec<SourceRoute>)> = Vec::new();
        for index in 0..self.paths.len() {
            let Route { ends, choice, directions, .. } = self.paths[index];
            let Some(choice) = choice.filter(|_| ends.iter().any(|end| stale[*end])) else {
                continue;
            };
            let place = known.iter().position(|(of, _)| *of == ends).unwrap_or_else(|| {
                let seen = self.seen_from(ends[0]);
                known.push((ends, self.router.source_routes(&seen, ends[1].into())));
                known.len() - 1
            });
            let routes = &known[place].1;
            let chosen = match choice {
                RouteChoice::First => routes.first(),
                RouteChoice::Second => routes.get(1),
            };
            let pinned = chosen.map(|route| Pinned::new(&self.router, route));
            if pinned.is_none() && !routes.is_empty() {
                self.update.missing_routes += 1;
            }
            if let Some(new) =
                pinned.as_ref().filter(|new| self.paths[index].pinned.as_ref() != Some(new))
            {
                self.update.routes.extend(directions.into_iter().zip(new.lasers()));
            }
            self.paths[index].pinned = pinned;
        }
    }

    /// The satellites that packets from an end can use.
    fn seen_from(&self, end: usize) -> Vec<Sighting> {
        match &self.ends[end] {
            LinkEnd::Served(member, _) => {
                self.assignment.serving(TerminalId::from(*member)).copied().into_iter().collect()
            }
            LinkEnd::Selected(place, _) => self.places[*place].seen.clone(),
            LinkEnd::Free(places) => {
                places.iter().flat_map(|place| self.places[*place].seen.iter().copied()).collect()
            }
        }
    }

    /// The ways up and down at both ends of a route; none if its satellite cannot be used there.
    fn legs(&self, route: &Route, pinned: &Pinned) -> [Option<Leg>; 2] {
        let at = |end: usize| {
            let legs = &self.update.exits[route.ends[end]];
            legs.iter().find(|leg| leg.satellite == pinned.satellites[end]).copied()
        };
        [at(0), at(1)]
    }

    /// Whether a link has a route of its own that cannot be used any more.
    pub(super) fn is_interrupted(&self, route: &Route) -> bool {
        route.pinned.as_ref().is_some_and(|pinned| {
            self.legs(route, pinned).contains(&None)
                || pinned.lasers.iter().any(|laser| self.router.laser_delay(*laser).is_none())
        })
    }

    /// The ways up of packets of a link with a route of its own; none if they follow tables.
    pub(super) fn pinned_entries(&self, route: &Route) -> Option<[Option<Leg>; 2]> {
        route.choice?;
        let legs = route.pinned.as_ref().map(|pinned| self.legs(route, pinned));
        Some(legs.filter(|legs| !legs.contains(&None)).unwrap_or_default())
    }

    /// The way over a route of its own, from where packets go up to an end of the link.
    pub(super) fn walk_pinned(&self, route: &Route, up: Leg, end: usize) -> Option<TransitWay> {
        let pinned = route.pinned.as_ref()?;
        let down = self.legs(route, pinned)[end]?;
        let over_land = [up.station, down.station].map(|station| self.backhauls[station as usize]);
        let mut delay = up.delay + down.delay + over_land[0] + over_land[1];
        let mut satellites = vec![pinned.satellites[1 - end]];
        for laser in &pinned.lasers()[1 - end] {
            let laser = LaserId::from(*laser as usize);
            delay += self.router.laser_delay(laser)?;
            satellites.push(self.router.laser(laser).to.index() as u32);
        }
        Some(TransitWay { stations: [up.station, down.station], satellites, delay })
    }
}
