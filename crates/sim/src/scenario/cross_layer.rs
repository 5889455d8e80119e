//! The cross-layer store of a flow: what the link layer tells its sender of the access links of its paths.

use leobench_base::quantity::LevelError;
use leobench_base::spec::{Fault, UpTo};
use leobench_base::{DirectionId, NodeId, RngTree, SimDuration, SimTime};
use leobench_quic::MultipathSpec;
use typed_index_collections::TiVec;

use super::flow::{HORIZON, check_times};
use super::{FlowSpec, ScenarioSpec};
use crate::routes::Edge;
use crate::topology::AccessConfig;

leobench_base::spec! {
    /// Reports of the link layer for the sender of a flow: satellite, signal-to-noise ratio, range and rate of the access link of
    /// each path, and its next handover. The access link is the first link through the constellation on the way of the data.
    #[derive(Copy)]
    pub struct CrossLayerSpec: Default check = check {
        /// Time between two reports.
        pub every: SimDuration = SimDuration::from_millis(100),
        /// Age of what they say.
        pub delay: SimDuration [UpTo::DELAY] = SimDuration::ZERO,
        /// How far they look ahead for a handover.
        pub horizon: SimDuration = HORIZON,
        /// Error of a signal-to-noise ratio: its standard deviation, drawn for each report. The rate told is that of the wrong ratio.
        pub snr_error: LevelError = LevelError::constant(0.0),
        /// Error of the time of a handover: its standard deviation, drawn once for each handover.
        pub time_error: SimDuration = SimDuration::ZERO,
    }
}

fn check(spec: &CrossLayerSpec) -> Result<(), Fault> {
    check_times(spec.every, spec.horizon, "report")
}

impl CrossLayerSpec {
    /// The same for a flow that starts at a time and whose data may take these directions of links through the constellation, with
    /// errors from random streams below `rng`.
    pub fn config(
        &self,
        start: SimDuration,
        directions: Vec<DirectionId>,
        rng: &RngTree,
    ) -> AccessConfig {
        AccessConfig {
            directions,
            first: SimTime::ZERO + start,
            every: self.every,
            delay: self.delay,
            horizon: self.horizon,
            snr_error_db: self.snr_error.db(),
            time_error: self.time_error,
            snr_rng: rng.child("snr").rng(),
            time_rng: rng.child("time").rng(),
        }
    }
}

impl ScenarioSpec {
    /// The directions of links through the constellation in which data of a flow may travel, whatever moves.
    pub fn access_directions(&self, flow: &FlowSpec) -> Vec<DirectionId> {
        let ends = [&flow.from, &flow.to].map(|name| self.node(name));
        let ([Some(from), Some(to)], Some(edges)) = (ends, self.edges()) else {
            return Vec::new();
        };
        let graph = Graph { used: self.used_by(flow), edges };
        let leads_through_it = |direction: &DirectionId| {
            self.links[self.direction(*direction).0].1.constellation.is_some()
        };
        let all = graph.edges.keys().filter(leads_through_it);
        all.filter(|direction| graph.carries(*direction, [from, to])).collect()
    }

    /// By direction, whether a flow may use it: one with several paths leaves and enters its ends by the links that carry these.
    fn used_by(&self, flow: &FlowSpec) -> TiVec<DirectionId, bool> {
        let multipath = flow.transport.model().multipath();
        let of_paths = |name: &String, between: &[String; 2]| {
            let Some(MultipathSpec { links, peer_links, .. }) = multipath else { return true };
            let at = |node: &str| between.iter().any(|end| end == node);
            (!at(flow.opener()) || links.contains(name))
                && (!at(flow.answerer()) || peer_links.is_empty() || peer_links.contains(name))
        };
        let links = self.links.iter();
        links.flat_map(|(name, link)| [of_paths(name, &link.between); 2]).collect()
    }
}

/// Links in use by a flow.
struct Graph {
    edges: TiVec<DirectionId, Edge>,
    used: TiVec<DirectionId, bool>,
}

impl Graph {
    /// Whether a way between two nodes may take a direction without passing either of its ends twice.
    fn carries(&self, direction: DirectionId, [from, to]: [NodeId; 2]) -> bool {
        let Edge { from: near, to: far, .. } = self.edges[direction];
        self.used[direction] && self.leads([from, near], far) && self.leads([far, to], near)
    }

    /// Whether links lead from one node to another, around a third one.
    fn leads(&self, [from, to]: [NodeId; 2], around: NodeId) -> bool {
        let mut known = vec![from];
        let mut next = 0;
        while let Some(node) = known.get(next).copied().filter(|_| from != around) {
            next += 1;
            for (_, edge) in
                self.edges.iter_enumerated().filter(|(direction, _)| self.used[*direction])
            {
                if edge.from == node && edge.to != around && !known.contains(&edge.to) {
                    known.push(edge.to);
                }
            }
        }
        from != around && known.contains(&to)
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::SimDuration;

    use super::*;

    /// Four nodes in a row, and a fifth beside the second one.
    fn row() -> Graph {
        let ends = [[0, 1], [1, 2], [2, 3], [1, 4]];
        let edges = ends.into_iter().flat_map(|[from, to]| {
            let edge = |from: usize, to: usize| Edge {
                from: from.into(),
                to: to.into(),
                delay: SimDuration::ZERO,
            };
            [edge(from, to), edge(to, from)]
        });
        Graph { edges: edges.collect(), used: TiVec::from(vec![true; 8]) }
    }

    #[test]
    fn ways_lead_forward_and_into_no_dead_end() {
        let carrying = |graph: &Graph, from: usize, to: usize| -> Vec<usize> {
            let all = graph.edges.keys();
            all.filter(|direction| graph.carries(*direction, [from.into(), to.into()]))
                .map(DirectionId::index)
                .collect()
        };
        let mut graph = row();
        assert_eq!(carrying(&graph, 0, 3), [0, 2, 4]);
        assert_eq!(carrying(&graph, 3, 0), [1, 3, 5]);
        assert_eq!(carrying(&graph, 4, 3), [2, 4, 7]);
        graph.used[DirectionId::from(4)] = false;
        assert_eq!(carrying(&graph, 0, 3), [] as [usize; 0]);
        assert_eq!(carrying(&graph, 0, 2), [0, 2]);
    }
}
