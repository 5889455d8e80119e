//! Packets: the header that links and queues read, and the content that endpoints exchange.

use std::net::SocketAddr;

use bytes::{Bytes as Payload, BytesMut};

use crate::id::{FlowId, LinkId, NodeId};
use crate::segment::Segment;
use crate::time::SimTime;
use crate::units::Bytes;

/// Bytes of an IPv4 header without options (RFC 791) and a UDP header (RFC 768).
pub const IPV4_UDP_HEADER: Bytes = Bytes::new(28);

/// Bytes of an IPv4 header without options (RFC 791).
pub const IPV4_HEADER: Bytes = Bytes::new(20);

/// One IP packet.
#[derive(Debug)]
pub struct Packet {
    /// The fields that links and queues may read.
    pub meta: Meta,
    /// The content, for endpoints only.
    pub body: Body,
}

/// The header of a packet, the same in virtual and real time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Number of the packet within the run.
    pub id: u64,
    /// Length of the whole IP packet.
    pub size: Bytes,
    /// Source address and port; port zero if the packet has none.
    pub source: SocketAddr,
    /// Destination address and port; port zero if the packet has none.
    pub destination: SocketAddr,
    /// Transport protocol; completes the five-tuple.
    pub protocol: Protocol,
    /// Explicit congestion notification field (RFC 3168).
    pub ecn: Ecn,
    /// What the network knows of it. Endpoints leave it empty.
    pub label: Label,
    /// When the packet reached the queue in which it waits, or was sent, in the link's own time (a real-time driver may
    /// observe it late).
    pub arrival: SimTime,
}

impl Meta {
    /// The header of a packet that an endpoint sends at `now`; the network numbers and labels it.
    pub fn new(
        now: SimTime,
        protocol: Protocol,
        source: SocketAddr,
        destination: SocketAddr,
        size: Bytes,
    ) -> Self {
        let (ecn, label) = (Ecn::NotEct, Label::default());
        Self { id: 0, size, source, destination, protocol, ecn, label, arrival: now }
    }

    /// The same with an ECN field.
    #[must_use]
    pub fn with_ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }
}

/// What the network finds out about a packet where it enters, so that no hop has to look up its addresses again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Whose packet it is, if a flow's.
    pub flow: Option<FlowId>,
    /// Where it is addressed to.
    pub to: Destination,
}

/// What an address stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// Nothing in this network.
    #[default]
    Unknown,
    /// A node, by its own address.
    Node(NodeId),
    /// An interface, which is reached over its own link only.
    Interface(LinkId),
}

/// Transport protocol of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// UDP datagrams, including QUIC's.
    Udp,
    /// TCP segments.
    Tcp,
    /// The IP protocol of this number, neither UDP's nor TCP's.
    Other(u8),
}

impl Protocol {
    /// ICMP for IPv4 (RFC 792).
    pub const ICMP: Self = Self::Other(1);
    /// ICMP for IPv6 (RFC 4443).
    pub const ICMPV6: Self = Self::Other(58);

    /// The protocol of this number (IANA, "Assigned Internet Protocol Numbers").
    pub const fn from_number(number: u8) -> Self {
        match number {
            6 => Self::Tcp,
            17 => Self::Udp,
            other => Self::Other(other),
        }
    }

    /// The number of the protocol in an IP header.
    pub const fn number(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
            Self::Other(number) => number,
        }
    }
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable transport.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 10.
    Ect0,
    /// ECN-capable, codepoint 01.
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// The content of a packet.
#[derive(Debug)]
pub enum Body {
    /// The UDP payload of a QUIC packet.
    Quic(BytesMut),
    /// A TCP segment.
    Tcp(Segment),
    /// A piece of a UDP message: a byte count without payload.
    Datagram(Datagram),
    /// A raw IP packet of an external program.
    Raw(Payload),
    /// No content.
    Filler,
}

/// One datagram of a message that was split to the flow's payload size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Stream the message belongs to.
    pub stream: usize,
    /// Number of the message in its stream.
    pub message: u64,
    /// Payload bytes of the message in this datagram.
    pub payload: Bytes,
}
