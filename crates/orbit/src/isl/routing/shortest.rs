//! The ways of the least delay, as Hypatia computes them (Kassing et al. 2020, Exploring the Internet from Space).

use super::super::graph::Graph;
use super::super::router::Exit;
use super::super::tree::{Delays, Heap, Tree};
use super::{Routing, RoutingModel};
use crate::motion::DestinationId;

leobench_base::spec! {
    /// The way of the least delay, anew at each search.
    pub struct ShortestSpec {}
}

impl RoutingModel for ShortestSpec {
    fn build(&self, satellites: usize, destinations: usize) -> Box<dyn Routing> {
        Box::new(Shortest::new(satellites, destinations))
    }
}

/// A tree per destination.
#[derive(Debug)]
pub(in crate::isl) struct Shortest {
    trees: Vec<Tree>,
    heap: Heap,
}

impl Shortest {
    pub(in crate::isl) fn new(satellites: usize, destinations: usize) -> Self {
        Self { trees: vec![Tree::new(satellites); destinations], heap: Heap::new() }
    }
}

impl Routing for Shortest {
    fn route(&mut self, graph: &Graph, destination: DestinationId, exits: &[Exit]) {
        let tree = &mut self.trees[destination.index()];
        tree.search(graph, &Delays(graph.delays()), exits, &mut self.heap);
    }

    fn tree(&self, destination: DestinationId) -> &Tree {
        &self.trees[destination.index()]
    }
}
