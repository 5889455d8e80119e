//! The packet that an ICMP error quotes: what a node that translates addresses has to read and change (RFC 5508 section 4).

use std::net::{IpAddr, SocketAddr};

use etherparse::ip_number;

use super::parse::{layout, layout_of_beginning, ports, word};
use super::updated;
use crate::packet::Protocol;

/// Bytes of an ICMP error before the packet that it quotes.
const ICMP_HEADER: usize = 8;
/// Place of the checksum in an ICMP message.
const ICMP_CHECKSUM: usize = 2;
/// ICMP types that quote a packet: destination unreachable, source quench, redirect, time exceeded, parameter problem
/// (RFC 792).
const QUOTING: [u8; 5] = [3, 4, 5, 11, 12];
/// Place of the checksum, and of the source address in an IPv4 header. The destination follows.
const CHECKSUM: usize = 10;
const SOURCE: usize = 12;
const ADDRESS: usize = 4;

/// The beginning of an IPv4 packet that an ICMP error quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// Its protocol.
    pub protocol: Protocol,
    /// Its source address; the port is zero if it has none.
    pub source: SocketAddr,
    /// Its destination address; the port is zero if it has none.
    pub destination: SocketAddr,
    /// Offset of the quoted packet in the error.
    start: usize,
    /// Offset of its content, if the beginning of that is quoted.
    content: Option<usize>,
    /// Offsets of its ports, if it has any and they are quoted.
    ports: [Option<usize>; 2],
}

/// An end of the packet that an ICMP error quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotedEnd {
    /// Its source.
    Source,
    /// Its destination.
    Destination,
}

/// The packet that an ICMP error over IPv4 quotes; none of any other packet, or if it is no packet.
pub fn quoted(packet: &[u8]) -> Option<Quoted> {
    let error = layout(packet).ok().filter(|layout| layout.protocol == ip_number::ICMP)?;
    let icmp =
        error.content.filter(|at| packet.get(*at).is_some_and(|kind| QUOTING.contains(kind)))?;
    let start = icmp + ICMP_HEADER;
    let bytes = packet.get(start..error.length)?;
    let found = layout_of_beginning(bytes).ok().filter(|found| found.source.is_ipv4())?;
    let protocol = Protocol::from_number(found.protocol.0);
    let content = found.content.map(|content| start + content);
    let ports = ports(found.protocol, content, &packet[..error.length]);
    let [from, to] = ports.map(|place| place.map_or(0, |at| u16::from_be_bytes(word(packet, at))));
    let source = SocketAddr::new(found.source, from);
    let destination = SocketAddr::new(found.destination, to);
    Some(Quoted { protocol, source, destination, start, content, ports })
}

/// Gives an end of the quoted packet another address and port. The checksums of its headers and of the error are updated,
/// so that a wrong one stays wrong (RFC 5508 section 4.2, RFC 1624).
pub fn requote(packet: &mut [u8], quoted: &Quoted, end: QuotedEnd, new: SocketAddr) {
    let IpAddr::V4(address) = new.ip() else { return };
    let Quoted { protocol, start, content, ports, .. } = *quoted;
    let place = usize::from(end == QuotedEnd::Destination);
    let transport = content.and_then(|content| transport_checksum(packet, protocol, content));
    let of_addresses = transport.filter(|_| protocol != Protocol::ICMP);
    let error = start - ICMP_HEADER + ICMP_CHECKSUM;
    let octets = address.octets();
    for (word, new) in octets.chunks(2).enumerate() {
        let at = start + SOURCE + place * ADDRESS + 2 * word;
        let inner = [Some(start + CHECKSUM), of_addresses];
        replace(packet, at, [new[0], new[1]], inner, error);
    }
    if let Some(at) = ports[place] {
        replace(packet, at, new.port().to_be_bytes(), [transport, None], error);
    }
}

/// Offset of the checksum of a quoted segment, message or datagram. `None` if it is not quoted, or a datagram has none.
fn transport_checksum(packet: &[u8], protocol: Protocol, content: usize) -> Option<usize> {
    let at = match protocol {
        Protocol::Tcp => content + 16,
        Protocol::Udp => content + 6,
        Protocol::ICMP => content + 2,
        Protocol::Other(_) => return None,
    };
    let is_there =
        packet.get(at..at + 2).is_some_and(|sum| protocol != Protocol::Udp || sum != [0, 0]);
    is_there.then_some(at)
}

/// Replaces a word, in the checksums of the quoted packet that cover it, and in that of the error, which covers those too.
fn replace(packet: &mut [u8], at: usize, new: [u8; 2], inner: [Option<usize>; 2], error: usize) {
    let old = put(packet, at, new);
    for sum in inner.into_iter().flatten() {
        let before = u16::from_be_bytes([packet[sum], packet[sum + 1]]);
        let after = updated(before, u16::from_be_bytes(old), u16::from_be_bytes(new));
        put(packet, sum, after.to_be_bytes());
        correct(packet, error, before.to_be_bytes(), after.to_be_bytes());
    }
    correct(packet, error, old, new);
}

fn correct(packet: &mut [u8], error: usize, old: [u8; 2], new: [u8; 2]) {
    let before = u16::from_be_bytes([packet[error], packet[error + 1]]);
    let after = updated(before, u16::from_be_bytes(old), u16::from_be_bytes(new));
    put(packet, error, after.to_be_bytes());
}

/// Writes a word; the one that was there.
fn put(packet: &mut [u8], at: usize, new: [u8; 2]) -> [u8; 2] {
    let old = [packet[at], packet[at + 1]];
    packet[at..at + 2].copy_from_slice(&new);
    old
}

#[cfg(test)]
mod tests;
