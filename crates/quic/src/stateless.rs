//! Answers of an end without a connection: Retry, Version Negotiation, the refusal of a token, and stateless resets (RFC 9000
//! sections 6, 8.1 and 10.3). They need keys, but no state per client.

use std::net::{IpAddr, SocketAddr};

use bytes::{BufMut as _, Bytes as Payload, BytesMut};
use leobench_base::{RngTree, SimDuration, SimRng, SimTime};
use smallvec::smallvec;

use super::MINIMUM_DATAGRAM;
use super::cids::random_id;
use super::crypto::Cipher;
use super::token_key::{ResetKey, TAG, TokenKey};
use crate::wire::{
    ConnectionId, Datagram, ErrorCode, Frame, Frames, Header, LongHeader, Number, Packet,
    TransportError, VERSION_1,
};

/// How long a Retry token is valid: longer than a client needs for it, probes included.
const TOKEN_LIFETIME: SimDuration = SimDuration::from_secs(15);
/// The first byte of a Retry token, to tell it from tokens of other origin (RFC 9000 section 8.1.1).
const RETRY_TOKEN: u8 = 0x52;
/// A version that nobody speaks (RFC 9000 section 15): clients have to ignore it.
const RESERVED_VERSION: u32 = 0x1a2a_3a4a;
/// Bytes of a stateless reset, unless it answers a shorter packet; and of the shortest one (RFC 9000 section 10.3).
const RESET: u64 = 43;
const SHORTEST_RESET: u64 = 21;

/// The unprotected fields of a client's first packet.
#[derive(Clone, Debug)]
pub(super) struct First {
    pub(super) destination: ConnectionId,
    pub(super) source: ConnectionId,
    pub(super) token: Payload,
}

/// A server's decision on a client's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It begins a connection.
    Accept {
        /// The ID that the client sent its very first packet to.
        original: ConnectionId,
        /// The source ID of the Retry that the client answers, if there was one.
        retry_source: Option<ConnectionId>,
    },
    /// It demands that the client shows that it receives at its address.
    Retry(Datagram),
    /// It refuses the client's token.
    Refuse(Packet),
}

/// The answers of an end.
pub(super) struct Stateless {
    reset_key: ResetKey,
    token_key: TokenKey,
    rng: SimRng,
    cipher: Cipher,
    /// Whether clients have to show that they receive at their addresses.
    validates: bool,
}

impl Stateless {
    pub(super) fn new(rng: &RngTree, cipher: Cipher, validates: bool) -> Self {
        Self {
            reset_key: ResetKey::new(rng),
            token_key: TokenKey::new(rng, "retry-token-key"),
            rng: rng.child("stateless").rng(),
            cipher,
            validates,
        }
    }

    /// The protection of packets.
    pub(super) fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Decides whether to accept a client's first packet from `address`.
    pub(super) fn decide(&mut self, now: SimTime, address: SocketAddr, first: &First) -> Decision {
        let First { destination, source, token } = first;
        if !self.validates {
            return Decision::Accept { original: *destination, retry_source: None };
        }
        if token.first() != Some(&RETRY_TOKEN) {
            let id = random_id(&mut self.rng);
            let token = self.token(now + TOKEN_LIFETIME, address, *destination, id);
            return Decision::Retry(self.cipher.retry(*destination, *source, id, token));
        }
        match self.original(now, address, *destination, token) {
            Some(original) => Decision::Accept { original, retry_source: Some(*destination) },
            None => Decision::Refuse(refusal(*source, *destination)),
        }
    }

    /// A token for a client at `address` that first sent to `original` and is told to send to `source`.
    fn token(
        &self,
        until: SimTime,
        address: SocketAddr,
        original: ConnectionId,
        source: ConnectionId,
    ) -> Payload {
        let mut token = BytesMut::new();
        token.put_u8(RETRY_TOKEN);
        token.put_u64(until.as_nanos());
        token.put_slice(original.as_slice());
        let tag = self.tag(&token, address, source);
        token.put_slice(&tag);
        token.freeze()
    }

