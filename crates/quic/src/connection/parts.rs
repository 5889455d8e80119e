//! The parts from which a connection is built, and its settings.

use std::net::SocketAddr;

use leobench_base::{RngTree, SimDuration};
use leobench_transport::Role;
use leobench_transport::interfaces::Interfaces;

use crate::connection::Offer;
use crate::crypto::Crypto;
use crate::paths::FourTuple;
use crate::recovery::Control;
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

/// The settings of a connection, from its specification.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub(crate) struct Settings {
    /// UDP payload of a full packet.
    pub(crate) mtu: u64,
    pub(crate) paced: bool,
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
