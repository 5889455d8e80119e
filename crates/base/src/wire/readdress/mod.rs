//! Address translation of packets that exist as bytes.

use std::net::IpAddr;

use etherparse::ip_number;

use super::parse::{ParseError, layout, ports, word};
use super::updated;
use crate::packet::Meta;

/// Place of the addresses, source and destination together, in an IPv4 and in an IPv6 header.
const V4: std::ops::Range<usize> = 12..20;
const V6: std::ops::Range<usize> = 8..40;
/// Place of the checksum in an IPv4 header.
const V4_CHECKSUM: usize = 10;

/// Gives a packet the addresses and ports of its header in the network, which differ if it was translated on the way
/// (RFC 3022 section 4.1). Checksums are updated, so that a wrong one stays wrong. The packet that an ICMP error quotes
/// was rewritten by the NAT already.
pub(super) fn readdress(bytes: &mut [u8], meta: &Meta) -> Result<(), ParseError> {
    let mut addresses = [0; 32];
    let (place, addresses) = match (meta.source.ip(), meta.destination.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            addresses[..4].copy_from_slice(&source.octets());
            addresses[4..8].copy_from_slice(&destination.octets());
            (V4, &addresses[..8])
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            addresses[..16].copy_from_slice(&source.octets());
            addresses[16..].copy_from_slice(&destination.octets());
            (V6, &addresses[..])
        }
        _ => return Ok(()),
    };
    // Translation always changes an address.
    if bytes.get(place.clone()) == Some(addresses) {
        return Ok(());
    }
    let layout = layout(bytes)?;
    let at = match layout.protocol {
        ip_number::TCP => Some(16),
        ip_number::UDP => Some(6),
        ip_number::ICMP | ip_number::IPV6_ICMP => Some(2),
        _ => None,
    };
    let is_udp = layout.protocol == ip_number::UDP;
    let sum = layout.content.zip(at).map(|(content, at)| content + at);
    // A datagram without a checksum stays without one (RFC 768).
    let sum = sum.filter(|at| bytes.len() >= at + 2 && !(is_udp && word(bytes, *at) == [0, 0]));
    // That of ICMP over IPv4 does not cover addresses.
    let of_addresses = sum.filter(|_| layout.protocol != ip_number::ICMP);
    let header = (place == V4).then_some(V4_CHECKSUM);
    let ports = ports(layout.protocol, layout.content, &bytes[..layout.length]);
    let mut replace = |at: usize, new: [u8; 2], sums: [Option<usize>; 2]| {
        let old = word(bytes, at);
        bytes[at..at + 2].copy_from_slice(&new);
        for checksum in sums.into_iter().flatten() {
            let before = u16::from_be_bytes(word(bytes, checksum));
            let after = updated(before, u16::from_be_bytes(old), u16::from_be_bytes(new));
            bytes[checksum..checksum + 2].copy_from_slice(&after.to_be_bytes());
        }
    };
    for (pair, new) in place.step_by(2).zip(addresses.chunks(2)) {
        replace(pair, [new[0], new[1]], [header, of_addresses]);
    }
    for (at, end) in ports.into_iter().zip([meta.source, meta.destination]) {
        if let Some(at) = at {
            replace(at, end.port().to_be_bytes(), [sum, None]);
        }
    }
    if let Some(at) = sum.filter(|at| is_udp && word(bytes, *at) == [0, 0]) {
        bytes[at..at + 2].fill(0xff);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
