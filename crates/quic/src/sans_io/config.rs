//! The configuration of a connection that a program drives.

use leobench_base::{RngTree, SimTime};
use leobench_transport::Role;
use leobench_transport::congestion::CongestionContext;
use leobench_transport::endpoint::EndpointError;
use leobench_transport::interfaces::Interfaces;
use leobench_transport::plugin::Plugins;

use crate::cids::first_id;
use crate::config::{LARGEST_DATAGRAM_FRAME, offer, settings};
use crate::connection::Parts;
use crate::crypto::{Crypto, TlsConfig, TlsSettings};
use crate::paths::FourTuple;
use crate::recovery::Control;
use crate::spec::QuicSpec;
use crate::streams::{StreamConfig, Streams};
use crate::wire::{ConnectionId, TransportParameters};

/// The configuration of one end.
pub struct ByteConfig {
    /// The role of this end: the client opens the connection.
    pub role: Role,
    /// Parameters of the connection. `stack` and `protection` are not looked at, and ECN is off: a program sees no marks.
    pub spec: QuicSpec,
    /// TLS, or none: then nothing is protected, and packets have tags of zeros.
    pub tls: Option<TlsSettings>,
    /// Bidirectional streams that the peer may have open at a time.
    pub bidirectional: u64,
    /// Unidirectional streams that the peer may have open at a time.
    pub unidirectional: u64,
    /// Whether it takes unreliable datagrams (RFC 9221).
    pub datagrams: bool,
    /// Root of the random connection IDs.
    pub seed: u64,
}

impl ByteConfig {
    /// The parts of a connection.
    pub(super) fn parts(&self) -> Result<Parts, EndpointError> {
        let Self { role, spec, .. } = self;
        let rng = RngTree::new(self.seed).child(match role {
            Role::Client => "client",
            Role::Server => "server",
        });
        let plugins = Plugins::NONE;
        let streams = Streams::new(&StreamConfig {
            peer_bidirectional: self.bidirectional,
            peer_unidirectional: self.unidirectional,
            keeps_events: true,
            ..StreamConfig::of_flow(spec, *role, &[], 0, &rng, plugins)
        })?;
        let context =
            CongestionContext { rng: &rng.child("congestion"), paced: spec.pacing, plugins };
        let control = Control::new(spec.congestion.name(), spec.congestion.model().build(&context));
        let mut settings = settings(spec, true);
        settings.ecn = false;
        settings.params.max_datagram_frame_size =
            if self.datagrams { LARGEST_DATAGRAM_FRAME } else { 0 };
        streams.write_params(&mut settings.params);
        let remote_id = match role {
            Role::Client => first_id(&rng, "initial-destination"),
            Role::Server => ConnectionId::default(),
        };
        Ok(Parts {
            role: *role,
            addresses: FourTuple::UNKNOWN,
            interfaces: Interfaces::new(FourTuple::UNKNOWN.local.ip()),
            crypto: self.crypto(&settings.params)?,
            as_bytes: true,
            streams,
            control,
            settings,
            remote_id,
            original_destination: remote_id,
            retry_source: None,
            local_id: first_id(&rng, "source-id"),
            offer: spec
                .multipath
                .as_ref()
                .map(|multipath| Box::new(offer(multipath, &rng, Plugins::NONE))),
            preferred: None,
            rng,
        })
    }

    fn crypto(&self, params: &TransportParameters) -> Result<Crypto, EndpointError> {
        let Some(settings) = &self.tls else { return Ok(Crypto::Null(None)) };
        let config = match self.role {
            Role::Client => TlsConfig::client(settings),
            Role::Server => TlsConfig::server(settings, params),
        };
        config
            .map(Crypto::Tls)
            .map_err(|problem| EndpointError::Stack { at: SimTime::ZERO, problem })
    }
}
