//! Packets: the header that links and queues read, and the content that endpoints exchange.

use std::any::Any;
use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;

use bytes::{Bytes as Payload, BytesMut};

use crate::id::{DirectionId, FlowId, NodeId, StreamIndex};
use crate::segment::Segment;
use crate::time::SimTime;
use crate::units::Bytes;
use crate::varint::{read_varint, varint_size, write_varint};

/// Bytes of an IPv4 header without options (RFC 791) and a UDP header (RFC 768).
pub const IPV4_UDP_HEADER: Bytes = Bytes::new(28);

/// Bytes of an IPv4 header without options (RFC 791).
pub const IPV4_HEADER: Bytes = Bytes::new(20);

/// One IP packet.
#[derive(Debug)]
pub struct Packet {
    /// Its header.
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
    /// The packet's flow, destination and hashes. The network sets them; endpoints leave them empty.
    pub label: Label,
    /// The sender's number of this transmission, if the sender may declare it lost. Only the record of losses reads it.
    pub transmission: Option<NonZeroU64>,
    /// Whether it comes from the end of its flow that receives the data. Only the record of losses reads it.
    pub back: bool,
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
        Self {
            id: 0,
            size,
            source,
            destination,
            protocol,
            ecn,
            label,
            transmission: None,
            back: false,
            arrival: now,
        }
    }

    /// Labels it: it is a packet of `flow`, if of any, and addressed `to` somewhere.
    pub fn label(&mut self, flow: Option<FlowId>, to: Destination) {
        self.label = Label { flow, to, hashes: self.hashes() };
    }

    /// The same with an ECN field.
    #[must_use]
    pub fn with_ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }

    /// The hashes of its addresses, ports and protocol.
    fn hashes(&self) -> Hashes {
        let [source, destination] = [self.source, self.destination].map(|end| host_hash(end.ip()));
        let protocol = u64::from(self.protocol.number());
        let ports = u64::from(self.source.port()) << 32 | u64::from(self.destination.port()) << 16;
        let hash = mix(mix(u64::from(source) << 32 | u64::from(destination)) ^ (ports | protocol));
        Hashes { flow: ((hash >> 32) as u32).max(1), source, destination }
    }
}

fn host_hash(address: IpAddr) -> u32 {
    let bits = match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    (mix(mix((bits >> 64) as u64) ^ bits as u64) >> 32) as u32
}

/// Spreads a number over all 64 bits, one to one (the finaliser of `SplitMix64`: Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014, figure 14).
pub const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Facts about a packet that the network computes once, at its entry, so that no hop looks up the addresses again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Whose packet it is, if a flow's.
    pub flow: Option<FlowId>,
    /// The node or interface of the destination address.
    pub to: Destination,
    /// The hashes that disciplines spread packets by.
    pub hashes: Hashes,
}

/// Hashes of a packet's addresses, the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    /// Of the five-tuple; each direction of a flow has its own.
    pub flow: u32,
    /// Of the source's address.
    pub source: u32,
    /// Of the destination's address.
    pub destination: u32,
}

/// The meaning of an address in this network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// Nothing in this network.
    #[default]
    Unknown,
    /// A node, by its own address.
    Node(NodeId),
    /// An interface, which is reached over its own link only.
    Interface(DirectionId),
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
    /// A UDP payload as a struct, which only its endpoints look into.
    Udp(Box<dyn UdpPayload>),
    /// A UDP payload as bytes.
    UdpBytes(BytesMut),
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP payload of an application: a byte count without content.
    Datagram(Datagram),
    /// A raw IP packet of an external program.
    Raw(Payload),
    /// No content.
    Filler,
}

/// A UDP payload that travels as a struct. Endpoints get theirs back by downcasting it.
pub trait UdpPayload: Any + Debug + Send + Sync {
    /// Appends its bytes, as many as the payload has.
    fn encode(&self, bytes: &mut BytesMut);
}

/// A datagram of an application: a part of a message. Its content is a byte count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the message in its stream.
    pub message: u64,
    /// The application's number of the datagram; if the transport splits messages, the number of the part.
    pub id: u64,
    /// Stream the message belongs to.
    pub stream: StreamIndex,
    /// Payload bytes of the message in this datagram.
    pub payload: u32,
}

impl Datagram {
    /// Bytes that it has at least where it travels as bytes: as many as name it.
    pub fn header(&self) -> u64 {
        self.fields().into_iter().map(varint_size).sum()
    }

    /// Appends its bytes: as many as its payload, but no fewer than the [header](Self::header) that names it.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let end = bytes.len() + u64::from(self.payload).max(self.header()) as usize;
        for field in self.fields() {
            write_varint(bytes, field);
        }
        bytes.resize(end, 0);
    }

    /// The datagram that these bytes are; `None` if they are not one.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let [stream, payload, message, id] = {
            let mut next = || read_varint(&mut bytes);
            [next()?, next()?, next()?, next()?]
        };
        let (stream, payload) = (u32::try_from(stream).ok()?, payload.try_into().ok()?);
        let stream = StreamIndex::from(stream as usize);
        Some(Self { message, id, stream, payload })
    }

    fn fields(&self) -> [u64; 4] {
        [self.stream.index() as u64, self.payload.into(), self.message, self.id]
    }
}
