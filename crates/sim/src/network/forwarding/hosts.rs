//! The addresses of a scenario's nodes, for those who put real hosts in their places.

use std::net::IpAddr;

use leobench_base::{Bytes, LinkId, NodeId};

use super::{Forwarding, beside};
use crate::scenario::ScenarioSpec;

/// A node and its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAddresses {
    /// Its name.
    pub node: String,
    /// The address that it keeps, whatever happens to its links.
    pub address: IpAddr,
    /// The IPv6 address beside it.
    pub address_v6: IpAddr,
    /// One for each link that it is attached to, in the order of the scenario.
    pub interfaces: Vec<Interface>,
}

/// Attachment of a node to a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The link's name.
    pub link: String,
    /// The node's address on it.
    pub address: IpAddr,
    /// The IPv6 address beside it.
    pub address_v6: IpAddr,
    /// The longest packet that the link carries.
    pub mtu: Bytes,
}

/// The nodes of a scenario with their addresses, in its order.
pub fn host_addresses(spec: &ScenarioSpec) -> Vec<HostAddresses> {
    let addresses = |(number, node): (usize, &String)| {
        let links = spec.links.iter().enumerate().flat_map(|(number, (name, link))| {
            let ends = link.between.iter().zip(LinkId::from(number).directions());
            ends.filter(|(end, _)| *end == node).map(move |(_, leaving)| {
                let address = Forwarding::interface_address(leaving);
                let (link, mtu) = (name.clone(), link.mtu);
                Interface { link, address, address_v6: beside(address), mtu }
            })
        });
        let address = Forwarding::own_address(NodeId::from(number));
        let address_v6 = beside(address);
        HostAddresses { node: node.clone(), address, address_v6, interfaces: links.collect() }
    };
    spec.nodes.iter().map(|(node, _)| node).enumerate().map(addresses).collect()
}
