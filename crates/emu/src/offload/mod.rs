//! Work that hosts leave to their devices: cutting long segments into packets, and checksums.
//!
//! A host with a device that offers both hands over up to 64 KiB of one TCP connection, or several datagrams of the
//! same size, with one set of headers and unfinished checksums. A link has to see the final packets, so they are
//! finished here, at the entry. At the exit, [`merge`] joins packets again. The header before a frame has the
//! parameters (virtio 1.2, section 5.1.6: `virtio_net_hdr`).

pub(crate) mod merge;

use bytes::{Bytes, BytesMut};

use crate::framing::VIRTIO_HEADER as HEADER;

/// Flag: the checksum is unfinished.
const NEEDS_CHECKSUM: u8 = 1;
/// Kinds of long segments: TCP over IPv4, TCP over IPv6, UDP.
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP: u8 = 5;
/// Flag of a kind: the segment has the flag CWR (RFC 3168), which is for its first packet only.
const ECN: u8 = 0x80;

/// Bytes of an IPv4 header without options, of an IPv6 header without extensions, of a UDP header.
const IPV4: usize = 20;
const IPV6: usize = 40;
const UDP_HEADER: usize = 8;
/// Flags of TCP that only the last packet of a segment has (FIN, PSH), and that only the first has (CWR).
const LAST: u8 = 0x09;
const FIRST: u8 = 0x80;
/// Room for packets is taken in pieces of this size.
const PIECE: usize = 1 << 16;

/// A frame that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Room that packets are written to. A packet keeps the piece that it is in, for as long as it is in the network.
#[derive(Debug, Default)]
pub(crate) struct Arena(BytesMut);

impl Arena {
    /// A packet of these parts.
    pub(crate) fn packet(&mut self, parts: [&[u8]; 2]) -> BytesMut {
        let size = parts.iter().map(|part| part.len()).sum();
        if self.0.capacity() < size {
            self.0.reserve(PIECE.max(size));
        }
        for part in parts {
            self.0.extend_from_slice(part);
        }
        self.0.split()
    }
}

/// Appends the packets of a frame with a virtio header to `packets`.
pub(crate) fn cut(
    frame: &[u8],
    arena: &mut Arena,
    packets: &mut Vec<Bytes>,
) -> Result<(), Malformed> {
    let (header, packet) = frame.split_at_checked(HEADER).ok_or(Malformed)?;
    let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    let (size, start, offset) = (word(4), word(6), word(8));
    match header[1] & !ECN {
        0 => {
            let mut whole = arena.packet([packet, &[]]);
            if header[0] & NEEDS_CHECKSUM != 0 {
                finish_checksum(&mut whole, start, offset)?;
            }
            packets.push(whole.freeze());
            Ok(())
        }
        kind @ (TCP_V4 | TCP_V6 | UDP) => {
            Long::new(packet, start, size, kind == UDP)?.cut(arena, packets);
            Ok(())
        }
        _ => Err(Malformed),
    }
}

/// Finishes a checksum that holds the sum of the pseudo-header so far.
fn finish_checksum(packet: &mut [u8], start: usize, offset: usize) -> Result<(), Malformed> {
    let content = packet.get_mut(start..).ok_or(Malformed)?;
    let checksum = !folded(sum(content));
    let field = content.get_mut(offset..offset + 2).ok_or(Malformed)?;
    // In UDP's field, zero stands for no checksum (RFC 768); to the sum, all ones are the same.
    let checksum = if checksum == 0 { u16::MAX } else { checksum };
    field.copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

/// A segment or datagrams longer than a packet may be.
struct Long<'a> {
    /// IP and transport header.
    headers: &'a [u8],
    content: &'a [u8],
    /// Offset of the transport header.
    start: usize,
    /// Bytes of content in a packet; the last may have fewer.
    size: usize,
    is_udp: bool,
    is_v4: bool,
}

