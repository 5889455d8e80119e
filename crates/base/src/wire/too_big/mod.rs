//! The answer of a router to a packet that does not fit the next link, for path MTU discovery.

use std::net::{IpAddr, SocketAddr};

use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::{Icmpv4Type, Icmpv6Type, Ipv4Header, Ipv6Header, ip_number};

use super::parse::{Layout, ParseError, layout};
use super::{WireError, ip};
use crate::packet::{Ecn, Label, Meta, Protocol};
use crate::time::SimTime;
use crate::units::Bytes;

/// Longest ICMP error over IPv4 (RFC 1812 section 4.3.2.3).
const LONGEST_V4: usize = 576;
/// Longest ICMP error over IPv6: the least MTU (RFC 4443 section 2.4 c).
const LONGEST_V6: usize = 1_280;
/// Bytes of an ICMP error before the packet that it quotes.
const ICMP_HEADER: usize = 8;
/// The flag in the seventh byte of an IPv4 header (RFC 791 section 3.1).
const DONT_FRAGMENT: u8 = 0x40;
/// The ICMP types that are no errors, and to which errors may respond: echo, router discovery, timestamp, address mask
/// (RFC 792, 950, 1256).
const ICMPV4_QUERIES: [u8; 10] = [0, 8, 9, 10, 13, 14, 15, 16, 17, 18];

/// A packet that no router can answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooBigError {
    /// The bytes are no IP packet.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The router's address is of the other IP version.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// A router's answer to a packet longer than the `mtu` of the next link: "fragmentation needed and DF set" (RFC 792, with the
/// MTU by RFC 1191 section 4), or "packet too big" (RFC 4443 section 3.2). `None` for packets that get no such answer: those
/// that fit, IPv4 packets that may be fragmented, ICMP errors, fragments but the first, those from groups and unspecified
/// addresses, and IPv4 packets to groups (RFC 1122 section 3.2.2, RFC 4443 section 2.4 e).
///
/// # Errors
/// If the bytes do not start with a whole IP packet, or the router's address is of the other version.
pub fn too_big(packet: &[u8], router: IpAddr, mtu: Bytes) -> Result<Option<Vec<u8>>, TooBigError> {
    let layout = layout(packet)?;
    let packet = &packet[..layout.length];
    if layout.length as u64 <= mtu.get() || !is_answered(&layout, packet) {
        return Ok(None);
    }
    let meta = Meta {
        id: 0,
        size: Bytes::ZERO,
        source: SocketAddr::new(router, 0),
        destination: SocketAddr::new(layout.source, 0),
        protocol: if layout.source.is_ipv4() { Protocol::ICMP } else { Protocol::ICMPV6 },
        ecn: Ecn::NotEct,
        label: Label::default(),
        transmission: None,
        back: false,
        arrival: SimTime::ZERO,
    };
    let builder = ip(&meta)?;
    let mut answer = Vec::new();
    if layout.source.is_ipv4() {
        let next_hop_mtu = u16::try_from(mtu.get()).unwrap_or(u16::MAX);
        let needed = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu };
        let quoted = &packet[..packet.len().min(LONGEST_V4 - Ipv4Header::MIN_LEN - ICMP_HEADER)];
        let builder = builder.icmpv4(Icmpv4Type::DestinationUnreachable(needed));
        builder.write_to_vec(&mut answer, quoted).map_err(WireError::from)?;
    } else {
        let mtu = u32::try_from(mtu.get()).unwrap_or(u32::MAX);
        let quoted = &packet[..packet.len().min(LONGEST_V6 - Ipv6Header::LEN - ICMP_HEADER)];
        let builder = builder.icmpv6(Icmpv6Type::PacketTooBig { mtu });
        builder.write_to_vec(&mut answer, quoted).map_err(WireError::from)?;
    }
    Ok(Some(answer))
}

fn is_answered(layout: &Layout, packet: &[u8]) -> bool {
    let Some(content) = layout.content else { return false };
    if layout.source.is_unspecified() || layout.source.is_multicast() {
        return false;
    }
    let kind = packet.get(content).copied();
    match layout.destination {
        IpAddr::V4(destination) => {
            let fragments = packet[6] & DONT_FRAGMENT == 0;
            let is_error = layout.protocol == ip_number::ICMP
                && kind.is_none_or(|kind| !ICMPV4_QUERIES.contains(&kind));
            !fragments && !is_error && !destination.is_multicast() && !destination.is_broadcast()
        }
        // Errors have the types below 128, and redirects the type 137 (RFC 4443 section 2.1, RFC 4861 section 4.5).
        IpAddr::V6(_) => {
            layout.protocol != ip_number::IPV6_ICMP
                || kind.is_some_and(|kind| kind >= 128 && kind != 137)
        }
    }
}

#[cfg(test)]
mod tests;