    /// The ID in a token that is authentic and has not expired.
    fn original(
        &self,
        now: SimTime,
        address: SocketAddr,
        destination: ConnectionId,
        token: &[u8],
    ) -> Option<ConnectionId> {
        let (content, tag) = token.split_last_chunk::<TAG>()?;
        let (until, original) = content.get(1..)?.split_first_chunk::<8>()?;
        let authentic = self.tag(content, address, destination) == *tag;
        let until = SimTime::from_nanos(u64::from_be_bytes(*until));
        (authentic && now < until).then(|| ConnectionId::new(original)).flatten()
    }

    fn tag(&self, content: &[u8], address: SocketAddr, source: ConnectionId) -> [u8; TAG] {
        let mut data = content.to_vec();
        match address.ip() {
            IpAddr::V4(ip) => data.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => data.extend_from_slice(&ip.octets()),
        }
        data.extend_from_slice(&address.port().to_be_bytes());
        data.extend_from_slice(source.as_slice());
        self.token_key.tag(&data)
    }

    /// A stateless reset for the sender of a packet of `size` bytes to `id`, which belongs to no connection; none if the packet
    /// is too small to be answered by a smaller one, without which two ends could answer each other for ever.
    pub(super) fn reset(&mut self, id: ConnectionId, size: u64) -> Option<Datagram> {
        let size = RESET.min(size.saturating_sub(1));
        if size < SHORTEST_RESET {
            return None;
        }
        let token = self.reset_key.token(id);
        let mut bytes = Vec::with_capacity(size as usize);
        while bytes.len() < size as usize - token.0.len() {
            bytes.push(self.rng.bits() as u8);
        }
        // It looks like a packet with a short header.
        bytes[0] = bytes[0] & 0x3f | 0x40;
        bytes.extend_from_slice(&token.0);
        Some(Datagram::StatelessReset(bytes.into()))
    }
}

/// The answer to a datagram that begins with a packet of another version than ours: those that we know. Connection IDs of other
/// versions may be longer than ours (RFC 9000 section 17.2).
pub(super) fn version_negotiation(datagram: &[u8]) -> Option<BytesMut> {
    let (first, rest) = datagram.split_first()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let version = u32::from_be_bytes(*version);
    let is_answered = first & 0x80 != 0 && version != 0 && version != VERSION_1;
    if !is_answered || (datagram.len() as u64) < MINIMUM_DATAGRAM {
        return None;
    }
    let (destination, rest) = split_id(rest)?;
    let (source, _) = split_id(rest)?;
    let mut answer = BytesMut::new();
    answer.put_u8(0xc0);
    answer.put_u32(0);
    for id in [source, destination] {
        answer.put_u8(id.len() as u8);
        answer.put_slice(id);
    }
    answer.put_u32(RESERVED_VERSION);
    answer.put_u32(VERSION_1);
    Some(answer)
}

fn split_id(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(*len))
}

