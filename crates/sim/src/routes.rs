//! Shortest-path routes over the links in use, the same for the engine that forwards by them and the checks that rely on
//! them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leobench_base::{DirectionId, NodeId, SimDuration};
use typed_index_collections::{TiSlice, TiVec};

/// One direction of a link as the routes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node it leads from.
    pub from: NodeId,
    /// The node it leads to.
    pub to: NodeId,
    /// Propagation delay, the metric.
    pub delay: SimDuration,
}

/// Cost of reaching a destination: nanoseconds of delay, then hops.
type Cost = (u64, usize);

/// By node, the link to forward by.
type Hops = TiVec<NodeId, Option<DirectionId>>;

/// The routes to the nodes that somebody sends to.
///
/// The path is the one of least delay; among equals that of fewest hops, then that by the links given first. As the
/// cost of the rest of the path falls with every hop, forwarding hop by hop cannot loop.
#[derive(Clone, Debug)]
pub struct Routes {
    edges: TiVec<DirectionId, Edge>,
    /// Whether routes may lead over a link.
    usable: TiVec<DirectionId, bool>,
    /// By destination; empty for those that nobody sends to.
    hops: TiVec<NodeId, Hops>,
}

impl Routes {
    /// Routes over `edges` between so many `nodes`, to no destination yet.
    ///
    /// # Panics
    /// If an edge leads from or to a node that does not exist.
    pub fn new(nodes: usize, edges: TiVec<DirectionId, Edge>) -> Self {
        assert!(edges.iter().all(|edge| edge.from.index().max(edge.to.index()) < nodes));
        let usable = edges.iter().map(|_| true).collect();
        Self { edges, usable, hops: TiVec::from(vec![Hops::new(); nodes]) }
    }

    /// The same with the routes to these destinations.
    #[must_use]
    pub fn to(mut self, destinations: impl IntoIterator<Item = NodeId>) -> Self {
        for destination in destinations {
            self.add(destination);
        }
        self
    }

    /// Computes the routes to a destination, unless they are known. Time and memory grow with the number of destinations.
    pub fn add(&mut self, destination: NodeId) {
        if self.hops[destination].is_empty() {
            self.hops[destination] = self.hops_to(destination);
        }
    }

    /// The directions of links by number.
    pub fn edges(&self) -> &TiSlice<DirectionId, Edge> {
        &self.edges
    }

    /// Says whether routes may lead over a link, and at which delay, from the next [`update`](Self::update) on.
    pub fn set(&mut self, direction: DirectionId, usable: bool, delay: SimDuration) {
        self.usable[direction] = usable;
        self.edges[direction].delay = delay;
    }

    /// Computes all routes anew.
    pub fn update(&mut self) {
        for destination in 0..self.hops.len() {
            let destination = NodeId::from(destination);
            if !self.hops[destination].is_empty() {
                self.hops[destination] = self.hops_to(destination);
            }
        }
    }

    /// The link that `node` forwards by to `destination`, which must have been added; `None` if there is no way, or none
    /// to go.
    pub fn next_hop(&self, node: NodeId, destination: NodeId) -> Option<DirectionId> {
        self.hops[destination][node]
    }

    /// The links from `from` to `to`, which must have been added, in order of travel; `None` if there is no way.
    pub fn path(&self, from: NodeId, to: NodeId) -> Option<Vec<DirectionId>> {
        let mut path = Vec::new();
        let mut node = from;
        while node != to {
            let direction = self.next_hop(node, to)?;
            path.push(direction);
            node = self.edges[direction].to;
        }
        Some(path)
    }

    fn in_use(&self) -> impl Iterator<Item = (DirectionId, &Edge)> {
        self.edges.iter_enumerated().filter(|(direction, _)| self.usable[*direction])
    }

    /// The link that every node forwards by to `destination`.
    fn hops_to(&self, destination: NodeId) -> Hops {
        let costs = self.costs_to(destination);
        let mut best: TiVec<NodeId, Option<(Cost, DirectionId)>> =
            TiVec::from(vec![None; costs.len()]);
        for (direction, edge) in self.in_use() {
            let Some(rest) = costs[edge.to] else { continue };
            let way = (through(edge, rest), direction);
            if edge.from != destination && best[edge.from].is_none_or(|best| way < best) {
                best[edge.from] = Some(way);
            }
        }
        best.iter().map(|best| best.map(|(_, direction)| direction)).collect()
    }

    /// Returns the cost from every node to `destination` (Dijkstra 1959, walking links backwards).
    fn costs_to(&self, destination: NodeId) -> TiVec<NodeId, Option<Cost>> {
        let mut into: TiVec<NodeId, Vec<&Edge>> = TiVec::from(vec![Vec::new(); self.hops.len()]);
        for (_, edge) in self.in_use() {
            into[edge.to].push(edge);
        }
        let mut costs: TiVec<NodeId, Option<Cost>> = TiVec::from(vec![None; self.hops.len()]);
        let mut open = BinaryHeap::from([Reverse(((0, 0), destination))]);
        while let Some(Reverse((cost, node))) = open.pop() {
            if costs[node].is_some() {
                continue;
            }
            costs[node] = Some(cost);
            for edge in &into[node] {
                if costs[edge.from].is_none() {
                    open.push(Reverse((through(edge, cost), edge.from)));
                }
            }
        }
        costs
    }
}

