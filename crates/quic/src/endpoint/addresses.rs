//! The addresses of an end: those that it may use, and those of its paths.

use std::net::{IpAddr, SocketAddr};

use leobench_transport::Role;
use leobench_transport::endpoint::{InterfaceChange, PathAddresses, PathId};

use super::{QuicEndpoint, Stage};

impl QuicEndpoint {
    /// Lets a client use these addresses of its host, one for each path, in the order of the links in its specification.
    pub fn use_addresses(&mut self, addresses: &[IpAddr]) {
        if let Stage::Waiting(parts) = &mut self.listener.stage
            && let Some(offer) = &mut parts.offer
        {
            offer.addresses = addresses.to_vec();
            for address in addresses {
                parts.interfaces.change(InterfaceChange { address: *address, up: true });
            }
        }
    }

    /// Lets a client use these addresses of the server, that of the handshake first, between the `pairs` of its own addresses and
    /// them.
    pub fn use_peers(&mut self, peers: &[IpAddr], pairs: &[(usize, usize)]) {
        if let Stage::Waiting(parts) = &mut self.listener.stage
            && let Some(offer) = &mut parts.offer
        {
            (offer.peers, offer.pairs) = (peers.to_vec(), pairs.to_vec());
        }
    }

    /// Lets a client know these further addresses of its host, which it may probe.
    pub fn know_addresses(&mut self, addresses: &[IpAddr]) {
        if let Stage::Waiting(parts) = &mut self.listener.stage {
            for address in addresses {
                parts.interfaces.change(InterfaceChange { address: *address, up: true });
            }
        }
    }

    /// Lets a server ask its client to move to another address of its host (RFC 9000 section 9.6).
    pub fn prefer_address(&mut self, address: SocketAddr) {
        if let Stage::Waiting(parts) = &mut self.listener.stage
            && self.listener.role == Role::Server
        {
            parts.preferred = Some(address);
        }
    }

    /// The paths of a client; a server follows.
    pub(super) fn list_paths(&self, paths: &mut Vec<PathAddresses>) {
        match &self.listener.stage {
            _ if self.listener.role == Role::Server => {}
            Stage::Waiting(parts) => {
                let [local, remote] = [parts.addresses.local, parts.addresses.remote];
                let local = parts.interfaces.choose(local.ip()).unwrap_or(local.ip());
                paths.push(PathAddresses { path: PathId::default(), local, remote: remote.ip() });
            }
            Stage::Connected(connection) => connection.list_paths(paths),
            Stage::Moving => {}
        }
    }
}
