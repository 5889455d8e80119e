//! Addresses, interfaces and routes: the node behind an address, and the link that a packet takes next.
//!
//! A node has an address of its own, which stays whatever happens to its links, and an interface with an address for each
//! link it is attached to. A packet *from* an interface's address leaves its node by that interface. A packet *to* an
//! interface's address reaches it over that interface's link only; one to a node's own address takes the route of the moment.

mod hosts;
mod idle;
mod nat;
mod nat_errors;
mod prefixes;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use leobench_base::{Destination, DirectionId, LinkId, NodeId, SimDuration};
use typed_index_collections::TiVec;

pub use hosts::{HostAddresses, Interface, host_addresses};
pub(super) use idle::idle_directions;
pub(super) use nat::Nat;
use prefixes::Prefixes;

use super::observe::{Addresses, PathRoutes};
use crate::routes::{Edge, Routes};
use crate::topology::Attachment;

/// The next step of a packet at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    /// It is addressed to this node.
    Here,
    /// It goes on over this link.
    Over(DirectionId),
    /// Nobody knows a way.
    Nowhere,
}

/// The addresses of a network, the state of its links, and its routes.
#[derive(Clone, Debug)]
pub(super) struct Forwarding {
    routes: Routes,
    attachments: TiVec<DirectionId, Attachment>,
    nodes: usize,
    beyond: Prefixes,
}

/// Own addresses of nodes: 172.16.0.0/12 by number.
const NODES: u32 = (172 << 24) | (16 << 16);
/// How many of them there are.
pub(super) const MOST_NODES: usize = 1 << 20;
/// Addresses of interfaces: every link is a network of its own, `10.x.y.0/30` by its number.
const INTERFACES: u32 = 10 << 24;
/// How many such networks there are.
pub(super) const MOST_LINKS: usize = 1 << 22;

/// The IPv6 addresses are a unique local prefix (RFC 4193) before the IPv4 addresses.
const PREFIX: u128 = 0xfd6c_656f_6265_6e63_6800_0000 << 32;

/// The IPv6 address that stands for the same as an IPv4 address.
pub(super) fn beside(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V6((PREFIX | u128::from(address.to_bits())).into()),
        IpAddr::V6(_) => address,
    }
}

/// The bits of the IPv4 address that an address is or stands beside.
fn bits(address: IpAddr) -> Option<u32> {
    match address {
        IpAddr::V4(address) => Some(address.to_bits()),
        IpAddr::V6(address) => u32::try_from(Ipv6Addr::to_bits(address) ^ PREFIX).ok(),
    }
}

impl Forwarding {
    /// Over `edges`, both directions of a link one after the other, between so many `nodes`; all links are active.
    pub(super) fn new(nodes: usize, edges: TiVec<DirectionId, Edge>) -> Self {
        let attachments = edges.iter().map(|_| Attachment::Active).collect();
        Self { routes: Routes::new(nodes, edges), attachments, nodes, beyond: Prefixes::default() }
    }

    pub(super) fn edge(&self, direction: DirectionId) -> &Edge {
        &self.routes.edges()[direction]
    }

