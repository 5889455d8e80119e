//! Networks beyond the nodes: the prefixes of addresses that no node has, and the nodes that packets to them go to.

use std::net::{IpAddr, Ipv4Addr};

use leobench_base::{Destination, NodeId, PortId};

use crate::network::Network;

/// The networks beyond the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes(Vec<Prefix>);

/// The addresses that begin with the same bits, and the node that leads to them.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    first: IpAddr,
    length: u32,
    node: NodeId,
}

impl Prefix {
    fn contains(&self, address: IpAddr) -> bool {
        let alike = match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (first.to_bits() ^ address.to_bits()).leading_zeros()
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                (first.to_bits() ^ address.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        alike >= self.length
    }

    /// Whether it is a single address.
    fn is_whole(self) -> bool {
        self.length == if self.first.is_ipv4() { 32 } else { 128 }
    }
}

impl Prefixes {
    /// Adds the addresses that share their first `length` bits with `first`.
    pub(super) fn add(&mut self, first: IpAddr, length: u32, node: NodeId) {
        self.0.push(Prefix { first, length, node });
        // The longest match decides.
        self.0.sort_by_key(|prefix| std::cmp::Reverse(prefix.length));
    }

    /// Returns the node that leads to an address that no node has. No router forwards multicasts, broadcasts or link-local
    /// addresses, so only a prefix of all their bits leads to these.
    pub(super) fn destination(&self, address: IpAddr) -> Destination {
        if self.0.is_empty() {
            return Destination::Unknown;
        }
        let stays = stays_on_link(address);
        let found =
            self.0.iter().find(|prefix| prefix.contains(address) && (!stays || prefix.is_whole()));
        found.map_or(Destination::Unknown, |prefix| Destination::Node(prefix.node))
    }
}

fn stays_on_link(address: IpAddr) -> bool {
    address.is_multicast()
        || match address {
            IpAddr::V4(address) => address == Ipv4Addr::BROADCAST || address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        }
}

impl Network {
    /// Sends packets to addresses that share their first `length` bits with `first`, and that no node has, to the node of a port.
    /// The longest prefix decides; without one, such packets are dropped. Addresses that stay on a link have to be named in full.
    pub fn lead_to(&mut self, first: IpAddr, length: u32, port: PortId) {
        let node = self.ports[port];
        self.forwarding.beyond.add(first, length, node);
        self.forwarding.expect(Destination::Node(node));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(prefixes: &Prefixes, address: &str) -> Option<usize> {
        match prefixes.destination(address.parse().expect("an address")) {
            Destination::Node(node) => Some(node.index()),
            _ => None,
        }
    }

    #[test]
    fn the_longest_prefix_of_the_family_decides() {
        let mut prefixes = Prefixes::default();
        assert_eq!(destination(&prefixes, "192.0.2.1"), None);
        for (first, length, node) in
            [("0.0.0.0", 0, 1), ("192.168.1.0", 24, 2), ("192.168.1.7", 32, 3), ("fd00::", 8, 4)]
        {
            let first = first.parse().expect("an address");
            prefixes.add(first, length, NodeId::from(node));
        }
        for (address, node) in [
            ("192.0.2.1", Some(1)),
            ("192.168.0.255", Some(1)),
            ("192.168.1.1", Some(2)),
            ("192.168.1.255", Some(2)),
            ("192.168.1.7", Some(3)),
            ("192.168.2.0", Some(1)),
            ("fdff::1", Some(4)),
            ("2001:db8::1", None),
        ] {
            assert_eq!(destination(&prefixes, address), node, "{address}");
        }
    }

    #[test]
    fn multicasts_broadcasts_and_link_local_addresses_stay() {
        let mut prefixes = Prefixes::default();
        for first in ["0.0.0.0", "::"] {
            prefixes.add(first.parse().expect("an address"), 0, NodeId::from(0));
        }
        for address in ["224.0.0.251", "255.255.255.255", "169.254.1.1", "ff02::fb", "fe80::1"] {
            assert_eq!(destination(&prefixes, address), None, "{address}");
        }
        assert_eq!(destination(&prefixes, "2001:db8::1"), Some(0));
        // Unless they are named in full, as the servers of a link are (RFC 8415 section 7.1).
        for (address, length, node) in
            [("ff02::1:2", 128, 1), ("fe80::1", 128, 2), ("fe80::", 64, 3)]
        {
            prefixes.add(address.parse().expect("an address"), length, NodeId::from(node));
        }
        for (address, node) in
            [("ff02::1:2", Some(1)), ("ff02::1:3", None), ("fe80::1", Some(2)), ("fe80::2", None)]
        {
            assert_eq!(destination(&prefixes, address), node, "{address}");
        }
    }
}
