//! Routing models: which way packets take over the links between satellites. One file per model, one line here to register it.
//!
//! A model keeps a tree of next hops for each destination; the [`Router`](super::Router) hands it the graph of the moment, and
//! the satellites that reach the destination.

pub mod disjoint;
pub mod hysteresis;
pub mod load_aware;
pub mod shortest;
pub mod table;

use std::fmt::Debug;

use leobench_base::SimDuration;

use super::graph::{Graph, LaserId, NONE};
use super::router::{Exit, Outgoing};
use super::tree::Tree;
use crate::motion::{DestinationId, GatewayId, SatelliteId};

/// The traffic of a laser in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// The share of the time in which it sent, from 0 to 1.
    pub utilisation: f64,
    /// How long packets waited for it on average.
    pub queueing: SimDuration,
}

/// A way that a packet can carry along from its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRoute {
    /// The satellite up to which it leads first.
    pub entry: SatelliteId,
    /// All lasers in order.
    pub lasers: Vec<LaserId>,
    /// The gateway at the end.
    pub gateway: GatewayId,
    /// From the place to the destination.
    pub delay: SimDuration,
}

/// A satellite that a place can use, with the delays up to it and from there to the destination, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub(super) satellite: SatelliteId,
    pub(super) up: u64,
    pub(super) rest: u64,
}

/// The ways to all destinations.
pub trait Routing: Debug + Send {
    /// Tells what the lasers, by number, have sent for some time.
    fn observe(&mut self, elapsed: SimDuration, loads: &[Load]) {
        let _ = (elapsed, loads);
    }

    /// Follows the delays of a new instant.
    fn update(&mut self, graph: &Graph) {
        let _ = graph;
    }

    /// Computes the ways to a destination with its present exits.
    fn route(&mut self, graph: &Graph, destination: DestinationId, exits: &[Exit]);

    /// The next hops to a destination.
    fn tree(&self, destination: DestinationId) -> &Tree;

    /// The satellite up to which a station sends packets to a destination, if the model says so.
    fn entry(&self, station: usize, destination: DestinationId) -> Option<SatelliteId> {
        let _ = (station, destination);
        None
    }

    /// The delay of the way from a satellite to a destination, in nanoseconds; without a way, the largest number.
    fn delay(&self, graph: &Graph, from: SatelliteId, destination: DestinationId) -> u64 {
        let _ = graph;
        self.tree(destination).cost(from)
    }

    /// The ways from a place that can use some satellites, the one with the least delay first.
    fn source_routes(
        &self,
        graph: &Graph,
        reaches: &[Reach],
        destination: DestinationId,
    ) -> Vec<SourceRoute> {
        let best = reaches.iter().min_by_key(|reach| (reach.up + reach.rest, reach.satellite));
        best.and_then(|best| along(graph, self.tree(destination), best)).into_iter().collect()
    }
}

/// A specification of a routing model.
pub trait RoutingModel {
    /// Builds it for so many satellites and destinations.
    fn build(&self, satellites: usize, destinations: usize) -> Box<dyn Routing>;

    /// Whether its ways depend on what the lasers carry ([`Router::observe`](super::Router::observe)).
    fn needs_loads(&self) -> bool {
        false
    }

    /// Whether a pair of places has several ways at a time ([`Router::source_routes`](super::Router::source_routes)).
    fn is_multipath(&self) -> bool {
        false
    }
}

leobench_base::kinds! {
    /// Routing models over links between satellites.
    pub enum RoutingSpec as dyn RoutingModel {
        Shortest(shortest::ShortestSpec) = "shortest",
        Hysteresis(hysteresis::HysteresisSpec) = "hysteresis",
        LoadAware(load_aware::LoadAwareSpec) = "load_aware",
        Disjoint(disjoint::DisjointSpec) = "disjoint",
    }
}

impl Default for RoutingSpec {
    fn default() -> Self {
        Self::Shortest(shortest::ShortestSpec {})
    }
}

/// The way over the next hops of a tree, which has no loop.
fn along(graph: &Graph, tree: &Tree, reach: &Reach) -> Option<SourceRoute> {
    let entry = reach.satellite;
    let (lasers, (_, gateway)) = lasers_along(graph, tree, entry)?;
    let delay = SimDuration::from_nanos(reach.up + reach.rest);
    Some(SourceRoute { entry, lasers, gateway, delay })
}

/// The lasers of the way over the next hops of a tree, which has no loop, and where it ends: its last satellite, and the gateway.
fn lasers_along(
    graph: &Graph,
    tree: &Tree,
    entry: SatelliteId,
) -> Option<(Vec<LaserId>, (SatelliteId, GatewayId))> {
    let (mut at, mut lasers) = (entry, Vec::new());
    loop {
        match tree.outgoing(at)? {
            Outgoing::Laser(laser) => {
                lasers.push(laser);
                at = graph.laser(laser).to;
            }
            Outgoing::Down(gateway) => return Some((lasers, (at, gateway))),
        }
    }
}

/// The delay over the next hops of a tree, in nanoseconds; `NONE` if they lead nowhere, in a circle, or over a laser that is off.
fn delay_along(graph: &Graph, tree: &Tree, exits: &[Exit], from: SatelliteId) -> u64 {
    let (mut at, mut total) = (from, 0u64);
    for _ in 0..=graph.satellites() {
        match tree.outgoing(at) {
            None => return NONE,
            Some(Outgoing::Laser(laser)) => {
                let Some(delay) = graph.delay(laser) else { return NONE };
                total += delay.as_nanos();
                at = graph.laser(laser).to;
            }
            Some(Outgoing::Down(gateway)) => {
                let here = |exit: &&Exit| exit.satellite == at && exit.gateway == gateway;
                let down = exits.iter().filter(here).map(|exit| exit.delay.as_nanos()).min();
                return down.map_or(NONE, |down| total + down);
            }
        }
    }
    NONE
}
