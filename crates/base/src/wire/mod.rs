//! Packets as bytes on the wire. Writing: an IP header (RFC 791, RFC 8200) with UDP (RFC 768) or TCP (RFC 9293), including
//! lengths and checksums. Payload without content is zeros. Reading: the packets of other programs, of any IP protocol.

mod parse;
mod quoted;
mod readdress;
mod too_big;

use std::net::{IpAddr, SocketAddr};

use bytes::BytesMut;
use etherparse::err::packet::BuildVecWriteError;
use etherparse::{
    IpEcn, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, Ipv6Extensions, Ipv6Header,
    PacketBuilder, PacketBuilderStep, TcpHeader, TcpOptionElement, TcpOptionWriteError,
};

use crate::packet::{Body, Ecn, Meta, Packet, Protocol};
use crate::segment::{Flags, Options, Segment};
pub use parse::{ParseError, parse, udp_payload};
pub use quoted::{Quoted, QuotedEnd, quoted, requote};
pub use too_big::{TooBigError, too_big};

/// Maximum length of an IPv4 packet, or of the payload of an IPv6 packet (RFC 791 section 3.1, RFC 8200 section 3).
const LONGEST: usize = 65_535;
/// The initial TTL of most hosts; links do not decrement it.
const TIME_TO_LIVE: u8 = 64;
/// Payload without content.
static ZEROS: [u8; LONGEST] = [0; LONGEST];

/// A packet that cannot be written to the wire.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The two addresses have different IP versions.
    #[error("a packet from {from} to {to} is neither IPv4 nor IPv6")]
    Families {
        /// Source.
        from: SocketAddr,
        /// Destination.
        to: SocketAddr,
    },
    /// The packet is longer than its length fields allow.
    #[error("packet too long: {0}")]
    Length(String),
    /// The TCP options do not fit into a header.
    #[error("too many TCP options: {0}")]
    Options(TcpOptionWriteError),
    /// A raw packet that is not IP.
    #[error("a raw packet of {0} bytes is not IP")]
    NotIp(usize),
}

impl From<BuildVecWriteError> for WireError {
    fn from(error: BuildVecWriteError) -> Self {
        Self::Length(error.to_string())
    }
}

/// Appends a whole packet to `bytes`. The identification of an IPv4 packet is the low 16 bits of its number in the run.
///
/// # Errors
/// If the packet has no wire format; `bytes` may then end with a part of it.
pub fn write(packet: &Packet, bytes: &mut Vec<u8>) -> Result<(), WireError> {
    let Packet { meta, body } = packet;
    match body {
        Body::Udp(payload) => {
            let mut encoded = BytesMut::new();
            payload.encode(&mut encoded);
            write_udp(meta, &encoded, bytes)
        }
        Body::UdpBytes(payload) => write_udp(meta, payload, bytes),
        Body::Tcp(segment) => write_tcp(meta, segment, bytes),
        Body::Datagram(datagram) => write_udp(meta, zeros(datagram.payload.into())?, bytes),
        Body::Raw(raw) => {
            let start = bytes.len();
            bytes.extend_from_slice(raw);
            let packet = &mut bytes[start..];
            readdress::readdress(packet, meta).map_err(|_| WireError::NotIp(raw.len()))?;
            set_ecn(packet, meta.ecn)
        }
        Body::Filler => write_filler(meta, bytes),
    }
}

fn write_udp(meta: &Meta, payload: &[u8], bytes: &mut Vec<u8>) -> Result<(), WireError> {
    let ports = (meta.source.port(), meta.destination.port());
    Ok(ip(meta)?.udp(ports.0, ports.1).write_to_vec(bytes, payload)?)
}

fn write_tcp(meta: &Meta, segment: &Segment, bytes: &mut Vec<u8>) -> Result<(), WireError> {
    let payload = zeros(segment.payload.into())?;
    Ok(ip(meta)?.tcp_header(tcp(meta, segment)?).write_to_vec(bytes, payload)?)
}

fn write_filler(meta: &Meta, bytes: &mut Vec<u8>) -> Result<(), WireError> {
    let header = if meta.source.is_ipv4() { Ipv4Header::MIN_LEN } else { Ipv6Header::LEN };
    let within = meta.size.get().saturating_sub(header as u64);
    match meta.protocol {
        Protocol::Udp => write_udp(meta, zeros(within.saturating_sub(8))?, bytes),
        Protocol::Tcp => {
            let bare = Segment { flags: Flags::ACK, ..Segment::default() };
            let payload = within.saturating_sub(bare.len());
            let payload = u32::try_from(payload).unwrap_or(u32::MAX);
            write_tcp(meta, &Segment { payload, ..bare }, bytes)
        }
        Protocol::Other(number) => {
            Ok(ip(meta)?.write_to_vec(bytes, IpNumber(number), zeros(within)?)?)
        }
    }
}

