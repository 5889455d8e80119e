//! The addresses of an end's host.

use std::net::IpAddr;

use crate::endpoint::InterfaceChange;

/// The addresses that a host can use at present, in the order in which they came up.
#[derive(Clone, Debug)]
pub struct Interfaces {
    up: Vec<IpAddr>,
    /// Addresses whose link layer is gone.
    no_carrier: Vec<IpAddr>,
}

impl Interfaces {
    /// A host with one address.
    pub fn new(address: IpAddr) -> Self {
        Self { up: vec![address], no_carrier: Vec::new() }
    }

    /// An interface changed.
    pub fn change(&mut self, change: InterfaceChange) {
        if !change.up {
            self.up.retain(|address| *address != change.address);
        } else if !self.has(change.address) {
            self.up.push(change.address);
        }
    }

    /// The link layer of an interface is there again, or gone. It keeps its address.
    pub fn set_carrier(&mut self, change: InterfaceChange) {
        self.no_carrier.retain(|address| *address != change.address);
        if !change.up {
            self.no_carrier.push(change.address);
        }
    }

    /// Whether the link layer of an interface is there, as far as is known.
    pub fn has_carrier(&self, address: IpAddr) -> bool {
        !self.no_carrier.contains(&address)
    }

    /// An address led nowhere: others are tried before it.
    pub fn postpone(&mut self, address: IpAddr) {
        if let Some(at) = self.up.iter().position(|known| *known == address) {
            self.up[..=at].rotate_right(1);
        }
    }

    /// Whether the host can use an address.
    pub fn has(&self, address: IpAddr) -> bool {
        self.up.contains(&address)
    }

    /// An address other than the `present` one: the one that came up last.
    pub fn other_than(&self, present: IpAddr) -> Option<IpAddr> {
        self.up.iter().rfind(|address| **address != present).copied()
    }

    /// The address from which the host opens a connection: the `usual` one, or else the one that came up last.
    pub fn choose(&self, usual: IpAddr) -> Option<IpAddr> {
        if self.has(usual) { Some(usual) } else { self.up.last().copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_lead_nowhere_take_turns() {
        let address = |host: u8| IpAddr::from([10, 0, 0, host]);
        let mut interfaces = Interfaces::new(address(1));
        for host in [2, 3, 4] {
            interfaces.change(InterfaceChange { address: address(host), up: true });
        }
        for host in [4, 3, 2, 4, 3, 2] {
            assert_eq!(interfaces.other_than(address(1)), Some(address(host)));
            interfaces.postpone(address(host));
        }
        interfaces.postpone(address(9));
        assert!(!interfaces.has(address(9)));
    }
}
