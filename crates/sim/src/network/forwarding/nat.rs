//! Network address translation at a node: packets that leave it for the outside carry the address of the interface they
//! leave by, and answers to it find their way back (RFC 4787, RFC 5382).
//!
//! Mapping and filtering are endpoint-independent. A port keeps its number outside unless another has it there; the identifier
//! of an ICMP query counts as one (RFC 5508 section 3). The mappings of an interface are forgotten when its link is detached, as
//! by Linux's `masquerade`; packets of the same connection that leave by another interface get a new one.

use std::net::SocketAddr;

use leobench_base::{Descriptor, Destination, DirectionId, Meta, NodeId, Protocol};
use rustc_hash::FxHashMap;

use crate::network::Network;

/// First port tried where the inside port is taken.
const FIRST_PORT: u16 = 1_024;

/// The translation at one node.
#[derive(Clone, Debug)]
pub(in crate::network) struct Nat {
    outside: Vec<Outside>,
}

/// The mappings of one interface to the outside.
#[derive(Clone, Debug)]
struct Outside {
    direction: DirectionId,
    ports: FxHashMap<(Protocol, SocketAddr), u16>,
    inside: FxHashMap<(Protocol, u16), SocketAddr>,
}

impl Nat {
    /// Translates what leaves in these directions of links.
    pub(in crate::network) fn new(outside: impl IntoIterator<Item = DirectionId>) -> Self {
        let outside = outside.into_iter().map(|direction| Outside {
            direction,
            ports: FxHashMap::default(),
            inside: FxHashMap::default(),
        });
        Self { outside: outside.collect() }
    }

    /// The port outside of `direction` that stands for an address and port inside; `None` if the link is not one to the
    /// outside, or all of its ports are taken.
    pub(in crate::network) fn leave(
        &mut self,
        direction: DirectionId,
        protocol: Protocol,
        inside: SocketAddr,
    ) -> Option<u16> {
        let outside = self.outside.iter_mut().find(|outside| outside.direction == direction)?;
        if let Some(port) = outside.ports.get(&(protocol, inside)) {
            return Some(*port);
        }
        let is_free = |port: &u16| !outside.inside.contains_key(&(protocol, *port));
        let mut candidates = std::iter::once(inside.port()).chain(FIRST_PORT..=u16::MAX);
        let port = candidates.find(is_free)?;
        outside.ports.insert((protocol, inside), port);
        outside.inside.insert((protocol, port), inside);
        Some(port)
    }

    /// The address and port inside that a port outside of `direction` stands for, if it stands for one.
    pub(in crate::network) fn enter(
        &self,
        direction: DirectionId,
        protocol: Protocol,
        port: u16,
    ) -> Option<SocketAddr> {
        let outside = self.outside.iter().find(|outside| outside.direction == direction)?;
        outside.inside.get(&(protocol, port)).copied()
    }

    /// The port outside of `direction` that stands for an address and port inside, if one does already.
    pub(in crate::network) fn mapped(
        &self,
        direction: DirectionId,
        protocol: Protocol,
        inside: SocketAddr,
    ) -> Option<u16> {
        let outside = self.outside.iter().find(|outside| outside.direction == direction)?;
        outside.ports.get(&(protocol, inside)).copied()
    }

    /// Whether packets that leave by `direction` are translated.
    pub(in crate::network) fn translates(&self, direction: DirectionId) -> bool {
        self.outside.iter().any(|outside| outside.direction == direction)
    }

    /// Forgets the mappings of `direction`.
    pub(in crate::network) fn forget(&mut self, direction: DirectionId) {
        for outside in self.outside.iter_mut().filter(|outside| outside.direction == direction) {
            outside.ports.clear();
            outside.inside.clear();
        }
    }
}

impl Network {
    /// Whether a direction leads outside from a node that translates addresses.
    pub(in crate::network) fn is_outside(&self, node: NodeId, direction: DirectionId) -> bool {
        self.nats[node].as_ref().is_some_and(|nat| nat.translates(direction))
    }

    /// The address and port behind the translation at `node` that a packet to it is meant for, if it is.
    pub(in crate::network) fn translated(
        &mut self,
        node: NodeId,
        packet: &mut Descriptor,
    ) -> Option<SocketAddr> {
        let (nat, Destination::Interface(direction)) =
            (self.nats[node].as_ref()?, packet.meta.label.to)
        else {
            return None;
        };
        let Meta { protocol, destination, .. } = self.store.get(packet).meta;
        let inside = nat.enter(direction, protocol, destination.port());
        if protocol == Protocol::ICMP {
            self.error_enters(node, direction, packet).or(inside)
        } else {
            inside
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(last: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([172, 16, 0, last], port))
    }

    #[test]
    fn a_port_keeps_its_number_unless_it_is_taken() {
        let [direction, other] = [0, 2].map(DirectionId::from);
        let mut nat = Nat::new([direction, other]);
        assert_eq!(nat.leave(direction, Protocol::Udp, host(1, 5_000)), Some(5_000));
        assert_eq!(nat.leave(direction, Protocol::Udp, host(2, 5_000)), Some(1_024));
        assert_eq!(nat.leave(direction, Protocol::Udp, host(2, 5_000)), Some(1_024), "it stays");
        assert_eq!(nat.leave(direction, Protocol::Tcp, host(2, 5_000)), Some(5_000), "by protocol");
        assert_eq!(nat.leave(other, Protocol::Udp, host(2, 5_000)), Some(5_000), "by interface");
        assert_eq!(nat.enter(direction, Protocol::Udp, 1_024), Some(host(2, 5_000)));
        assert_eq!(nat.enter(direction, Protocol::Udp, 1_025), None);
        assert_eq!(nat.enter(DirectionId::from(7), Protocol::Udp, 5_000), None);
        assert_eq!(nat.leave(DirectionId::from(7), Protocol::Udp, host(1, 1)), None);
        assert_eq!(nat.mapped(direction, Protocol::Udp, host(2, 5_000)), Some(1_024));
        assert_eq!(nat.mapped(direction, Protocol::Udp, host(3, 5_000)), None, "it makes none");
    }

    #[test]
    fn a_detached_link_loses_its_mappings() {
        let direction = DirectionId::from(0);
        let mut nat = Nat::new([direction]);
        nat.leave(direction, Protocol::Udp, host(1, 5_000));
        nat.forget(direction);
        assert_eq!(nat.enter(direction, Protocol::Udp, 5_000), None);
        assert_eq!(nat.leave(direction, Protocol::Udp, host(2, 5_000)), Some(5_000));
    }
}