/// A close in answer to a token that is not valid (RFC 9000 section 8.1.2).
fn refusal(destination: ConnectionId, source: ConnectionId) -> Packet {
    let reason = "the token of the Retry is not valid here, or has expired";
    let error = TransportError::new(ErrorCode::INVALID_TOKEN, reason);
    let frames: Frames = smallvec![Frame::ConnectionClose(Box::new(error.close()))];
    let number = Number { value: 0, len: 1 };
    Packet {
        header: Header::Initial(Box::new(LongHeader {
            destination,
            source,
            token: Payload::new(),
            number,
        })),
        frames,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> ConnectionId {
        ConnectionId::new(&[byte; 8]).unwrap()
    }

    fn address(last: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, last], port))
    }

    fn first(destination: ConnectionId, token: &[u8]) -> First {
        First { destination, source: id(9), token: Payload::copy_from_slice(token) }
    }

    fn server(validates: bool) -> Stateless {
        Stateless::new(&RngTree::new(1), Cipher::Tls, validates)
    }

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_secs(secs)
    }

    #[test]
    fn a_token_is_bound_to_address_ids_and_time() {
        let mut server = server(true);
        let client = address(1, 4_433);
        let Decision::Retry(retry) = server.decide(at(1), client, &first(id(1), b"")) else {
            panic!("no Retry");
        };
        let Datagram::Retry { destination, source, token, .. } = retry else { panic!() };
        assert_eq!(destination, id(9));
        let mut decide = |now, address, destination, token: &[u8]| match server.decide(
            now,
            address,
            &first(destination, token),
        ) {
            Decision::Accept { original, retry_source } => {
                assert_eq!((original, retry_source), (id(1), Some(source)));
                "accept"
            }
            Decision::Retry(_) => "retry",
            Decision::Refuse(packet) => {
                let Frame::ConnectionClose(close) = &packet.frames[0] else { panic!() };
                assert_eq!(close.code, ErrorCode::INVALID_TOKEN.0);
                "refuse"
            }
        };
        assert_eq!(decide(at(2), client, source, &token), "accept");
        assert_eq!(decide(at(15), client, source, &token), "accept");
        assert_eq!(decide(at(16), client, source, &token), "refuse");
        assert_eq!(decide(at(2), address(2, 4_433), source, &token), "refuse");
        assert_eq!(decide(at(2), address(1, 4_434), source, &token), "refuse");
        assert_eq!(decide(at(2), client, id(3), &token), "refuse");
        assert_eq!(decide(at(2), client, source, b"a token from elsewhere"), "retry");
        for byte in 1..token.len() {
            let mut damaged = token.to_vec();
            damaged[byte] ^= 1;
            assert_eq!(decide(at(2), client, source, &damaged), "refuse", "byte {byte}");
        }
        for len in 1..token.len() {
            assert_eq!(decide(at(2), client, source, &token[..len]), "refuse", "{len} bytes");
        }
    }

    #[test]
    fn without_validation_tokens_do_not_matter() {
        for token in [&b""[..], b"\x52 a token"] {
            let decision = server(false).decide(at(1), address(1, 1), &first(id(1), token));
            assert_eq!(decision, Decision::Accept { original: id(1), retry_source: None });
        }
    }

    #[test]
    fn a_reset_is_smaller_than_what_it_answers() {
        let mut server = server(false);
        for (size, expected) in [(1_252, 43), (44, 43), (43, 42), (22, 21)] {
            let Some(Datagram::StatelessReset(bytes)) = server.reset(id(1), size) else { panic!() };
            assert_eq!(bytes.len(), expected, "{size}");
            assert_eq!(bytes[0] & 0xc0, 0x40);
            assert_eq!(bytes[expected - 16..], server.reset_key.token(id(1)).0);
        }
        assert_eq!(server.reset(id(1), 21), None);
        assert_ne!(server.reset_key.token(id(1)), server.reset_key.token(id(2)));
    }

    #[test]
    fn versions_are_negotiated_in_answer_to_large_datagrams_only() {
        let datagram = |version: u32, size| {
            let mut bytes = vec![0xc0];
            bytes.extend_from_slice(&version.to_be_bytes());
            bytes.push(30);
            bytes.extend_from_slice(&[b'd'; 30]);
            bytes.extend_from_slice(b"\x03cde");
            bytes.resize(size, 0);
            bytes
        };
        let answer = version_negotiation(&datagram(2, 1_200)).unwrap();
        assert_eq!(answer[..10], *b"\xc0\0\0\0\0\x03cde\x1e");
        assert_eq!(answer[10..], [&[b'd'; 30][..], b"\x1a\x2a\x3a\x4a\0\0\0\x01"].concat());
        assert_eq!(version_negotiation(&datagram(2, 1_199)), None);
        assert_eq!(version_negotiation(&datagram(1, 1_200)), None);
        assert_eq!(version_negotiation(&datagram(0, 1_200)), None, "no answer to an answer");
        let mut short = datagram(2, 1_200);
        short[0] = 0x40;
        assert_eq!(version_negotiation(&short), None);
    }
}
