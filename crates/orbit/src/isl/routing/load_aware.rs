//! Ways that avoid lasers with much traffic.
//!
//! The cost of a laser is its delay plus a price for its load. Traffic that follows such costs moves away from where it is, which
//! moves the costs: the first routing of the ARPANET by measured delay oscillated so. Its revision (Khanna and Zinky 1989, The
//! Revised ARPANET Routing Metric) averaged what it measured, and limited how much a change moves. Here three things damp:
//! loads are smoothed over time; a way is kept until another one is better by a share of its cost; and destinations take turns,
//! so that the loads of those that moved are known before the others choose. Interrupted ways are repaired at once.

use leobench_base::SimDuration;
use leobench_base::spec::{Range, Whole};

use super::super::graph::{Graph, NONE};
use super::super::router::Exit;
use super::super::tree::{ByLaser, Heap, Tree};
use super::hysteresis::Margin;
use super::{Load, Routing, RoutingModel, delay_along};
use crate::motion::{DestinationId, SatelliteId};

leobench_base::spec! {
    /// The way of the least cost, where a laser costs its delay and a price for its smoothed load.
    pub struct LoadAwareSpec: Default {
        /// Price of full utilisation.
        pub utilisation: SimDuration = SimDuration::from_millis(10),
        /// Price per time that packets wait for the laser.
        pub queueing: f64 [Range::from(0.0)] = 0.0,
        /// Time constant over which loads are smoothed; much shorter than a round of turns, so that each turn sees the last ones.
        pub smoothing: SimDuration = SimDuration::from_secs(1),
        /// The part of the cost of the present way by which another one has to be cheaper.
        pub share: f64 [Range::from(0.0).below(1.0)] = 0.1,
        /// Searches from one turn of a destination to its next; interrupted ways are repaired at each search.
        pub turns: Whole<1, 100> = Whole::nearest(8),
    }
}

impl RoutingModel for LoadAwareSpec {
    fn build(&self, satellites: usize, destinations: usize) -> Box<dyn Routing> {
        let ways = Ways {
            trees: [Tree::new(satellites), Tree::new(satellites)],
            exits: Vec::new(),
            searches: 0,
        };
        Box::new(LoadAware {
            utilisation: self.utilisation.as_nanos() as f64,
            queueing: self.queueing,
            smoothing: self.smoothing,
            margin: Margin::new(self.share, SimDuration::ZERO),
            turns: self.turns.get() as usize,
            prices: Vec::new(),
            costs: Vec::new(),
            ways: vec![ways; destinations],
            heap: Heap::new(),
        })
    }

    fn needs_loads(&self) -> bool {
        true
    }
}

/// The ways to a destination: those that are kept, and the cheapest ones.
#[derive(Clone, Debug)]
struct Ways {
    trees: [Tree; 2],
    exits: Vec<Exit>,
    /// Number of searches.
    searches: usize,
}

#[derive(Debug)]
struct LoadAware {
    /// In nanoseconds.
    utilisation: f64,
    queueing: f64,
    smoothing: SimDuration,
    margin: Margin,
    turns: usize,
    /// By laser, the smoothed price of its load, in nanoseconds.
    prices: Vec<f64>,
    /// By laser, its delay and its price.
    costs: Vec<u64>,
    ways: Vec<Ways>,
    heap: Heap,
}

impl Routing for LoadAware {
    fn observe(&mut self, elapsed: SimDuration, loads: &[Load]) {
        let constant = self.smoothing.as_secs_f64();
        let weight =
            if constant > 0.0 { 1.0 - libm::exp(-elapsed.as_secs_f64() / constant) } else { 1.0 };
        self.prices.resize(self.prices.len().max(loads.len()), 0.0);
        for (price, load) in self.prices.iter_mut().zip(loads) {
            let queueing = load.queueing.as_nanos() as f64 * self.queueing;
            let now = load.utilisation * self.utilisation + queueing;
            *price += weight * (now - *price);
        }
    }

    fn update(&mut self, graph: &Graph) {
        self.prices.resize(2 * graph.delays().len(), 0.0);
        let delays = graph.delays().iter().flat_map(|delay| [*delay; 2]);
        self.costs.clear();
        self.costs.extend(
            delays.zip(&self.prices).map(|(delay, price)| {
                if delay == NONE { NONE } else { delay + price.round() as u64 }
            }),
        );
    }

    fn route(&mut self, graph: &Graph, destination: DestinationId, exits: &[Exit]) {
        let Ways { trees: [kept, best], exits: known, searches } =
            &mut self.ways[destination.index()];
        known.clear();
        known.extend_from_slice(exits);
        let costs = ByLaser(&self.costs);
        best.search(graph, &costs, exits, &mut self.heap);
        kept.follow(&costs, exits);
        *searches += 1;
        let has_turn = (*searches + destination.index()).is_multiple_of(self.turns);
        let margin = self.margin;
        kept.settle(best, graph, &costs, |own, best| has_turn && margin.is_exceeded(own, best));
    }

    fn tree(&self, destination: DestinationId) -> &Tree {
        &self.ways[destination.index()].trees[0]
    }

    fn delay(&self, graph: &Graph, from: SatelliteId, destination: DestinationId) -> u64 {
        let ways = &self.ways[destination.index()];
        delay_along(graph, &ways.trees[0], &ways.exits, from)
    }
}
