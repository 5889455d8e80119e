//! Next hops that another program has computed, such as Hypatia's forwarding state.
//!
//! Nothing is chosen here: the changes of each instant are applied as they are. A table from elsewhere may lead in a circle, or
//! over a laser that is off; such a way has no delay, and packets that follow it are lost.

use std::collections::BTreeMap;

use leobench_base::SimTime;

use super::super::graph::{Graph, LaserId};
use super::super::links::Isl;
use super::super::router::{Exit, Outgoing};
use super::super::tree::Tree;
use super::{Routing, delay_along};
use crate::motion::{DestinationId, GatewayId, SatelliteId};

/// From a node towards a destination: the next node from now on, or `None` while there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The node.
    pub node: u32,
    /// The destination, a ground station.
    pub end: u32,
    /// The next node.
    pub next: Option<u32>,
}

/// The forwarding state of Hypatia as a routing model. Destinations and gateways are its ground stations, by number.
#[derive(Debug)]
pub struct Table {
    satellites: u32,
    /// By time, the last one first.
    to_come: Vec<(SimTime, Vec<Hop>)>,
    /// By pair of satellites, the laser from the first to the second.
    lasers: BTreeMap<[u32; 2], LaserId>,
    destinations: Vec<Destination>,
}

/// Next hops to a destination.
#[derive(Clone, Debug)]
struct Destination {
    tree: Tree,
    exits: Vec<Exit>,
    /// Changes that are not in the tree yet: satellites with their next node.
    pending: Vec<(u32, Option<u32>)>,
    /// By station, the satellite up to which it sends.
    entries: Vec<Option<SatelliteId>>,
}

impl Table {
    /// The state of so many satellites and stations over the links of a router: the changes by instant, in any order; of several at
    /// one instant, the later ones in the list hold.
    ///
    /// # Errors
    /// If a next hop is a satellite to which there is no link.
    pub fn new(
        satellites: usize,
        stations: usize,
        links: &[Isl],
        states: Vec<(SimTime, Vec<Hop>)>,
    ) -> Result<Self, String> {
        let mut lasers = BTreeMap::new();
        for (number, link) in links.iter().enumerate() {
            let [from, to] = [link.from, link.to].map(|end| end.index() as u32);
            lasers.insert([from, to], LaserId::from(2 * number));
            lasers.insert([to, from], LaserId::from(2 * number + 1));
        }
        let limit = satellites as u32;
        for Hop { node, next, .. } in states.iter().flat_map(|(_, hops)| hops) {
            let next = next.filter(|next| *node < limit && *next < limit);
            if let Some(next) = next.filter(|next| !lasers.contains_key(&[*node, *next])) {
                return Err(format!("satellite {node} has the next hop {next} without a link"));
            }
        }
        let mut to_come = states;
        // Of one instant, the changes that come first are applied first.
        to_come.sort_by_key(|(at, _)| *at);
        to_come.reverse();
        let destination = Destination {
            tree: Tree::new(satellites),
            exits: Vec::new(),
            pending: Vec::new(),
            entries: vec![None; stations],
        };
        let destinations = vec![destination; stations];
        Ok(Self { satellites: limit, to_come, lasers, destinations })
    }

    /// Notes the changes of an instant.
    fn note(&mut self, hops: &[Hop]) {
        let satellites = self.satellites;
        for Hop { node, end, next } in hops {
            let destination = &mut self.destinations[(end - satellites) as usize];
            if *node < satellites {
                destination.pending.push((*node, *next));
            } else {
                let up = next.filter(|next| *next < satellites);
                destination.entries[(node - satellites) as usize] =
                    up.map(|next| SatelliteId::from(next as usize));
            }
        }
    }
}

impl Routing for Table {
    fn update(&mut self, graph: &Graph) {
        while self.to_come.last().is_some_and(|(at, _)| *at <= graph.now()) {
            if let Some((_, hops)) = self.to_come.pop() {
                self.note(&hops);
            }
        }
    }

    fn route(&mut self, _: &Graph, destination: DestinationId, exits: &[Exit]) {
        let Self { satellites, lasers, destinations, .. } = self;
        let Destination { tree, exits: known, pending, .. } =
            &mut destinations[destination.index()];
        known.clear();
        known.extend_from_slice(exits);
        tree.begin();
        for (satellite, next) in pending.drain(..) {
            let outgoing = next.map(|next| match next.checked_sub(*satellites) {
                Some(station) => (Outgoing::Down(GatewayId::from(station as usize)), next),
                None => (Outgoing::Laser(lasers[&[satellite, next]]), next),
            });
            tree.put(satellite, outgoing);
        }
    }

    fn tree(&self, destination: DestinationId) -> &Tree {
        &self.destinations[destination.index()].tree
    }

    fn entry(&self, station: usize, destination: DestinationId) -> Option<SatelliteId> {
        self.destinations[destination.index()].entries[station]
    }

    fn delay(&self, graph: &Graph, from: SatelliteId, destination: DestinationId) -> u64 {
        let Destination { tree, exits, .. } = &self.destinations[destination.index()];
        delay_along(graph, tree, exits, from)
    }
}
