//! Static shortest-path routes, the same for the engine that forwards by them and the checks that rely on them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leobench_base::SimDuration;

/// One direction of a link as the routes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Number of the node it leads from.
    pub from: usize,
    /// Number of the node it leads to.
    pub to: usize,
    /// Propagation delay, the metric.
    pub delay: SimDuration,
}

/// Cost of reaching a destination: nanoseconds of delay, then hops.
type Cost = (u64, usize);

/// The routes to some of the nodes.
///
/// The path is the one of least delay; among equals that of fewest hops, then that by the edges given first. As the
/// cost of the rest of the path falls with every hop, forwarding hop by hop cannot loop.
#[derive(Clone, Debug)]
pub struct Routes {
    edges: Vec<Edge>,
    /// By destination and node: the edge to forward by. Empty for the destinations that were not asked for.
    next_hops: Vec<Vec<Option<usize>>>,
}

impl Routes {
    /// The routes over `edges` between so many `nodes` to the `destinations`; time and memory grow with their number.
    ///
    /// # Panics
    /// If an edge or a destination is a node that does not exist.
    pub fn new(
        nodes: usize,
        edges: Vec<Edge>,
        destinations: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut into = vec![Vec::new(); nodes];
        for edge in &edges {
            into[edge.to].push(*edge);
        }
        let mut next_hops = vec![Vec::new(); nodes];
        for destination in destinations {
            if next_hops[destination].is_empty() {
                next_hops[destination] = hops_to(destination, &edges, &into);
            }
        }
        Self { edges, next_hops }
    }

    /// The edges by number.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edge that `node` forwards by to `destination`, one of those asked for; `None` if there is no way, or none to
    /// go.
    pub fn next_hop(&self, node: usize, destination: usize) -> Option<usize> {
        self.next_hops[destination][node]
    }

    /// The edges from `from` to `to`, one of the destinations asked for, in order of travel; `None` if there is no way.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut path = Vec::new();
        let mut node = from;
        while node != to {
            let edge = self.next_hop(node, to)?;
            path.push(edge);
            node = self.edges[edge].to;
        }
        Some(path)
    }
}

/// The edge that every node forwards by to `destination`.
fn hops_to(destination: usize, edges: &[Edge], into: &[Vec<Edge>]) -> Vec<Option<usize>> {
    let costs = costs_to(destination, into);
    let mut best: Vec<Option<(Cost, usize)>> = vec![None; into.len()];
    for (index, edge) in edges.iter().enumerate() {
        let Some(rest) = costs[edge.to] else { continue };
        let way = (through(edge, rest), index);
        if edge.from != destination && best[edge.from].is_none_or(|best| way < best) {
            best[edge.from] = Some(way);
        }
    }
    best.iter().map(|best| best.map(|(_, edge)| edge)).collect()
}

/// What it costs to get from every node to `destination` (Dijkstra 1959), walking edges backwards.
fn costs_to(destination: usize, into: &[Vec<Edge>]) -> Vec<Option<Cost>> {
    let mut costs: Vec<Option<Cost>> = vec![None; into.len()];
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

/// Cost of taking `edge` and then a path of cost `rest`.
fn through(edge: &Edge, (delay, hops): Cost) -> Cost {
    (delay.saturating_add(edge.delay.as_nanos()), hops + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edge(from: usize, to: usize, millis: u64) -> Edge {
        Edge { from, to, delay: SimDuration::from_millis(millis) }
    }

    fn route(edges: &[Edge], nodes: usize, from: usize, to: usize) -> Option<Vec<usize>> {
        Routes::new(nodes, edges.to_vec(), [to]).path(from, to)
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

    proptest! {
        /// Against Floyd and Warshall's all-pairs distances (Floyd 1962).
        #[test]
        fn every_path_has_the_least_delay(
            links in prop::collection::vec((0usize..7, 0usize..7, 0u64..4), 0..25),
        ) {
            let edges: Vec<_> = links.iter().map(|(from, to, ms)| edge(*from, *to, *ms)).collect();
            let mut least = [[None::<SimDuration>; 7]; 7];
            for edge in &edges {
                let cell = &mut least[edge.from][edge.to];
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
            let routes = Routes::new(7, edges.clone(), 0..7);
            for (from, to) in (0..49).map(|n| (n / 7, n % 7)) {
                let taken = routes.path(from, to);
                let delay = taken.map(|path| path.iter().map(|edge| edges[*edge].delay).sum());
                prop_assert_eq!(delay, least[from][to]);
            }
        }
    }
}
