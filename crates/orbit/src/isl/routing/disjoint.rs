//! Two ways of a pair that share no link between satellites.
//!
//! The algorithm of Suurballe (Suurballe and Tarjan 1984, A quick method for finding shortest pairs of disjoint paths): the
//! shortest way, then the shortest one in the graph in which the links of the first can only be taken back, at no cost by the
//! reduced lengths of the arcs; what both take in opposite directions is left out. No other two ways take less time together,
//! which the two shortest ones that one finds one after the other may not achieve, nor be found at all.

use std::cmp::Reverse;

use leobench_base::SimDuration;

use super::super::graph::{Graph, LaserId, NONE};
use super::super::router::Exit;
use super::super::tree::{Heap, Tree};
use super::shortest::Shortest;
use super::{Reach, Routing, RoutingModel, SourceRoute, lasers_along};
use crate::motion::{DestinationId, GatewayId, SatelliteId};

leobench_base::spec! {
    /// Two ways at a time that share no link between satellites and take the least time together; one if there are no two.
    ///
    /// A place that one satellite serves has the way up to it in common, and likewise the way down.
    pub struct DisjointSpec {}
}

impl RoutingModel for DisjointSpec {
    fn build(&self, satellites: usize, destinations: usize) -> Box<dyn Routing> {
        let shortest = Shortest::new(satellites, destinations);
        Box::new(Disjoint { shortest, exits: vec![Vec::new(); destinations] })
    }

    fn is_multipath(&self) -> bool {
        true
    }
}

/// Next hops are those of the shortest ways.
#[derive(Debug)]
struct Disjoint {
    shortest: Shortest,
    /// By destination.
    exits: Vec<Vec<Exit>>,
}

impl Routing for Disjoint {
    fn route(&mut self, graph: &Graph, destination: DestinationId, exits: &[Exit]) {
        self.exits[destination.index()] = exits.to_vec();
        self.shortest.route(graph, destination, exits);
    }

    fn tree(&self, destination: DestinationId) -> &Tree {
        self.shortest.tree(destination)
    }

    fn source_routes(
        &self,
        graph: &Graph,
        reaches: &[Reach],
        destination: DestinationId,
    ) -> Vec<SourceRoute> {
        let (tree, exits) = (self.tree(destination), &self.exits[destination.index()]);
        let best = reaches.iter().min_by_key(|reach| (reach.up + reach.rest, reach.satellite));
        let Some(first) = best.and_then(|best| Part::along(graph, tree, best.satellite)) else {
            return Vec::new();
        };
        let second = Search::new(graph, tree, &first).run(reaches, exits);
        let mut parts = vec![first];
        parts.extend(second);
        routes(graph, &parts, reaches, exits)
    }
}

/// A way from an entry over lasers to an exit.
#[derive(Clone, Debug)]
struct Part {
    entry: SatelliteId,
    lasers: Vec<LaserId>,
    exit: (SatelliteId, GatewayId),
}

impl Part {
    /// The way over the next hops of a tree.
    fn along(graph: &Graph, tree: &Tree, entry: SatelliteId) -> Option<Self> {
        let (lasers, exit) = lasers_along(graph, tree, entry)?;
        Some(Self { entry, lasers, exit })
    }
}

