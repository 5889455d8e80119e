//! Frames for hosts that take over cutting: packets of a connection that leave together become one long segment again, as a
//! network card does that receives them (GRO). Packets whose checksum is wrong, or that differ in more than their place in the
//! stream, stay as they are.

use super::{
    HEADER, IPV4, IPV6, NEEDS_CHECKSUM, TCP_V4, TCP_V6, UDP, UDP_HEADER, folded, pseudo_sum, sum,
};
use crate::framing::Framing;

/// Bytes of a frame at most: the length in an IPv4 header has 16 bits.
const LONGEST: usize = 65_535;
/// Packets of a frame at most, as in datagrams sent at once (`UDP_MAX_SEGMENTS` before Linux 6.9).
const MOST: u16 = 64;
/// Bytes of a TCP header without options.
const TCP_HEADER: usize = 20;
/// Flags of TCP that packets of a long segment may have: the acknowledgement, and the end of what the sender wrote (PSH).
const ACK: u8 = 0x10;
const PUSH: u8 = 0x08;

/// Properties of a packet that decide whether it can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Offsets of the transport header and of the content.
    start: usize,
    content: usize,
    is_udp: bool,
    is_v4: bool,
    /// No packet can follow: the sender's push ends here.
    is_last: bool,
}

impl Shape {
    /// That of a packet that can be one of several; none of others.
    fn of(packet: &[u8], framing: Framing) -> Option<Self> {
        let Framing::Virtio { datagrams } = framing else { return None };
        let (is_v4, protocol, start, length) = match packet.first()? {
            0x45 if packet.len() > IPV4 => {
                // Don't fragment is the only flag of those that are no fragments.
                let is_fragment = packet[6] & 0xbf != 0 || packet[7] != 0;
                let length = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
                (true, packet[9], IPV4, if is_fragment { 0 } else { length })
            }
            first if first >> 4 == 6 && packet.len() > IPV6 => {
                let length = usize::from(u16::from_be_bytes([packet[4], packet[5]]));
                (false, packet[6], IPV6, IPV6 + length)
            }
            _ => return None,
        };
        let transport = &packet[start..];
        let (content, is_udp, is_last) = match protocol {
            6 if transport.len() > TCP_HEADER => {
                let content = 4 * usize::from(transport[12] >> 4);
                let is_plain = transport[13] & !PUSH == ACK && content >= TCP_HEADER;
                (is_plain.then_some(content)?, false, transport[13] & PUSH != 0)
            }
            17 if datagrams && transport.len() > UDP_HEADER => {
                let stated = usize::from(u16::from_be_bytes([transport[4], transport[5]]));
                let has_checksum = transport[6..8] != [0, 0];
                ((stated == transport.len() && has_checksum).then_some(UDP_HEADER)?, true, false)
            }
            _ => return None,
        };
        let shape = Self { start, content: start + content, is_udp, is_v4, is_last };
        (length == packet.len() && shape.content < packet.len()).then_some(shape)
    }

    /// Whether the checksums of a packet are right.
    fn has_checksums(&self, packet: &[u8]) -> bool {
        let pseudo = pseudo_sum(packet, self.is_udp, packet.len() - self.start);
        folded(pseudo + sum(&packet[self.start..])) == u16::MAX
            && (!self.is_v4 || folded(sum(&packet[..IPV4])) == u16::MAX)
    }
}

/// A frame for a device: a packet, or several in one.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Offset of the frame, with its header, in the buffer of frames.
    begin: usize,
    packets: u16,
    /// How to go on, as long as another packet may follow.
    shape: Option<Shape>,
    /// Whether the first packet's checksums were found to be right.
    is_sound: bool,
    /// Bytes of content in a packet.
    size: usize,
}

impl Frame {
    /// Appends a frame of one packet to others.
    pub(crate) fn open(frames: &mut Vec<u8>, packet: &[u8], framing: Framing) -> Self {
        let begin = frames.len();
        // A header of zeros: a whole packet with a finished checksum.
        frames.extend_from_slice(&[0; HEADER][..framing.header()]);
        frames.extend_from_slice(packet);
        let shape = Shape::of(packet, framing).filter(|shape| !shape.is_last);
        let size = shape.map_or(0, |shape| packet.len() - shape.content);
        Self { begin, packets: 1, shape, is_sound: false, size }
    }