impl<'a> Long<'a> {
    fn new(packet: &'a [u8], start: usize, size: usize, is_udp: bool) -> Result<Self, Malformed> {
        let is_v4 = packet.first().ok_or(Malformed)? >> 4 == 4;
        let length = if is_udp {
            UDP_HEADER
        } else {
            4 * usize::from(packet.get(start + 12).ok_or(Malformed)? >> 4)
        };
        let is_sound = size > 0
            && start >= if is_v4 { IPV4 } else { IPV6 }
            && length >= if is_udp { UDP_HEADER } else { 20 };
        let (headers, content) = packet.split_at_checked(start + length).ok_or(Malformed)?;
        if is_sound {
            Ok(Self { headers, content, start, size, is_udp, is_v4 })
        } else {
            Err(Malformed)
        }
    }

    fn cut(&self, arena: &mut Arena, packets: &mut Vec<Bytes>) {
        let count = self.content.len().div_ceil(self.size);
        for (number, content) in self.content.chunks(self.size).enumerate() {
            let mut packet = arena.packet([self.headers, content]);
            self.set_ip_header(&mut packet, number);
            if self.is_udp {
                let length = (packet.len() - self.start) as u16;
                packet[self.start + 4..self.start + 6].copy_from_slice(&length.to_be_bytes());
            } else {
                self.set_tcp_header(&mut packet, number, number + 1 == count);
            }
            self.set_checksum(&mut packet);
            packets.push(packet.freeze());
        }
    }

    fn set_ip_header(&self, packet: &mut [u8], number: usize) {
        let length = packet.len();
        if !self.is_v4 {
            packet[4..6].copy_from_slice(&((length - IPV6) as u16).to_be_bytes());
            return;
        }
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let identification = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(number as u16);
        packet[4..6].copy_from_slice(&identification.to_be_bytes());
        packet[10..12].fill(0);
        let header = 4 * usize::from(packet[0] & 0xf);
        let checksum = !folded(sum(&packet[..header.min(length)]));
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    }

    fn set_tcp_header(&self, packet: &mut [u8], number: usize, is_last: bool) {
        let header = &mut packet[self.start..];
        let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let sequence = sequence.wrapping_add((number * self.size) as u32);
        header[4..8].copy_from_slice(&sequence.to_be_bytes());
        if !is_last {
            header[13] &= !LAST;
        }
        if number > 0 {
            header[13] &= !FIRST;
        }
    }

    /// The checksum over the pseudo-header, the transport header and the content.
    fn set_checksum(&self, packet: &mut [u8]) {
        let pseudo = pseudo_sum(packet, self.is_udp, packet.len() - self.start);
        let transport = &mut packet[self.start..];
        let at = if self.is_udp { 6 } else { 16 };
        transport[at..at + 2].fill(0);
        let checksum = !folded(pseudo + sum(transport));
        let checksum = if checksum == 0 && self.is_udp { u16::MAX } else { checksum };
        transport[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// The sum of the pseudo-header of a packet (RFC 9293 section 3.1, RFC 768, RFC 8200 section 8.1), with `length` bytes from the
/// transport header on.
fn pseudo_sum(packet: &[u8], is_udp: bool, length: usize) -> u64 {
    let addresses = if packet[0] >> 4 == 4 { &packet[12..20] } else { &packet[8..40] };
    let protocol = if is_udp { 17 } else { 6 };
    sum(addresses) + sum(&[0, protocol]) + sum(&(length as u32).to_be_bytes())
}

/// The sum of the words of `bytes` in the machine's own order, not folded yet (RFC 1071 section 2 B: the order does not matter).
fn sum(bytes: &[u8]) -> u64 {
    let mut quads = bytes.chunks_exact(4);
    let mut sum = 0;
    for quad in &mut quads {
        sum += u64::from(u32::from_ne_bytes([quad[0], quad[1], quad[2], quad[3]]));
    }
    let mut last = [0; 4];
    last[..quads.remainder().len()].copy_from_slice(quads.remainder());
    sum + u64::from(u32::from_ne_bytes(last))
}

/// The sum folded to 16 bits, in the order of the network.
fn folded(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    u16::from_be(sum as u16)
}

#[cfg(test)]
mod tests;
