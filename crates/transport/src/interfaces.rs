//! The addresses of an end's host.

use std::net::IpAddr;

use crate::endpoint::InterfaceChange;

/// The addresses that a host can use at present, in the order in which they came up.
#[derive(Clone, Debug)]
pub(crate) struct Interfaces {
    up: Vec<IpAddr>,
}

impl Interfaces {
    /// A host with one address.
    pub(crate) fn new(address: IpAddr) -> Self {
        Self { up: vec![address] }
    }

    /// An interface changed.
    pub(crate) fn change(&mut self, change: InterfaceChange) {
        if !change.up {
            self.up.retain(|address| *address != change.address);
        } else if !self.has(change.address) {
            self.up.push(change.address);
        }
    }

    /// Whether the host can use an address.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        self.up.contains(&address)
    }

    /// An address other than the `present` one: the one that came up last.
    pub(crate) fn other_than(&self, present: IpAddr) -> Option<IpAddr> {
        self.up.iter().rfind(|address| **address != present).copied()
    }

    /// The address from which the host opens a connection: the `usual` one, or else the one that came up last.
    pub(crate) fn choose(&self, usual: IpAddr) -> Option<IpAddr> {
        if self.has(usual) { Some(usual) } else { self.up.last().copied() }
    }
}