    /// How many packets it has.
    pub(crate) fn packets(&self) -> usize {
        usize::from(self.packets)
    }

    /// Offset of the frame in the buffer of frames.
    pub(crate) fn begin(&self) -> usize {
        self.begin
    }

    /// Appends a packet to this frame, which is the last of `frames`, if it goes on where that ends.
    pub(crate) fn join(&mut self, frames: &mut Vec<u8>, packet: &[u8], framing: Framing) -> bool {
        let Some(shape) = self.shape else { return false };
        let Some(next) = Shape::of(packet, framing) else { return false };
        let whole = &frames[self.begin + HEADER..];
        let content = packet.len() - next.content;
        let fits = content <= self.size
            && self.packets < MOST
            && whole.len() + content <= LONGEST
            && next == Shape { is_last: next.is_last, ..shape }
            && self.goes_on(whole, packet, &shape)
            && (self.is_sound || shape.has_checksums(whole))
            && next.has_checksums(packet);
        if !fits {
            return false;
        }
        self.is_sound = true;
        self.packets += 1;
        frames.extend_from_slice(&packet[next.content..]);
        if next.is_last {
            frames[self.begin + HEADER + shape.start + 13] |= PUSH;
        }
        if next.is_last || content < self.size {
            self.shape = None;
        }
        self.set_header(&mut frames[self.begin..], &shape);
        true
    }

    /// Whether a packet of the same shape goes on where the frame ends.
    fn goes_on(&self, whole: &[u8], packet: &[u8], shape: &Shape) -> bool {
        let same = |places: std::ops::Range<usize>| whole[places.clone()] == packet[places];
        let word = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let is_same_ip = if shape.is_v4 {
            // Hosts number the packets of a connection, or give all those the number 0 that must not be fragmented.
            let number = word(packet, 4).wrapping_sub(word(whole, 4));
            same(0..2) && same(6..10) && same(12..20) && (number == self.packets || number == 0)
        } else {
            same(0..4) && same(6..40)
        };
        let start = shape.start;
        if shape.is_udp {
            return is_same_ip && same(start..start + 4);
        }
        let sequence = |bytes: &[u8]| {
            let at = start + 4;
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let sent = (whole.len() - shape.content) as u32;
        // Ports, acknowledgement and lengths, window, urgent pointer and options.
        is_same_ip
            && same(start..start + 4)
            && sequence(packet) == sequence(whole).wrapping_add(sent)
            && same(start + 8..start + 13)
            && same(start + 14..start + 16)
            && same(start + 18..shape.content)
    }

    /// Writes the headers of a long segment: lengths, the checksum of its pseudo-header, and how to cut it.
    fn set_header(&self, frame: &mut [u8], shape: &Shape) {
        let (header, whole) = frame.split_at_mut(HEADER);
        let length = whole.len();
        if shape.is_v4 {
            whole[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            whole[10..12].fill(0);
            let checksum = !folded(sum(&whole[..IPV4]));
            whole[10..12].copy_from_slice(&checksum.to_be_bytes());
        } else {
            whole[4..6].copy_from_slice(&((length - IPV6) as u16).to_be_bytes());
        }
        let within = length - shape.start;
        let (kind, at) = match (shape.is_udp, shape.is_v4) {
            (true, _) => (UDP, 6),
            (false, true) => (TCP_V4, 16),
            (false, false) => (TCP_V6, 16),
        };
        if shape.is_udp {
            let field = shape.start + 4;
            whole[field..field + 2].copy_from_slice(&(within as u16).to_be_bytes());
        }
        let partial = folded(pseudo_sum(whole, shape.is_udp, within));
        let field = shape.start + at;
        whole[field..field + 2].copy_from_slice(&partial.to_be_bytes());
        header[0] = NEEDS_CHECKSUM;
        header[1] = kind;
        let words = [shape.content, self.size, shape.start, at];
        for (word, place) in words.into_iter().zip(header[2..].chunks_exact_mut(2)) {
            place.copy_from_slice(&(word as u16).to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
