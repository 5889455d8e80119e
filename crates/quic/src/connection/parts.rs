//! The parts from which a connection is built, and its settings.

use std::net::SocketAddr;

use leobench_base::{RngTree, SimDuration};
use leobench_transport::Role;
use leobench_transport::interfaces::Interfaces;

use super::paths::{Offer, Preferred};
use crate::cids::LocalIds;
use crate::crypto::Crypto;
use crate::paths::FourTuple;
use crate::recovery::{Control, RecoveryConfig};
use crate::spec::AfterMigration;
use crate::streams::Streams;
use crate::wire::{ConnectionId, TransportParameters};

/// The parts from which a connection is built.
pub(crate) struct Parts {
    pub(crate) role: Role,
    pub(crate) addresses: FourTuple,
    /// Addresses of our host.
    pub(crate) interfaces: Interfaces,
    pub(crate) crypto: Crypto,
    /// Whether packets travel as bytes: encrypted ones have to.
    pub(crate) as_bytes: bool,
    pub(crate) streams: Streams,
    pub(crate) control: Control,
    pub(crate) settings: Settings,
    /// The peer's first connection ID: the one that the client made up, or that the client's first packet bears.
    pub(crate) remote_id: ConnectionId,
    /// The ID that the client's first packet was sent to.
    pub(crate) original_destination: ConnectionId,
    /// The source ID of the Retry that the client answered, if there was one.
    pub(crate) retry_source: Option<ConnectionId>,
    pub(crate) local_id: ConnectionId,
    /// Several paths, if this end offers them.
    pub(crate) offer: Option<Box<Offer>>,
    /// The address where this end, a server, prefers to be reached.
    pub(crate) preferred: Option<SocketAddr>,
    pub(crate) rng: RngTree,
}

impl Parts {
    /// The transport parameters to send, with a connection ID from `ids` for a preferred address.
    pub(super) fn params(
        &self,
        preferred: Option<Preferred>,
        ids: &mut LocalIds,
    ) -> TransportParameters {
        let mut params = self.settings.params.clone();
        params.initial_source = Some(self.local_id);
        params.initial_max_path_id = self.offer.as_ref().map(|offer| offer.max_path_id);
        if self.role == Role::Server {
            params.original_destination = Some(self.original_destination);
            params.retry_source = self.retry_source;
            params.stateless_reset_token = ids.first_token();
            params.preferred_address = preferred.and_then(|it| it.parameter(ids));
        }
        params
    }
}

/// The settings of a connection, from its specification.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub(crate) struct Settings {
    /// UDP payload of a full packet.
    pub(crate) mtu: u64,
    /// Whether packets are paced.
    pub(crate) paces: bool,
    pub(crate) ecn: bool,
    pub(crate) initial_rtt: SimDuration,
    /// Ack-eliciting packets that the peer may leave unacknowledged, and the maximum delay, to ask for.
    pub(crate) ack_frequency: Option<(u64, SimDuration)>,
    /// Whether the spin bit may spin.
    pub(crate) spin: bool,
    /// Treatment of the window and the round-trip time on a new route.
    pub(crate) after_migration: AfterMigration,
    /// Whether the run fails if the connection moves to a path without saved parameters.
    pub(crate) requires_saved: bool,
    /// Probe timeouts in a row after which a client probes another address of its host.
    pub(crate) probe_after: Option<u32>,
    /// How long before a forecast handover a path is held, if it is.
    pub(crate) hold: Option<SimDuration>,
    /// How long the connection survives without a packet.
    pub(crate) idle_timeout: Option<SimDuration>,
    /// Packets after which this end updates its keys, if before their limit.
    pub(crate) key_update: Option<u64>,
    /// Transport parameters of ours, but for connection IDs.
    pub(crate) params: TransportParameters,
}

impl Settings {
    /// How an end of this role recovers from losses.
    pub(super) fn recovery(&self, role: Role) -> RecoveryConfig {
        RecoveryConfig { role, initial_rtt: self.initial_rtt, ecn: self.ecn }
    }
}
