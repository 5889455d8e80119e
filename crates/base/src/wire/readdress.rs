//! Address translation of packets that exist as bytes.

use std::net::IpAddr;

use etherparse::ip_number;

use super::parse::{ParseError, layout};
use super::updated;
use crate::packet::Meta;

/// Where addresses are in an IPv4 and in an IPv6 header, source and destination together.
const V4: std::ops::Range<usize> = 12..20;
const V6: std::ops::Range<usize> = 8..40;
/// Place of the checksum in an IPv4 header.
const V4_CHECKSUM: usize = 10;

/// Gives a packet the addresses and ports of its header in the network, which differ if it was translated on the way (RFC 3022
/// section 4.1). Checksums are updated, so that a wrong one stays wrong. What an ICMP error quotes was translated at the node that translates.
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
    let is_v4 = place == V4;
    let (at, ports) = match layout.protocol {
        ip_number::TCP => (Some(16), true),
        ip_number::UDP => (Some(6), true),
        ip_number::IPV6_ICMP => (Some(2), false),
        _ => (None, false),
    };
    let content = layout.content.filter(|content| content + 4 <= bytes.len());
    let sum = content.zip(at).map(|(content, at)| content + at);
    // A datagram without a checksum stays without one (RFC 768).
    let sum = sum.filter(|at| bytes.len() >= at + 2 && word(bytes, *at) != [0, 0]);
    let mut replace = |at: usize, new: [u8; 2], is_address: bool| {
        let old = word(bytes, at);
        bytes[at..at + 2].copy_from_slice(&new);
        let header = (is_v4 && is_address).then_some(V4_CHECKSUM);
        for checksum in header.into_iter().chain(sum) {
            let before = u16::from_be_bytes(word(bytes, checksum));
            let after = updated(before, u16::from_be_bytes(old), u16::from_be_bytes(new));
            bytes[checksum..checksum + 2].copy_from_slice(&after.to_be_bytes());
        }
    };
    for (pair, new) in place.step_by(2).zip(addresses.chunks(2)) {
        replace(pair, [new[0], new[1]], true);
    }
    if let Some(content) = content.filter(|_| ports) {
        replace(content, meta.source.port().to_be_bytes(), false);
        replace(content + 2, meta.destination.port().to_be_bytes(), false);
    }
    if let Some(at) =
        sum.filter(|at| layout.protocol == ip_number::UDP && word(bytes, *at) == [0, 0])
    {
        bytes[at..at + 2].fill(0xff);
    }
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> [u8; 2] {
    [bytes[at], bytes[at + 1]]
}

#[cfg(test)]
mod tests;
