//! The stack as it is, configured as the endpoint configures it but with nothing of ours around it: the floor that the
//! benchmark measures the engine against.

use std::sync::Arc;
use std::time::Instant;

use leobench_base::{RngTree, SimTime};
use leobench_quic::QuicSpec;
use noq_proto::congestion::ControllerFactory;
use noq_proto::{ClientConfig, Endpoint, TransportConfig};

use super::clock::Clock;
use super::config;
use super::tap::Tap;

/// Makes bare ends of one connection.
pub struct Bare {
    spec: QuicSpec,
    rng: RngTree,
    transport: Arc<TransportConfig>,
    tap: Arc<Tap>,
    clock: Clock,
}

impl Bare {
    /// Ends with one stream, under congestion control of the stack's own.
    pub fn new(
        spec: &QuicSpec,
        rng: &RngTree,
        controllers: Arc<dyn ControllerFactory + Send + Sync>,
    ) -> Self {
        let clock = Clock::default();
        let transport = config::transport(spec, true, 1, controllers);
        Self {
            spec: spec.clone(),
            rng: rng.clone(),
            transport: Arc::new(transport),
            tap: Arc::new(Tap::new(0, None)),
            clock,
        }
    }

    /// The instant that stands for the start.
    pub fn epoch(&self) -> Instant {
        self.clock.instant(SimTime::ZERO)
    }

    /// The client's configuration for a connection.
    pub fn client_config(&self) -> ClientConfig {
        config::client(Arc::clone(&self.transport), &self.tap, &self.rng.child("client"))
    }

    /// The client's endpoint.
    pub fn client_endpoint(&self) -> Endpoint {
        let rng = self.rng.child("client");
        Endpoint::new(Arc::new(config::endpoint(self.spec.payload, &rng)), None, true)
    }

    /// The server's endpoint.
    pub fn server_endpoint(&self) -> Endpoint {
        let rng = self.rng.child("server");
        let server = config::server(Arc::clone(&self.transport), &self.tap, &rng);
        let server = Some(Arc::new(server));
        Endpoint::new(Arc::new(config::endpoint(self.spec.payload, &rng)), server, true)
    }
}
