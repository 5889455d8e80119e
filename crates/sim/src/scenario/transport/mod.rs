//! Transports: their abilities, the checks of flows over them, and their endpoints. One file per transport, one line here to
//! register it.

mod endpoint;

use std::net::{IpAddr, SocketAddr};

use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::spec::Fault;
use leobench_base::{Bytes, End, Protocol, RngTree, SimTime};
use leobench_quic::MultipathSpec;
use leobench_transport::on_forecast::OnForecastSpec;
use leobench_transport::tcp::TcpSpec;
use leobench_transport::{CongestionSpec, Endpoint, Plugins, Role, SchedulerSpec};

pub use self::endpoint::{EndpointFault, FlowNetwork, Unsound};
use super::{FlowSpec, ScenarioSpec};

/// When a blocking write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlocksUntil {
    /// Once so many bytes of its stream are unsent at most.
    Unsent(Bytes),
    /// Once the transport's own send buffer has taken it.
    Taken,
}

/// The sockets of hosts that carry a transport in real time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostSocket<'a> {
    /// A TCP socket: the kernel has the transport in place of the endpoint.
    KernelTcp(&'a TcpSpec),
    /// A UDP socket, for packets of QUIC.
    Quic,
    /// A UDP socket, for parts of messages.
    Datagrams,
}

/// A flow that a transport checks, and the scenario around it.
#[derive(Clone, Copy)]
pub struct FlowCheck<'a> {
    /// The scenario.
    pub scenario: &'a ScenarioSpec,
    /// The flow.
    pub flow: &'a FlowSpec,
    /// The host of the plug-ins that the flow names.
    pub plugins: &'a Plugins,
}

/// A flow with an end whose address changes.
#[derive(Clone, Copy, Debug)]
pub struct MovedFlow<'a> {
    /// Its name, as messages show it.
    pub name: &'a str,
    /// Its specification.
    pub flow: &'a FlowSpec,
    /// Whether the end that moves opens the connection.
    pub opens: bool,
}

impl MovedFlow<'_> {
    /// The fault of a flow whose other end opens the connection, with the reason why that keeps it from following.
    fn not_opened(&self, reason: &str) -> Fault {
        let name = self.name;
        let problem = format!("the other end of flow `{name}` opens the connection{reason}");
        let allowed =
            format!("`reroute` or `rebind`, or `flows.{name}.opened_by` set to the end that moves");
        Fault::new("", problem, allowed)
    }
}

/// An end of a flow, to be built.
pub struct EndpointContext<'a> {
    /// The flow.
    pub flow: &'a FlowSpec,
    /// Which end.
    pub end: End,
    /// Its own address.
    pub local: SocketAddr,
    /// The other end's address.
    pub remote: SocketAddr,
    /// Addresses of the end that opens the connection, if it has several paths.
    pub paths: &'a [IpAddr],
    /// Addresses of the other end, if paths lead to several.
    pub peers: &'a [IpAddr],
    /// Places in `paths` and `peers` that a route connects.
    pub pairs: &'a [(usize, usize)],
    /// The random streams of this end.
    pub rng: &'a RngTree,
    /// The host of the plug-ins that the flow names.
    pub plugins: &'a Plugins,
    /// The network around it.
    pub network: &'a mut dyn FlowNetwork,
}

/// A transport that a scenario can name.
pub trait TransportModel {
    /// Largest payload it sends in a packet.
    fn payload(&self) -> Bytes;

