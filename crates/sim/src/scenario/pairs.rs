//! The pairs of a client's links and a server's addresses between which a path may lead.

use leobench_base::{DirectionId, NodeId};
use leobench_quic::MultipathSpec;

use super::{FlowSpec, ScenarioSpec};
use crate::routes::Routes;

impl ScenarioSpec {
    /// The places in `links` and in `peer_links` of the pairs that a route connects at the start: the link itself, or a route from
    /// its far end to that of the other one which leads over neither end of the flow.
    pub fn reachable_pairs(
        &self,
        flow: &FlowSpec,
        multipath: &MultipathSpec,
    ) -> Vec<(usize, usize)> {
        let node =
            |name: &str| self.nodes.iter().position(|(known, _)| known == name).map(NodeId::from);
        let far = |link: &str, near: &str| {
            let (_, link) = self.links.iter().find(|(known, _)| known == link)?;
            let far = link.between.iter().find(|end| *end != near)?;
            node(far)
        };
        let ends = [node(flow.opener()), node(flow.answerer())];
        let start = self.topologies().next();
        let leads = |link: &str, peer: &str| {
            let (Some(from), Some(to)) = (far(link, flow.opener()), far(peer, flow.answerer()))
            else {
                return false;
            };
            if link == peer {
                return true;
            }
            let is_end = |at: NodeId| ends.contains(&Some(at));
            let routes = start.map(|topology| topology.routes([to]));
            let path = routes.as_ref().and_then(|routes| Some((routes, routes.path(from, to)?)));
            let passes_end = |(routes, path): (&Routes, Vec<DirectionId>)| {
                path.into_iter().any(|direction| is_end(routes.edges()[direction].to))
            };
            !is_end(from) && !is_end(to) && path.is_some_and(|it| !passes_end(it))
        };
        let mut pairs = Vec::new();
        for (link, name) in multipath.links.iter().enumerate() {
            for (peer, peer_name) in multipath.peer_links.iter().enumerate() {
                if leads(name, peer_name) {
                    pairs.push((link, peer));
                }
            }
        }
        pairs
    }
}
