//! The addresses of the ends of flows.

use std::net::IpAddr;

use leobench_base::LinkId;

use super::{BuildError, FromScenario};
use crate::network::NetworkBuilder;
use crate::scenario::{FlowSpec, HandoverKind, HandoverSpec, Unsound};

/// The addresses of a server with several.
#[derive(Default)]
pub(super) struct Peers {
    pub(super) addresses: Vec<IpAddr>,
    /// By place in `links` and `peer_links`.
    pub(super) pairs: Vec<(usize, usize)>,
}

impl FromScenario<'_> {
    /// The addresses from which the end that opens the connection has a path each, if the flow has several.
    pub(super) fn paths(&self, flow: &FlowSpec) -> Result<Vec<IpAddr>, BuildError> {
        let Some(multipath) = flow.transport.model().multipath() else { return Ok(Vec::new()) };
        let node = self.node(flow.opener())?;
        let links = multipath.links.iter();
        links.map(|link| Ok(self.builder.interface_address(node, self.link(link)?))).collect()
    }

    /// The links of the end that opens the connection that may carry a path each, with its addresses there.
    pub(super) fn interfaces(&self, flow: &FlowSpec) -> Result<Vec<(LinkId, IpAddr)>, BuildError> {
        let addresses = self.paths(flow)?;
        let multipath = flow.transport.model().multipath();
        let links = multipath.into_iter().flat_map(|multipath| &multipath.links);
        links.zip(addresses).map(|(link, address)| Ok((self.link(link)?, address))).collect()
    }

    /// The addresses of the server to which paths may lead, and the pairs of links and addresses that a route connects.
    pub(super) fn peers(&self, flow: &FlowSpec) -> Result<Peers, BuildError> {
        let Some(multipath) = flow.transport.model().multipath() else {
            return Ok(Peers::default());
        };
        let node = self.node(flow.answerer())?;
        let address = |link: &String| Ok(self.builder.interface_address(node, self.link(link)?));
        let addresses = multipath.peer_links.iter().map(address).collect::<Result<_, BuildError>>();
        Ok(Peers { addresses: addresses?, pairs: self.spec.reachable_pairs(flow, multipath) })
    }

    /// Further addresses of the node that opens a flow: those of its interfaces at the start, but for the one by which its packets
    /// leave anyway. The last one comes first, so that a client probes them in the order of the links.
    pub(super) fn other_interfaces(&self, flow: &FlowSpec) -> Result<Vec<IpAddr>, Unsound> {
        let (opener, to) = (flow.opener(), self.node(flow.answerer())?);
        let node = self.node(opener)?;
        let start = self.spec.topologies().next();
        let usual = start.and_then(|topology| topology.routes([to]).next_hop(node, to));
        let moves = self.spec.handovers.iter().filter(|(_, handover)| handover.node == opener);
        let away: Vec<_> = moves.flat_map(|(_, handover)| handover.links.iter().skip(1)).collect();
        let mut addresses = Vec::new();
        for (name, spec) in self.spec.links.iter().rev() {
            let link = self.link(name)?;
            let is_usual = usual.is_some_and(|usual| usual.link() == link);
            if spec.between.iter().any(|end| end == opener) && !away.contains(&name) && !is_usual {
                addresses.push(self.builder.interface_address(node, link));
            }
        }
        Ok(addresses)
    }

    /// The address that a node uses at the start: its own, or that of an interface where it migrates from one to the next.
    pub(super) fn address(&self, name: &str) -> Result<IpAddr, BuildError> {
        let migrates = |handover: &HandoverSpec| {
            handover.node == name && handover.kind == HandoverKind::Migrate
        };
        let node = self.node(name)?;
        match self.spec.handovers.iter().find(|(_, handover)| migrates(handover)) {
            Some((_, handover)) => {
                let first = self.link(handover.links.first().map_or("", String::as_str))?;
                Ok(self.builder.interface_address(node, first))
            }
            None => Ok(NetworkBuilder::own_address(node)),
        }
    }
}
