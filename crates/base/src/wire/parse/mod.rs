//! Reading the packets of other programs: what links and queues need to know of any IP packet.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes as Payload;
use etherparse::{
    IpAuthHeaderSlice, IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice,
    Ipv6Header, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice, ip_number,
};

use crate::packet::{Body, Ecn, Label, Meta, Packet, Protocol};
use crate::time::SimTime;
use crate::units::Bytes;

/// Types of ICMP messages that ask and answer, with an identifier at this place (RFC 792).
const ECHO_REPLY: u8 = 0;
const ECHO: u8 = 8;
const TIMESTAMP: u8 = 13;
const TIMESTAMP_REPLY: u8 = 14;
const IDENTIFIER: usize = 4;

/// Bytes that are no IP packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The version is neither 4 nor 6.
    #[error("an IP packet of version {0}; allowed: 4, 6")]
    Version(u8),
    /// There are fewer bytes than the header has.
    #[error("a truncated IP header: {present} of {needed} bytes")]
    Truncated {
        /// Bytes of the header, as far as known.
        needed: usize,
        /// Bytes given.
        present: usize,
    },
    /// The packet is longer, by its own account, than the bytes given.
    #[error("a truncated IP packet: {present} of {stated} bytes")]
    Length {
        /// Length by the IP header.
        stated: usize,
        /// Bytes given.
        present: usize,
    },
    /// The length of the IPv4 header is less than the least possible.
    #[error("an IPv4 header of {0} bytes; allowed: 20 to 60")]
    HeaderLength(usize),
    /// The length of the IPv4 packet is less than that of its header.
    #[error("an IPv4 packet of {stated} bytes with a header of {header}")]
    TotalLength {
        /// Length by the IP header.
        stated: usize,
        /// Bytes of the header.
        header: usize,
    },
    /// An extension header is not whole.
    #[error("a truncated or malformed IP extension header of type {0}")]
    Extension(u8),
}

/// The header fields of an IP packet, and the place and protocol of its content.
pub(super) struct Layout {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub ecn: Ecn,
    /// Bytes of the whole packet; the buffer may have more.
    pub length: usize,
    /// Protocol of the content, behind all extension headers that could be read.
    pub protocol: IpNumber,
    /// Start of the content of that protocol; `None` in a fragment that is not the first, which has no transport header.
    pub content: Option<usize>,
}

/// The payload of a UDP packet; none of any other, or of a fragment but the first.
pub fn udp_payload(packet: &[u8]) -> Option<&[u8]> {
    const HEADER: usize = 8;
    let layout = layout(packet).ok().filter(|layout| layout.protocol == ip_number::UDP)?;
    packet.get(layout.content? + HEADER..layout.length)
}

/// Reads a packet of any IP protocol; the body keeps its bytes, without those behind its end. `id` and `arrival` are those of
/// its header. Packets without ports have the ports zero: other protocols than TCP and UDP, and fragments but the first. The
/// identifier of an ICMP query over IPv4, such as a ping, is the port of the end that asks (RFC 5508 section 3).
///
/// Only the IP headers have to be sound: like a router, this reads no further than the ports.
///
/// # Errors
/// If the bytes do not start with a whole IP packet.
pub fn parse(mut bytes: Payload, id: u64, arrival: SimTime) -> Result<Packet, ParseError> {
    let layout = layout(&bytes)?;
    bytes.truncate(layout.length);
    let protocol = Protocol::from_number(layout.protocol.0);
    let [from, to] = ports(layout.protocol, layout.content, &bytes)
        .map(|place| place.map_or(0, |at| u16::from_be_bytes(word(&bytes, at))));
    let meta = Meta {
        id,
        size: Bytes::new(layout.length as u64),
        source: SocketAddr::new(layout.source, from),
        destination: SocketAddr::new(layout.destination, to),
        protocol,
        ecn: layout.ecn,
        label: Label::default(),
        transmission: None,
        back: false,
        arrival,
    };
    Ok(Packet { meta, body: Body::Raw(bytes) })
}

/// Offsets of the source's and the destination's port in a packet whose content of this protocol starts at `content`.
/// An ICMP query's identifier stands for a port.
pub(super) fn ports(
    protocol: IpNumber,
    content: Option<usize>,
    packet: &[u8],
) -> [Option<usize>; 2] {
    const NONE: [Option<usize>; 2] = [None; 2];
    let Some(start) = content else { return NONE };
    let places = match (protocol, packet.get(start)) {
        (ip_number::TCP | ip_number::UDP, _) => [Some(start), Some(start + 2)],
        (ip_number::ICMP, Some(&(ECHO | TIMESTAMP))) => [Some(start + IDENTIFIER), None],
        (ip_number::ICMP, Some(&(ECHO_REPLY | TIMESTAMP_REPLY))) => {
            [None, Some(start + IDENTIFIER)]
        }
        _ => NONE,
    };
    if places.iter().flatten().all(|at| at + 2 <= packet.len()) { places } else { NONE }
}