fn zeros(count: u64) -> Result<&'static [u8], WireError> {
    let zeros = usize::try_from(count).ok().and_then(|count| ZEROS.get(..count));
    zeros.ok_or_else(|| WireError::Length(format!("{count} bytes of payload")))
}

/// The IP header of a host that does path MTU discovery: don't fragment.
fn ip(meta: &Meta) -> Result<PacketBuilderStep<IpHeaders>, WireError> {
    let headers = match (meta.source.ip(), meta.destination.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let header = Ipv4Header {
                ecn: ip_ecn(meta.ecn),
                identification: meta.id as u16,
                dont_fragment: true,
                time_to_live: TIME_TO_LIVE,
                source: source.octets(),
                destination: destination.octets(),
                ..Ipv4Header::default()
            };
            IpHeaders::Ipv4(header, Ipv4Extensions::default())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let mut header = Ipv6Header {
                hop_limit: TIME_TO_LIVE,
                source: source.octets(),
                destination: destination.octets(),
                ..Ipv6Header::default()
            };
            header.set_ecn(ip_ecn(meta.ecn));
            IpHeaders::Ipv6(header, Ipv6Extensions::default())
        }
        _ => return Err(WireError::Families { from: meta.source, to: meta.destination }),
    };
    Ok(PacketBuilder::ip(headers))
}

fn tcp(meta: &Meta, segment: &Segment) -> Result<TcpHeader, WireError> {
    let has = |flag| segment.flags.contains(flag);
    let mut header = TcpHeader {
        fin: has(Flags::FIN),
        syn: has(Flags::SYN),
        rst: has(Flags::RST),
        psh: has(Flags::PSH),
        ack: has(Flags::ACK),
        ece: has(Flags::ECE),
        cwr: has(Flags::CWR),
        acknowledgment_number: segment.ack,
        ..TcpHeader::new(meta.source.port(), meta.destination.port(), segment.seq, segment.window)
    };
    options(&segment.options, &mut header).map_err(WireError::Options)?;
    Ok(header)
}

/// Writes the options in the order and with the padding of Linux (`tcp_options_write` in `net/ipv4/tcp_output.c`): each
/// on a four-byte boundary, with SACK-permitted in place of the padding of timestamps.
fn options(options: &Options, header: &mut TcpHeader) -> Result<(), TcpOptionWriteError> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
        Timestamp, WindowScale,
    };
    /// The maximum, with all options.
    const MOST: usize = 12;
    let mut elements = [const { Noop }; MOST];
    let mut count = 0;
    let mut put = |padding: usize, element: TcpOptionElement| {
        elements[count + padding] = element;
        count += padding + 1;
    };
    if let Some(mss) = options.mss {
        put(0, MaximumSegmentSize(mss));
    }
    match (options.timestamps, options.sack_permitted) {
        (Some(stamps), true) => {
            put(0, SelectiveAcknowledgementPermitted);
            put(0, Timestamp(stamps.value, stamps.echo));
        }
        (Some(stamps), false) => put(2, Timestamp(stamps.value, stamps.echo)),
        (None, true) => put(2, SelectiveAcknowledgementPermitted),
        (None, false) => {}
    }
    if let Some(scale) = options.window_scale {
        put(1, WindowScale(scale));
    }
    if let [first, more @ ..] = options.sack.as_slice() {
        let more = [0, 1, 2].map(|index| more.get(index).copied());
        put(2, SelectiveAcknowledgement(*first, more));
    }
    header.set_options(&elements[..count])
}

fn ip_ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}

/// Sets the ECN field of a packet that starts with an IP header, for instance to a queue's mark (RFC 3168 section 5).
/// Updates an IPv4 header's checksum incrementally (RFC 1624), so a wrong checksum stays wrong.
///
/// # Errors
/// If the packet does not start with an IP header.
pub fn set_ecn(bytes: &mut [u8], ecn: Ecn) -> Result<(), WireError> {
    let codepoint = ip_ecn(ecn).value();
    match (bytes.first().map(|first| first >> 4), bytes.len()) {
        (Some(4), Ipv4Header::MIN_LEN..) => {
            let before = u16::from_be_bytes([bytes[0], bytes[1]]);
            bytes[1] = bytes[1] & !0b11 | codepoint;
            let after = u16::from_be_bytes([bytes[0], bytes[1]]);
            let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
            bytes[10..12].copy_from_slice(&updated(checksum, before, after).to_be_bytes());
            Ok(())
        }
        (Some(6), Ipv6Header::LEN..) => {
            // The low bits of the traffic class are in the middle of the second byte.
            bytes[1] = bytes[1] & !0b11_0000 | codepoint << 4;
            Ok(())
        }
        (_, length) => Err(WireError::NotIp(length)),
    }
}

/// The checksum after a change of one word that it covers (RFC 1624 section 3, equation 3).
fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    if before == after {
        return checksum;
    }
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !(((folded & 0xffff) + (folded >> 16)) as u16)
}

#[cfg(test)]
mod tests;
