//! The scenario's own flows on sockets of its hosts: TCP by the kernel, QUIC and datagrams by leobench's own endpoints over UDP.
//!
//! An end of a flow stays an [`Endpoint`] of the network, which hands it messages and the time, and records what it reports. Only
//! its packets take another way: from a socket through the host's device into the network, and out of it through the device
//! of the other host.

mod host;
mod kernel;
mod ready;
mod send_room;
mod tcp;
mod udp;

use std::io;
use std::sync::Arc;

use leobench_base::SimDuration;
use leobench_sim::build::{SocketRequest, Sockets};
use leobench_sim::scenario::HostSocket;
use leobench_transport::Endpoint;

pub use self::host::Host;
pub use self::kernel::check_kernel;
pub use self::ready::{Ready, Woken};
use self::tcp::KernelTcp;
use self::udp::{Carries, OverUdp};

/// The sockets of a scenario's flows, on its hosts.
#[derive(Debug)]
pub struct HostSockets {
    hosts: Vec<(String, Arc<Host>)>,
    ready: Ready,
    /// Time between two looks at the state of the kernel's TCP.
    interval: SimDuration,
}

impl HostSockets {
    /// On hosts by the names of their nodes; sockets tell `ready` when there is something for them.
    pub fn new(hosts: Vec<(String, Arc<Host>)>, ready: Ready, interval: SimDuration) -> Self {
        Self { hosts, ready, interval }
    }
}

impl Sockets for HostSockets {
    fn open(
        &mut self,
        request: &SocketRequest<'_>,
        inside: Box<dyn Endpoint>,
    ) -> io::Result<Box<dyn Endpoint>> {
        let host = self.hosts.iter().find(|(name, _)| name == request.node);
        let (_, host) = host.ok_or_else(|| io::Error::other("its node has no host"))?;
        let watch = self.ready.watch(request.flow, request.end);
        let carries = match request.spec.transport.model().host_socket() {
            HostSocket::KernelTcp(spec) => {
                host.set_up(spec)?;
                return Ok(Box::new(KernelTcp::new(request, spec, host, watch, self.interval)?));
            }
            HostSocket::Quic => Carries::Quic,
            HostSocket::Datagrams => Carries::Messages,
        };
        let port = request.addresses[0].port();
        Ok(Box::new(OverUdp::new(inside, carries, port, host, watch)?))
    }
}