    /// Name of the parameter for that payload.
    fn payload_key(&self) -> &'static str {
        "payload"
    }

    /// Smallest payload it may be set to.
    fn least_payload(&self) -> Bytes;

    /// Largest datagram of an application; `None` if it has no datagrams.
    fn datagram(&self) -> Option<Bytes> {
        None
    }

    /// Bytes of headers in front of it, down to IPv4.
    fn headers(&self) -> Bytes {
        IPV4_UDP_HEADER
    }

    /// Protocol in the IP headers of its packets.
    fn protocol(&self) -> Protocol {
        Protocol::Udp
    }

    /// Whether a connection carries several streams.
    fn has_streams(&self) -> bool {
        true
    }

    /// Whether it can give each message a stream of its own.
    fn has_message_streams(&self) -> bool {
        false
    }

    /// When a blocking write returns: once a packet's worth is unsent, as in quic-go (Khan et al. 2023, Computer
    /// Networks, section 5.1), unless the transport has a send buffer of its own.
    fn blocks_until(&self) -> BlocksUntil {
        BlocksUntil::Unsent(self.payload())
    }

    /// Whether the ends open a connection, so that packets of full size go both ways.
    fn connects(&self) -> bool;

    /// Whether pages over it choose between HTTP/1.1 and HTTP/2; pages over others use HTTP/3.
    fn chooses_http(&self) -> bool {
        false
    }

    /// Name of its stack, if there are several.
    fn stack(&self) -> Option<&str> {
        None
    }

    /// Whether its stack is a library, whose conclusions about packets are unknown.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Its congestion controller; `None` if it sends as fast as its source.
    fn congestion(&self) -> Option<&CongestionSpec>;

    /// Its stream scheduler, if it has one.
    fn scheduler(&self) -> Option<&SchedulerSpec>;

    /// Its reaction to forecasts, if the scenario sets one.
    fn on_forecast(&self) -> Option<&OnForecastSpec> {
        None
    }

    /// Whether its controller gets the reports of the link layer.
    fn takes_reports(&self) -> bool {
        true
    }

    /// Whether the scenario asks for packets that queues mark, although the transport works the same without marks.
    fn requests_marks(&self) -> bool {
        false
    }

    /// Its paths, if a connection has several.
    fn multipath(&self) -> Option<&MultipathSpec> {
        None
    }

    /// The link of the server's preferred address, if it has one.
    fn preferred_address(&self) -> Option<&str> {
        None
    }

    /// Checks a flow over it, beyond the checks that are the same for all transports. The fault's field is a path below the
    /// flow.
    ///
    /// # Errors
    /// If the flow demands something that the transport, its stack or this build lacks.
    fn check(&self, check: FlowCheck<'_>) -> Result<(), Fault>;

    /// Checks that a flow can follow when the address of an end changes. The fault's field is empty.
    ///
    /// # Errors
    /// If it cannot.
    fn check_migration(&self, moved: MovedFlow<'_>) -> Result<(), Fault>;

    /// Checks that a flow over it can run in real time. The fault's field is a path below the flow.
    ///
    /// # Errors
    /// If only virtual time has some part of it.
    fn check_real(&self, flow: &FlowSpec) -> Result<(), Fault>;

    /// The transport to use in real time instead, if it is another one.
    fn in_real_time(&self) -> Option<TransportSpec> {
        None
    }

    /// The sockets that carry it in real time.
    fn host_socket(&self) -> HostSocket<'_>;

    /// Builds an end of a flow.
    ///
    /// # Errors
    /// If the endpoint cannot be made, or the network lacks something that it needs.
    fn endpoint(&self, context: EndpointContext<'_>) -> Result<Box<dyn Endpoint>, EndpointFault>;
}

leobench_base::kinds! {
    /// A transport, by name.
    pub enum TransportSpec as dyn TransportModel {
        Quic(mod quic::QuicSpec) = "quic",
        Tcp(mod tcp::TcpSpec) = "tcp",
        Udp(mod udp::UdpSpec) = "udp",
    }
}

impl EndpointContext<'_> {
    /// Whether it is the end that sends the flow's data.
    fn sends_data(&self) -> bool {
        self.end == End::Sender
    }

    /// The role of this end in its connection.
    fn role(&self) -> Role {
        if self.flow.opener_end() == self.end { Role::Client } else { Role::Server }
    }

    /// When the flow starts.
    fn start(&self) -> SimTime {
        SimTime::ZERO + self.flow.start
    }
}

/// Refuses a new connection of a flow whose transport has no use for one, for a reason.
fn no_reconnect(flow: &FlowSpec, reason: &str) -> Result<(), Fault> {
    if flow.reconnect.is_none() {
        return Ok(());
    }
    let problem = format!("applies only to `tcp`: {reason}");
    Err(Fault::new("reconnect", problem, "no `reconnect`, or the transport `tcp`"))
}

/// A fault of a part of a flow that works in virtual time only.
fn virtual_only(field: &str, allowed: &str) -> Fault {
    Fault::new(field, "works in virtual time only", allowed)
}

#[cfg(test)]
mod tests;
