//! Shortest ways in delay from all satellites to the destinations in use.
//!
//! A destination is reached through exits: satellites that see one of its gateways (or that serve it), each with the delay from
//! there on. Per destination, the router keeps a tree of next hops, which is also the forwarding table of every satellite. A
//! place that only its serving satellite reaches has that one as its exit; a place with free choice has all satellites in view.

use leobench_base::SimDuration;

use super::graph::{Graph, Laser, LaserId, NONE};
use super::islands::Components;
use super::layout::Arrangements;
use super::links::{Isl, Limits};
use super::routing::shortest::Shortest;
use super::routing::{Load, Reach, Routing, SourceRoute};
use crate::frame::light_delay;
use crate::motion::{DestinationId, Ephemeris, GatewayId, SatelliteId};
use crate::visibility::{Observer, SatelliteGrid, Sighting};

/// A satellite from which a destination is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Which one.
    pub satellite: SatelliteId,
    /// By which gateway.
    pub gateway: GatewayId,
    /// The delay from the satellite to the destination.
    pub delay: SimDuration,
}

/// The next hop of a packet at a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// To another satellite.
    Satellite(SatelliteId),
    /// Down to a gateway.
    Down(GatewayId),
}

/// The transmitter by which a packet leaves a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A laser to another satellite.
    Laser(LaserId),
    /// The one down to a gateway.
    Down(GatewayId),
}

/// The first satellite of a way from a place on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which one.
    pub satellite: SatelliteId,
    /// From the place to the destination.
    pub delay: SimDuration,
}

/// A way from a satellite to a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// All satellites, from the first one to the exit.
    pub satellites: Vec<SatelliteId>,
    /// The gateway at the end.
    pub gateway: GatewayId,
    /// From the first satellite to the destination.
    pub delay: SimDuration,
}

/// Gateways of a destination, each with the delay over land from there to it.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    members: Vec<(GatewayId, Observer, SimDuration)>,
    seen: Vec<Sighting>,
}

impl Gateways {
    /// Adds a gateway with the delay from there to the destination.
    pub fn push(&mut self, gateway: GatewayId, observer: Observer, onwards: SimDuration) {
        self.members.push((gateway, observer, onwards));
    }

    /// Fills in the exits that the gateways see now.
    pub fn exits(&mut self, ephemeris: &Ephemeris, grid: &SatelliteGrid, out: &mut Vec<Exit>) {
        out.clear();
        for (gateway, observer, onwards) in &mut self.members {
            observer.follow(ephemeris, grid);
            observer.look(ephemeris, &mut self.seen);
            out.extend(self.seen.iter().map(|Sighting { satellite, look }| Exit {
                satellite: *satellite,
                gateway: *gateway,
                delay: light_delay(look.range_m) + *onwards,
            }));
        }
    }
}

/// Shortest ways from all satellites to the destinations in use.
#[derive(Debug)]
pub struct Router {
    graph: Graph,
    layout: Option<Arranged>,
    routing: Box<dyn Routing>,
}

/// The links of a layout over time, and the number of the period of those that are set up.
#[derive(Debug)]
struct Arranged {
    arrangements: Arrangements,
    period: usize,
}

impl Router {
    /// Routes over links between so many satellites to so many destinations; without links, bent pipes only.
    pub fn new(satellites: usize, links: Vec<Isl>, limits: Limits, destinations: usize) -> Self {
        Self {
            graph: Graph::new(satellites, links, limits),
            layout: None,
            routing: Box::new(Shortest::new(satellites, destinations)),
        }
    }

    /// Routes over links that are arranged anew from time to time, at the first [`update`](Self::update) in each period.
    pub fn arranged(
        satellites: usize,
        arrangements: Arrangements,
        limits: Limits,
        destinations: usize,
    ) -> Self {
        let links = arrangements.links().to_vec();
        let mut router = Self::new(satellites, links, limits, destinations);
        router.graph.set_up(arrangements.set_up(0));
        router.layout = Some(Arranged { arrangements, period: 0 });
        router
    }

    /// The same with ways that another model chooses.
    #[must_use]
    pub fn routed_by(self, routing: Box<dyn Routing>) -> Self {
        Self { routing, ..self }
    }

    /// Sets up these links, each pair of satellites once, and takes all others down. A pair keeps its number for good; new ones
    /// take the next numbers. Then call [`update`](Self::update).
    pub fn arrange(&mut self, links: &[Isl]) {
        self.graph.arrange(links);
    }

    /// Moves to the time of the ephemeris: arranges the links anew where that is due, and computes the delays of all of them.
    /// Then call [`route`](Self::route) per destination.
    pub fn update(&mut self, ephemeris: &Ephemeris) {
        if let Some(Arranged { arrangements, period }) = &mut self.layout {
            let now = arrangements.period(ephemeris.now());
            if std::mem::replace(period, now) != now {
                self.graph.set_up(arrangements.set_up(now));
            }
        }
        self.graph.update(ephemeris);
        self.routing.update(&self.graph);
    }