    /// The address of a node that does not change when its links do.
    pub(super) fn own_address(node: NodeId) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(NODES + 1 + node.index() as u32))
    }

    /// The same of IPv6.
    pub(super) fn own_address_v6(node: NodeId) -> IpAddr {
        IpAddr::V6((PREFIX | u128::from(NODES + 1 + node.index() as u32)).into())
    }

    /// The address of the interface from which a direction of a link is entered.
    pub(super) fn interface_address(direction: DirectionId) -> IpAddr {
        let host = 1 + u32::from(direction.is_backward());
        IpAddr::V4(Ipv4Addr::from_bits(INTERFACES | (direction.link().index() as u32) << 2 | host))
    }

    /// Returns the node or the interface that has an address, or the node that leads to it.
    pub(super) fn destination(&self, address: IpAddr) -> Destination {
        let Some(bits) = bits(address) else { return self.beyond.destination(address) };
        let node = bits.wrapping_sub(NODES + 1) as usize;
        if node < self.nodes {
            return Destination::Node(NodeId::from(node));
        }
        let offset = bits.wrapping_sub(INTERFACES) as usize;
        let (link, host) = (offset >> 2, offset & 3);
        let directions = LinkId::from(link.min(MOST_LINKS)).directions();
        match host {
            1 | 2 if directions[1].index() < self.attachments.len() => {
                Destination::Interface(directions[host - 1])
            }
            _ => self.beyond.destination(address),
        }
    }

    /// Prepares for packets to a destination.
    pub(super) fn expect(&mut self, destination: Destination) {
        match destination {
            Destination::Node(node) => self.routes.add(node),
            Destination::Interface(direction) => self.routes.add(self.edge(direction).to),
            Destination::Unknown => {}
        }
    }

    /// Prepares for packets to the own addresses of these nodes.
    pub(super) fn expect_at(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        for node in nodes {
            self.routes.add(node);
        }
    }

    /// The interface that a packet from `source` leaves `node` by, if that is up to its source.
    pub(super) fn bound_to(&self, node: NodeId, source: IpAddr) -> Option<DirectionId> {
        match self.destination(source) {
            Destination::Interface(direction) if self.edge(direction).from == node => {
                Some(direction)
            }
            _ => None,
        }
    }

    /// Returns the next step of a packet at `node` to `destination`, which must have been [expected](Self::expect).
    #[inline]
    pub(super) fn hop(&self, node: NodeId, destination: Destination) -> Hop {
        let route = |to| self.routes.next_hop(node, to).map_or(Hop::Nowhere, Hop::Over);
        match destination {
            Destination::Node(to) if to == node => Hop::Here,
            Destination::Node(to) => route(to),
            Destination::Interface(direction) => {
                let edge = self.edge(direction);
                if edge.from == node {
                    Hop::Here
                } else if edge.to == node {
                    self.over(direction.back())
                } else {
                    route(edge.to)
                }
            }
            Destination::Unknown => Hop::Nowhere,
        }
    }

    /// The way over a link that carries packets of its interfaces, if it does.
    pub(super) fn over(&self, direction: DirectionId) -> Hop {
        if self.attachments[direction] == Attachment::Detached {
            Hop::Nowhere
        } else {
            Hop::Over(direction)
        }
    }

    /// The links that packets take from one node to another at the moment; `None` if there is no way.
    pub(super) fn path(&self, from: NodeId, to: NodeId) -> Option<Vec<DirectionId>> {
        self.routes.path(from, to)
    }

    /// The links that the packets of a path take there and back, between these nodes and from and to these addresses, which must
    /// have been [expected](Self::expect); `None` if there is no way.
    pub(super) fn path_routes(&self, [from, to]: [NodeId; 2], addresses: Addresses) -> PathRoutes {
        let Some([here, there]) = addresses else {
            return [self.path(from, to), self.path(to, from)];
        };
        [self.route(from, to, [here, there]), self.route(to, from, [there, here])]
    }

    fn route(
        &self,
        from: NodeId,
        to: NodeId,
        [source, target]: [IpAddr; 2],
    ) -> Option<Vec<DirectionId>> {
        // An address of another node is that of a translation, whose host has its own.
        let target = match self.destination(target) {
            Destination::Interface(direction) if self.edge(direction).from == to => {
                self.destination(target)
            }
            _ => Destination::Node(to),
        };
        let mut directions = Vec::new();
        let mut hop = match self.bound_to(from, source) {
            Some(direction) => self.over(direction),
            None => self.hop(from, target),
        };
        loop {
            let Hop::Over(direction) = hop else { return (hop == Hop::Here).then_some(directions) };
            if directions.contains(&direction) {
                return None;
            }
            directions.push(direction);
            hop = self.hop(self.edge(direction).to, target);
        }
    }

    /// Changes how both directions of a link take part, without effect on routes until they are [updated](Self::update).
    pub(super) fn attach(&mut self, link: LinkId, attachment: Attachment) {
        for direction in link.directions() {
            self.attachments[direction] = attachment;
        }
    }

    /// Computes the routes by the attachments and the delays that links have now.
    pub(super) fn update(&mut self, delay: impl Fn(DirectionId) -> SimDuration) {
        for (direction, attachment) in self.attachments.iter_enumerated() {
            self.routes.set(direction, *attachment == Attachment::Active, delay(direction));
        }
        self.routes.update();
    }
}