/// A search by reduced lengths: that of an arc is its delay, plus the rest from its end, less the rest from its start.
struct Search<'a> {
    graph: &'a Graph,
    tree: &'a Tree,
    /// By link of the first way, the direction that it takes.
    taken: Vec<Option<LaserId>>,
    /// By satellite.
    lengths: Vec<u64>,
    /// By satellite, the laser that leads there; none at an entry.
    before: Vec<Option<LaserId>>,
    heap: Heap,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, tree: &'a Tree, first: &Part) -> Self {
        let mut taken = vec![None; graph.links().len()];
        for laser in &first.lasers {
            taken[laser.link()] = Some(*laser);
        }
        let satellites = graph.satellites();
        Self {
            graph,
            tree,
            taken,
            lengths: vec![NONE; satellites],
            before: vec![None; satellites],
            heap: Heap::new(),
        }
    }

    /// The second way, before what both take in opposite directions is left out.
    fn run(mut self, reaches: &[Reach], exits: &[Exit]) -> Option<Part> {
        let shortest = reaches.iter().map(|reach| reach.up + reach.rest).min()?;
        for reach in reaches {
            self.improve(reach.satellite, reach.up + reach.rest - shortest, None);
        }
        // The least way over an exit: its length, the satellite, the gateway.
        let mut found: Option<(u64, SatelliteId, GatewayId)> = None;
        while let Some(Reverse((length, number))) = self.heap.pop() {
            let at = SatelliteId::from(number as usize);
            if length > self.lengths[at.index()] || found.is_some_and(|(best, ..)| best <= length) {
                continue;
            }
            for exit in exits.iter().filter(|exit| exit.satellite == at) {
                let all = length + exit.delay.as_nanos() - self.tree.cost(at);
                if found.is_none_or(|best| (all, at, exit.gateway) < best) {
                    found = Some((all, at, exit.gateway));
                }
            }
            self.leave(at, length);
        }
        let (_, last, gateway) = found?;
        let (mut entry, mut lasers) = (last, Vec::new());
        while let Some(laser) = self.before[entry.index()] {
            lasers.push(laser);
            entry = self.graph.laser(laser).from;
        }
        lasers.reverse();
        Some(Part { entry, lasers, exit: (last, gateway) })
    }

    /// Goes on to the neighbours of a satellite.
    fn leave(&mut self, at: SatelliteId, length: u64) {
        let graph = self.graph;
        for neighbour in graph.around(at.index() as u32) {
            let to = SatelliteId::from(neighbour.satellite as usize);
            let laser = LaserId::from(neighbour.incoming as usize).reverse();
            let (delay, rest) = (graph.delays()[laser.link()], self.tree.cost(to));
            if delay == NONE || rest == NONE {
                continue;
            }
            let more = match self.taken[laser.link()] {
                Some(first) if first == laser => continue,
                // Back along the first way, which is a shortest one: its arcs have no reduced length.
                Some(_) => 0,
                None => delay + rest - self.tree.cost(at),
            };
            self.improve(to, length + more, Some(laser));
        }
    }

    fn improve(&mut self, satellite: SatelliteId, length: u64, before: Option<LaserId>) {
        let index = satellite.index();
        if length < self.lengths[index] {
            self.lengths[index] = length;
            self.before[index] = before;
            self.heap.push(Reverse((length, index as u32)));
        }
    }
}

/// Puts the arcs of one or two ways together anew, without those that both take in opposite directions.
fn routes(graph: &Graph, parts: &[Part], reaches: &[Reach], exits: &[Exit]) -> Vec<SourceRoute> {
    let all: Vec<LaserId> = parts.iter().flat_map(|part| part.lasers.iter().copied()).collect();
    let mut lasers: Vec<LaserId> =
        all.iter().copied().filter(|laser| !all.contains(&laser.reverse())).collect();
    let mut downs: Vec<_> = parts.iter().map(|part| part.exit).collect();
    let mut found = Vec::new();
    for part in parts {
        let (mut at, mut way) = (part.entry, Vec::new());
        while let Some(place) = lasers.iter().position(|laser| graph.laser(*laser).from == at) {
            let laser = lasers.remove(place);
            at = graph.laser(laser).to;
            way.push(laser);
        }
        let down = downs.iter().position(|(satellite, _)| *satellite == at);
        let down = down.expect("as many arcs lead to a satellite as from it");
        let (_, gateway) = downs.remove(down);
        let up = reaches.iter().find(|reach| reach.satellite == part.entry).map(|reach| reach.up);
        let over: u64 = way.iter().map(|laser| graph.delays()[laser.link()]).sum();
        let here = exits.iter().filter(|exit| exit.satellite == at && exit.gateway == gateway);
        let last = here.map(|exit| exit.delay.as_nanos()).min();
        let delay = up.unwrap_or_default() + over + last.unwrap_or_default();
        let delay = SimDuration::from_nanos(delay);
        found.push(SourceRoute { entry: part.entry, lasers: way, gateway, delay });
    }
    found.sort_by_key(|route| route.delay);
    found
}
