//! A server's preferred address (RFC 9000 section 9.6): the client probes it once the handshake is confirmed, and moves there when
//! the server has answered from there. The server follows when it has validated that way to its client, and not before.

use std::net::{SocketAddr, SocketAddrV6};

use leobench_base::SimTime;
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::Mobility;
use crate::cids::LocalIds;
use crate::connection::Connection;
use crate::paths::{FourTuple, RecvMeta};
use crate::wire::{ErrorCode, PreferredAddress, TransportError, TransportParameters};

/// A server's preferred address, as one of the ends knows it.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct Preferred {
    address: SocketAddr,
    /// The server's address in the handshake, if this end is the client.
    original: Option<SocketAddr>,
    /// Whether there is nothing more to do: the client has moved there, or nobody answered.
    settled: bool,
    /// The route by which the client came there, if the server had not validated it yet.
    awaited: Option<FourTuple>,
}

impl Preferred {
    /// That of this end, a server.
    pub(in crate::connection) fn of_server(address: SocketAddr) -> Self {
        Self { address, original: None, settled: false, awaited: None }
    }

    /// The transport parameter that announces it, with a new ID from `ids`. None for an IPv6 address.
    pub(in crate::connection) fn parameter(&self, ids: &mut LocalIds) -> Option<PreferredAddress> {
        // Networks here have IPv4 addresses only.
        let SocketAddr::V4(v4) = self.address else { return None };
        let v6 = SocketAddrV6::new(std::net::Ipv6Addr::UNSPECIFIED, 0, 0, 0);
        let (id, token) = ids.issue_preferred();
        Some(PreferredAddress { v4, v6, id, token })
    }
}

impl Mobility {
    /// The server's preferred address, if this end is a server that has one.
    pub(in crate::connection) fn own_preferred(&self) -> Option<SocketAddr> {
        self.preferred.filter(|known| known.original.is_none()).map(|known| known.address)
    }

    /// Whether a route leads to or from the server's preferred address.
    pub(super) fn is_preferred(&self, tuple: FourTuple) -> bool {
        self.preferred.is_some_and(|known| {
            let of_server = if known.original.is_some() { tuple.remote } else { tuple.local };
            of_server == known.address
        })
    }

    /// Whether an address is one that the server has told its client.
    pub(in crate::connection) fn is_known_server_address(&self, address: SocketAddr) -> bool {
        self.preferred
            .is_some_and(|known| known.address == address || known.original == Some(address))
    }

    /// The way to the preferred address is in use, or carries nothing: the client does not ask again.
    pub(super) fn settle_preferred(&mut self) {
        if let Some(preferred) = &mut self.preferred {
            preferred.settled = true;
        }
    }
}

impl Connection {
    /// Takes the preferred address out of the server's transport parameters.
    ///
    /// # Errors
    /// `TRANSPORT_PARAMETER_ERROR` if the server has an empty connection ID (RFC 9000 section 18.2).
    pub(in crate::connection) fn take_preferred(
        &mut self,
        params: &TransportParameters,
    ) -> Result<(), TransportError> {
        let Some(preferred) = params.preferred_address else { return Ok(()) };
        let path = self.paths.first_mut();
        let ids = &mut path.ids.remote;
        if ids.first().size() == 0 {
            return Err(TransportError::new(
                ErrorCode::TRANSPORT_PARAMETER_ERROR,
                "a preferred address beside an empty connection ID",
            ));
        }
        ids.add_preferred(preferred.id, preferred.token);
        let original = path.route.tuple.remote;
        let address = SocketAddr::V4(preferred.v4);
        let is_given = preferred.v4.port() != 0 && !preferred.v4.ip().is_unspecified();
        // A program that keeps the server's address to itself stays there.
        let moves = original.is_ipv4() && !original.ip().is_unspecified();
        if is_given && moves && address != original {
            self.mobility.preferred =
                Some(Preferred { original: Some(original), ..Preferred::of_server(address) });
        }
        Ok(())
    }

    /// Probes the server's preferred address from the client's present one on a path (section 9.6.1).
    #[cold]
    pub(in crate::connection) fn prefer(&mut self, now: SimTime, id: PathId) {
        let Some(preferred) = self.mobility.preferred.filter(|preferred| !preferred.settled) else {
            return;
        };
        let tuple = FourTuple { remote: preferred.address, ..self.paths[id].route.tuple };
        if self.role == Role::Client && self.handshake.confirmed && self.multipath.is_none() {
            self.probe_candidate(now, id, tuple);
        }
    }

    /// A server is probed at its preferred address: it validates the way back from there (section 9.6.2).
    pub(super) fn on_preferred_probed(&mut self, now: SimTime, id: PathId, tuple: FourTuple) {
        if self.role == Role::Client
            || !self.mobility.is_preferred(tuple)
            || self.paths[id].route.tuple.local == tuple.local
            || self.mobility.candidate == Some(tuple)
        {
            return;
        }
        // No ID is used from two addresses (section 9.5). If there is no other one, the present one has to do.
        let path = &mut self.paths[id];
        path.ids.remote.begin_probing();
        self.mobility.candidate = Some(tuple);
        let pto = path.validation_timeout();
        if let Some(route) = path.find(tuple) {
            route.challenge(now, pto);
        }
    }

    /// The client sent more than a probe to one of the server's two addresses, over a route that is not the present one. Returns
    /// whether the server follows it as it follows any client.
    pub(super) fn follows_beside_preferred(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
    ) -> bool {
        let RecvMeta { tuple, size, .. } = *meta;
        let is_there = self.mobility.is_preferred(self.paths[id].route.tuple);
        if is_there || !self.mobility.is_preferred(tuple) {
            // A server that has moved there stays (section 9.6.2).
            return is_there == self.mobility.is_preferred(tuple);
        }
        self.paths[id].find_or_add(tuple, size);
        self.on_preferred_probed(now, id, tuple);
        if let Some(preferred) = &mut self.mobility.preferred {
            preferred.awaited = Some(tuple);
        }
        self.follow_to_preferred(now, id, tuple);
        false
    }

    /// A server moves to its preferred address, if the client did and the way to it is validated.
    pub(super) fn follow_to_preferred(&mut self, now: SimTime, id: PathId, tuple: FourTuple) {
        let is_awaited = self.mobility.preferred.is_some_and(|known| known.awaited == Some(tuple));
        let is_validated = self.paths[id].find(tuple).is_some_and(|route| route.is_validated());
        if !is_awaited || !is_validated {
            return;
        }
        self.mobility.candidate = None;
        self.mobility.settle_preferred();
        self.paths[id].ids.remote.use_probed();
        self.move_to(now, id, tuple);
        self.paths[id].forget_routes(self.mobility.candidate);
    }
}