pub(super) fn word(bytes: &[u8], at: usize) -> [u8; 2] {
    [bytes[at], bytes[at + 1]]
}

/// The layout of the packet that `bytes` start with.
pub(super) fn layout(bytes: &[u8]) -> Result<Layout, ParseError> {
    layout_of(bytes, whole)
}

/// The layout of a packet of which `bytes` are the beginning, or all.
pub(super) fn layout_of_beginning(bytes: &[u8]) -> Result<Layout, ParseError> {
    layout_of(bytes, |bytes, stated| Ok(&bytes[..stated.min(bytes.len())]))
}

/// Finds in bytes the packet that is as long as its header states.
type Extent = fn(&[u8], usize) -> Result<&[u8], ParseError>;

fn layout_of(bytes: &[u8], extent: Extent) -> Result<Layout, ParseError> {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => layout_v4(bytes, extent),
        Some(6) => layout_v6(bytes, extent),
        Some(version) => Err(ParseError::Version(version)),
        None => Err(ParseError::Truncated { needed: Ipv4Header::MIN_LEN, present: 0 }),
    }
}

fn layout_v4(bytes: &[u8], extent: Extent) -> Result<Layout, ParseError> {
    let header_length = 4 * usize::from(bytes[0] & 0xf);
    if header_length < Ipv4Header::MIN_LEN {
        return Err(ParseError::HeaderLength(header_length));
    }
    let truncated = ParseError::Truncated { needed: header_length, present: bytes.len() };
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(|_| truncated)?;
    let length = usize::from(header.total_len());
    if length < header_length {
        return Err(ParseError::TotalLength { stated: length, header: header_length });
    }
    let packet = extent(bytes, length)?;
    let is_first = header.fragments_offset().value() == 0;
    let (protocol, content) = if is_first {
        upper_layer(header.protocol(), packet, header_length, false)?
    } else {
        (header.protocol(), None)
    };
    Ok(Layout {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        ecn: ecn(header.ecn()),
        length,
        protocol,
        content,
    })
}

fn layout_v6(bytes: &[u8], extent: Extent) -> Result<Layout, ParseError> {
    let truncated = ParseError::Truncated { needed: Ipv6Header::LEN, present: bytes.len() };
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(|_| truncated)?;
    let length = Ipv6Header::LEN + usize::from(header.payload_length());
    let packet = extent(bytes, length)?;
    let (protocol, content) = upper_layer(header.next_header(), packet, Ipv6Header::LEN, true)?;
    Ok(Layout {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        ecn: ecn(header.ecn()),
        length,
        protocol,
        content,
    })
}

fn whole(bytes: &[u8], stated: usize) -> Result<&[u8], ParseError> {
    bytes.get(..stated).ok_or(ParseError::Length { stated, present: bytes.len() })
}

/// The protocol behind the extension headers that start at `at`, and where its content starts. IPv4 has one such header,
/// for authentication (RFC 4302).
fn upper_layer(
    mut protocol: IpNumber,
    packet: &[u8],
    mut at: usize,
    six: bool,
) -> Result<(IpNumber, Option<usize>), ParseError> {
    loop {
        let rest = &packet[at..];
        let malformed = ParseError::Extension(protocol.0);
        let (next, length) = match protocol {
            ip_number::AUTH => {
                let header = IpAuthHeaderSlice::from_slice(rest).map_err(|_| malformed)?;
                (header.next_header(), header.slice().len())
            }
            ip_number::IPV6_HOP_BY_HOP
            | ip_number::IPV6_ROUTE
            | ip_number::IPV6_DEST_OPTIONS
            | ip_number::MOBILITY
                if six =>
            {
                let header = Ipv6RawExtHeaderSlice::from_slice(rest).map_err(|_| malformed)?;
                (header.next_header(), header.slice().len())
            }
            ip_number::IPV6_FRAG if six => {
                let header = Ipv6FragmentHeaderSlice::from_slice(rest).map_err(|_| malformed)?;
                if header.fragment_offset().value() != 0 {
                    return Ok((header.next_header(), None));
                }
                (header.next_header(), header.slice().len())
            }
            _ => return Ok((protocol, Some(at))),
        };
        (protocol, at) = (next, at + length);
    }
}

fn ecn(field: IpEcn) -> Ecn {
    match field {
        IpEcn::NotEct => Ecn::NotEct,
        IpEcn::Ect1 => Ecn::Ect1,
        IpEcn::Ect0 => Ecn::Ect0,
        IpEcn::CongestionExperienced => Ecn::Ce,
    }
}

#[cfg(test)]
mod tests;