/// Cost of taking `edge` and then a path of cost `rest`.
fn through(edge: &Edge, (delay, hops): Cost) -> Cost {
    (delay.saturating_add(edge.delay.as_nanos()), hops + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edge(from: usize, to: usize, millis: u64) -> Edge {
        Edge { from: from.into(), to: to.into(), delay: SimDuration::from_millis(millis) }
    }

    fn routes(edges: &[Edge], nodes: usize) -> Routes {
        Routes::new(nodes, edges.to_vec().into())
    }

    fn path(routes: &Routes, from: usize, to: usize) -> Option<Vec<usize>> {
        let path = routes.path(from.into(), to.into())?;
        Some(path.into_iter().map(DirectionId::index).collect())
    }

    fn route(edges: &[Edge], nodes: usize, from: usize, to: usize) -> Option<Vec<usize>> {
        path(&routes(edges, nodes).to([to.into()]), from, to)
    }

    #[test]
    fn the_least_delay_wins_even_over_more_hops() {
        let edges = [edge(0, 2, 30), edge(0, 1, 10), edge(1, 2, 10)];
        assert_eq!(route(&edges, 3, 0, 2), Some(vec![1, 2]));
    }

    #[test]
    fn ties_go_to_fewer_hops_then_to_the_edge_given_first() {
        let edges = [edge(0, 1, 10), edge(1, 2, 10), edge(0, 2, 20), edge(0, 2, 20)];
        assert_eq!(route(&edges, 3, 0, 2), Some(vec![2]));
        let zero = [edge(0, 1, 0), edge(1, 0, 0), edge(1, 2, 0), edge(0, 2, 0)];
        assert_eq!(route(&zero, 3, 0, 2), Some(vec![3]));
    }

    #[test]
    fn edges_lead_one_way_only() {
        let edges = [edge(0, 1, 1), edge(1, 2, 1)];
        assert_eq!(route(&edges, 3, 0, 2), Some(vec![0, 1]));
        assert_eq!(route(&edges, 3, 2, 0), None);
        assert_eq!(route(&edges, 3, 1, 1), Some(vec![]));
    }

    #[test]
    fn an_update_follows_the_links_in_use_and_their_delays() {
        let mut routes = routes(&[edge(0, 1, 10), edge(0, 1, 20)], 2).to([NodeId::from(1)]);
        let [first, second] = [0, 1].map(DirectionId::from);
        routes.set(first, false, SimDuration::from_millis(10));
        assert_eq!(path(&routes, 0, 1), Some(vec![0]), "not before the update");
        routes.update();
        assert_eq!(path(&routes, 0, 1), Some(vec![1]));
        routes.set(second, false, SimDuration::from_millis(20));
        routes.update();
        assert_eq!(path(&routes, 0, 1), None);
        routes.set(first, true, SimDuration::from_millis(30));
        routes.set(second, true, SimDuration::from_millis(20));
        routes.update();
        assert_eq!(path(&routes, 0, 1), Some(vec![1]));
    }

    proptest! {
        /// Against Floyd and Warshall's all-pairs distances (Floyd 1962).
        #[test]
        fn every_path_has_the_least_delay(
            links in prop::collection::vec((0usize..7, 0usize..7, 0u64..4), 0..25),
        ) {
            let edges: Vec<_> = links.iter().map(|(from, to, ms)| edge(*from, *to, *ms)).collect();
            let mut least = [[None::<SimDuration>; 7]; 7];
            for edge in &edges {
                let cell = &mut least[edge.from.index()][edge.to.index()];
                *cell = Some(cell.map_or(edge.delay, |delay| delay.min(edge.delay)));
            }
            for (node, row) in least.iter_mut().enumerate() {
                row[node] = Some(SimDuration::ZERO);
            }
            for (via, from, to) in (0..343).map(|n| (n / 49, n / 7 % 7, n % 7)) {
                if let (Some(first), Some(second)) = (least[from][via], least[via][to]) {
                    let sum = first + second;
                    least[from][to] = Some(least[from][to].map_or(sum, |delay| delay.min(sum)));
                }
            }
            let routes = routes(&edges, 7).to((0..7).map(NodeId::from));
            for (from, to) in (0..49).map(|n| (n / 7, n % 7)) {
                let taken = path(&routes, from, to);
                let delay = taken.map(|path| path.iter().map(|edge| edges[*edge].delay).sum());
                prop_assert_eq!(delay, least[from][to]);
            }
        }
    }
}