    /// Tells what the lasers, by number, have carried for some time up to now. Call it before [`update`](Self::update).
    pub fn observe(&mut self, elapsed: SimDuration, loads: &[Load]) {
        self.routing.observe(elapsed, loads);
    }

    /// The connected components of the links that are on.
    pub fn components(&self) -> Components {
        Components::new(&self.graph)
    }

    /// Computes the ways to a destination with its present exits; returns whether any next hop has changed.
    pub fn route(&mut self, destination: DestinationId, exits: &[Exit]) -> bool {
        self.routing.route(&self.graph, destination, exits);
        self.routing.tree(destination).changed()
    }

    /// All links that there have been since the start, by number.
    pub fn links(&self) -> &[Isl] {
        self.graph.links()
    }

    /// Both directions of all links, by number.
    pub fn lasers(&self) -> impl ExactSizeIterator<Item = Laser> + '_ {
        (0..2 * self.graph.links().len()).map(|laser| self.graph.laser(laser.into()))
    }

    /// A laser by number.
    pub fn laser(&self, id: LaserId) -> Laser {
        self.graph.laser(id)
    }

    /// The delay over a laser at the last update; `None` while its link is off.
    pub fn laser_delay(&self, laser: LaserId) -> Option<SimDuration> {
        self.graph.delay(laser)
    }

    /// The delay from a satellite to a destination, if there is a way.
    pub fn delay(&self, from: SatelliteId, destination: DestinationId) -> Option<SimDuration> {
        let delay = self.routing.delay(&self.graph, from, destination);
        (delay != NONE).then(|| SimDuration::from_nanos(delay))
    }

    /// The next hop of a packet to a destination, at a satellite; `None` if there is no way.
    pub fn next_hop(&self, from: SatelliteId, destination: DestinationId) -> Option<NextHop> {
        self.outgoing(from, destination).map(|outgoing| match outgoing {
            Outgoing::Laser(laser) => NextHop::Satellite(self.graph.laser(laser).to),
            Outgoing::Down(gateway) => NextHop::Down(gateway),
        })
    }

    /// The transmitter by which a packet to a destination leaves a satellite; `None` if there is no way.
    pub fn outgoing(&self, from: SatelliteId, destination: DestinationId) -> Option<Outgoing> {
        self.routing.tree(destination).outgoing(from)
    }

    /// The forwarding table of a destination: by satellite, the transmitter by which packets leave.
    pub fn table(
        &self,
        destination: DestinationId,
    ) -> impl ExactSizeIterator<Item = Option<Outgoing>> + '_ {
        let tree = self.routing.tree(destination);
        (0..self.graph.satellites()).map(|satellite| tree.outgoing(satellite.into()))
    }

    /// Tells the satellites whose entry in the table of a destination the last [`route`](Self::route) has changed, with the new
    /// entry. The number of calls is that of changes.
    pub fn for_each_change(
        &self,
        destination: DestinationId,
        mut tell: impl FnMut(SatelliteId, Option<Outgoing>),
    ) {
        for (satellite, outgoing) in self.routing.tree(destination).changes() {
            tell(satellite, outgoing);
        }
    }

    /// The satellite up to which a station sends packets to a destination, if the [routing](Routing::entry) says so.
    pub fn entry(&self, station: usize, destination: DestinationId) -> Option<SatelliteId> {
        self.routing.entry(station, destination)
    }

    /// The satellite over which a place that is free to choose reaches a destination soonest, of those that it sees; of equal
    /// ones that with the lowest number, as in Hypatia's free selection of ground-to-satellite links.
    pub fn best_entry(&self, seen: &[Sighting], destination: DestinationId) -> Option<Entry> {
        let entries = seen.iter().filter_map(|Sighting { satellite, look }| {
            let delay = light_delay(look.range_m) + self.delay(*satellite, destination)?;
            Some(Entry { satellite: *satellite, delay })
        });
        entries.min_by_key(|entry| (entry.delay, entry.satellite))
    }

    /// The ways from a place to a destination as the model has them, the one with the least delay first: one, or several of
    /// which no two share a link between satellites. The place may use the satellites that it sees, or those of them that
    /// are given.
    pub fn source_routes(&self, seen: &[Sighting], destination: DestinationId) -> Vec<SourceRoute> {
        let reach = |sighting: &Sighting| {
            let satellite = sighting.satellite;
            let rest = self.routing.delay(&self.graph, satellite, destination);
            Reach { satellite, up: light_delay(sighting.look.range_m).as_nanos(), rest }
        };
        let reaches: Vec<_> = seen.iter().map(reach).filter(|reach| reach.rest != NONE).collect();
        self.routing.source_routes(&self.graph, &reaches, destination)
    }

    /// The way from a satellite to a destination, if there is one.
    pub fn way(&self, from: SatelliteId, destination: DestinationId) -> Option<Way> {
        let delay = self.delay(from, destination)?;
        let mut satellites = vec![from];
        let mut at = from;
        loop {
            match self.next_hop(at, destination)? {
                NextHop::Satellite(to) => {
                    satellites.push(to);
                    at = to;
                }
                NextHop::Down(gateway) => return Some(Way { satellites, gateway, delay }),
            }
        }
    }
}
