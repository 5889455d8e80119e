//! Transports: what a scenario needs to know of each.

use leobench_base::Bytes;
use leobench_base::packet::{IPV4_HEADER, IPV4_UDP_HEADER};
use leobench_quic::{QuicSpec, Stack};
use leobench_transport::SchedulerSpec;
use leobench_transport::tcp::TcpSpec;
use leobench_transport::udp::UdpSpec;

/// When a blocking write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlocksUntil {
    /// Once so many bytes of its stream are unsent at most.
    Unsent(Bytes),
    /// Once the transport's own send buffer has taken it.
    Taken,
}

/// Properties that a scenario needs of any transport.
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

    /// Whether a connection carries several streams.
    fn has_streams(&self) -> bool {
        true
    }

    /// When a blocking write returns: once a packet's worth is unsent, as in quic-go (Khan et al. 2023, Computer
    /// Networks, section 5.1), unless the transport has a send buffer of its own.
    fn blocks_until(&self) -> BlocksUntil {
        BlocksUntil::Unsent(self.payload())
    }

    /// Whether the ends open a connection, so that packets of full size go both ways.
    fn connects(&self) -> bool;

    /// Its stream scheduler, if it has one.
    fn scheduler(&self) -> Option<&SchedulerSpec>;
}

leobench_base::kinds! {
    /// A transport, by name.
    pub enum TransportSpec as dyn TransportModel {
        Quic(QuicSpec) = "quic",
        Tcp(TcpSpec) = "tcp",
        Udp(UdpSpec) = "udp",
    }
}

impl TransportModel for QuicSpec {
    fn payload(&self) -> Bytes {
        self.payload
    }

    fn least_payload(&self) -> Bytes {
        Self::SMALLEST_PAYLOAD
    }

    fn datagram(&self) -> Option<Bytes> {
        self.largest_datagram()
    }

    fn blocks_until(&self) -> BlocksUntil {
        match self.stack {
            Stack::Own | Stack::Noq => BlocksUntil::Unsent(self.payload),
            Stack::Library(_) => BlocksUntil::Taken,
        }
    }

    fn connects(&self) -> bool {
        true
    }

    fn scheduler(&self) -> Option<&SchedulerSpec> {
        Some(&self.scheduler)
    }
}

impl TransportModel for TcpSpec {
    fn payload(&self) -> Bytes {
        self.mss
    }

    fn least_payload(&self) -> Bytes {
        Self::SMALLEST_MSS
    }

    fn payload_key(&self) -> &'static str {
        "mss"
    }

    fn blocks_until(&self) -> BlocksUntil {
        BlocksUntil::Taken
    }

    fn headers(&self) -> Bytes {
        self.header() + IPV4_HEADER
    }

    fn has_streams(&self) -> bool {
        false
    }

    fn connects(&self) -> bool {
        true
    }

    fn scheduler(&self) -> Option<&SchedulerSpec> {
        None
    }
}

impl TransportModel for UdpSpec {
    fn payload(&self) -> Bytes {
        self.payload
    }

    fn least_payload(&self) -> Bytes {
        Bytes::new(1)
    }

    fn datagram(&self) -> Option<Bytes> {
        Some(self.payload)
    }

    fn connects(&self) -> bool {
        false
    }

    fn scheduler(&self) -> Option<&SchedulerSpec> {
        None
    }
}
