//! Ways that are kept until another one is better by a margin.
//!
//! Shortest ways over moving satellites change often, many of them by microseconds. Each change may reorder packets, and in a
//! real network has to be made known. Here a satellite keeps its way to a destination until one is shorter by more than a share
//! of its delay and by more than a time. Ways of one destination still form a tree, so that
//! satellites forward packets without loops, although each of them decides by its own way.

use leobench_base::SimDuration;
use leobench_base::spec::Range;

use super::super::graph::Graph;
use super::super::router::Exit;
use super::super::tree::{Delays, Heap, Tree};
use super::{Routing, RoutingModel};
use crate::motion::DestinationId;

/// Shares are counted in millionths, so that they are compared exactly.
const MILLION: f64 = 1e6;

leobench_base::spec! {
    /// Each satellite keeps its way to a destination until another one is better by more than a margin, or its own is interrupted.
    pub struct HysteresisSpec: Default {
        /// The part of the delay of the present way by which the other one has to be shorter.
        pub share: f64 [Range::from(0.0).below(1.0)] = 0.1,
        /// The time by which it has to be shorter as well.
        pub time: SimDuration = SimDuration::ZERO,
    }
}

impl RoutingModel for HysteresisSpec {
    fn build(&self, satellites: usize, destinations: usize) -> Box<dyn Routing> {
        let pair = [Tree::new(satellites), Tree::new(satellites)];
        let trees = vec![pair; destinations];
        Box::new(Hysteresis {
            margin: Margin::new(self.share, self.time),
            trees,
            heap: Heap::new(),
        })
    }
}

/// How much better another way has to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margin {
    millionths: u128,
    nanos: u64,
}

impl Margin {
    pub(super) fn new(share: f64, time: SimDuration) -> Self {
        Self { millionths: (share * MILLION).round() as u128, nanos: time.as_nanos() }
    }

    /// Whether the best way is enough better than the present one, both in nanoseconds. A longer common part never makes it so.
    pub(super) fn is_exceeded(self, own: u64, best: u64) -> bool {
        let saved = own.saturating_sub(best);
        saved > self.nanos
            && u128::from(saved) * (MILLION as u128) > self.millionths * u128::from(own)
    }
}

#[derive(Debug)]
struct Hysteresis {
    margin: Margin,
    /// By destination: the ways that are kept, and the shortest ones.
    trees: Vec<[Tree; 2]>,
    heap: Heap,
}

impl Routing for Hysteresis {
    fn route(&mut self, graph: &Graph, destination: DestinationId, exits: &[Exit]) {
        let [kept, best] = &mut self.trees[destination.index()];
        let delays = Delays(graph.delays());
        best.search(graph, &delays, exits, &mut self.heap);
        kept.follow(&delays, exits);
        kept.settle(best, graph, &delays, |own, best| self.margin.is_exceeded(own, best));
    }

    fn tree(&self, destination: DestinationId) -> &Tree {
        &self.trees[destination.index()][0]
    }
}
