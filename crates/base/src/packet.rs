//! Packets: the header that links and queues read, and the content that endpoints exchange.

use std::net::SocketAddr;

use bytes::{Bytes as Payload, BytesMut};

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
    /// When the packet reached the queue in which it waits, or was sent, in the link's own time (a real-time driver may
    /// observe it late).
    pub arrival: SimTime,
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
