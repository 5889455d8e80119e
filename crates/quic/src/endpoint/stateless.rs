//! Decisions and answers of an end without a connection: Retry, the refusal of a token, stateless resets, and Version Negotiation
//! (RFC 9000 sections 6, 8.1 and 10.3). They need keys, but no state per client.

use std::net::SocketAddr;

use bytes::{BufMut as _, Bytes as Payload, BytesMut};
use leobench_base::{RngTree, SimRng, SimTime};
use smallvec::smallvec;

use crate::MINIMUM_DATAGRAM;
use crate::cids::random_id;
use crate::crypto::Cipher;
use crate::retry_token::RetryTokens;
use crate::token_key::ResetKey;
use crate::wire::{
    ConnectionId, Datagram, ErrorCode, Frame, Frames, Header, LongHeader, Number, Packet,
    TransportError, VERSION_1,
};

/// A version that nobody speaks (RFC 9000 section 15): clients have to ignore it.
const RESERVED_VERSION: u32 = 0x1a2a_3a4a;

/// The unprotected fields of a client's first packet.
#[derive(Clone, Debug)]
pub(crate) struct First {
    pub(crate) destination: ConnectionId,
    pub(crate) source: ConnectionId,
    pub(crate) token: Payload,
}

/// A server's decision on a client's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
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
    tokens: RetryTokens,
    rng: SimRng,
    cipher: Cipher,
    /// Whether clients have to show that they receive at their addresses.
    validates: bool,
}

impl Stateless {
    pub(super) fn new(rng: &RngTree, cipher: Cipher, validates: bool) -> Self {
        Self {
            reset_key: ResetKey::new(rng),
            tokens: RetryTokens::new(rng),
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
        if !RetryTokens::is_one(token) {
            let id = random_id(&mut self.rng);
            let token = self.tokens.issue(now, address, *destination, id);
            return Decision::Retry(self.cipher.retry(*destination, *source, id, token));
        }
        match self.tokens.original(now, address, *destination, token) {
            Some(original) => Decision::Accept { original, retry_source: Some(*destination) },
            None => Decision::Refuse(refusal(*source, *destination)),
        }
    }

    /// A stateless reset for the sender of a packet of `size` bytes to `id`, which belongs to no connection.
    pub(super) fn reset(&mut self, id: ConnectionId, size: u64) -> Option<Datagram> {
        self.reset_key.reset(id, size, &mut self.rng)
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
    use leobench_base::SimDuration;

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
