//! The names that rows refer to.

use std::borrow::Cow;

use leobench_base::{DirectionId, FlowId, LinkId, NodeId, SatelliteId};
use typed_index_collections::TiVec;

use super::recorder::Location;
use crate::topology::Access;

/// The names that rows refer to, by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The flows.
    pub flows: TiVec<FlowId, FlowNames>,
    /// The directions of links, named `name/a->b`.
    pub directions: TiVec<DirectionId, String>,
    /// The links.
    pub links: TiVec<LinkId, String>,
    /// The nodes.
    pub nodes: TiVec<NodeId, String>,
    /// The tables of handovers, and the constellation.
    pub topologies: Vec<String>,
    /// Satellites of a constellation.
    pub satellites: Vec<String>,
    /// Its stations: terminals first, then gateways.
    pub stations: Vec<String>,
}

impl Names {
    /// The name of a location.
    pub(super) fn location(&self, location: Location) -> &str {
        match location {
            Location::Link(direction) => &self.directions[direction],
            Location::Node(node) => &self.nodes[node],
        }
    }

    /// The name of what a node reaches the network by.
    pub(crate) fn access(&self, access: Access) -> Cow<'_, str> {
        match access {
            Access::Link(link) => Cow::Borrowed(&self.links[link]),
            Access::Satellite(_, None) => Cow::Borrowed("none"),
            Access::Satellite(_, Some(satellite)) => self.satellite(satellite),
        }
    }

    /// The name of a satellite.
    pub(crate) fn satellite(&self, satellite: SatelliteId) -> Cow<'_, str> {
        match self.satellites.get(satellite.index()) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(chain_name(satellite)),
        }
    }
}

/// The names of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowNames {
    /// Its own.
    pub name: String,
    /// Its streams'.
    pub streams: Vec<String>,
}

/// Name of a satellite of a chain, which has no end.
pub(crate) fn chain_name(satellite: SatelliteId) -> String {
    format!("chain-{}", satellite.index())
}
