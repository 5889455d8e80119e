//! The Retry Integrity Tag (RFC 9001 section 5.8).

use bytes::{Bytes, BytesMut};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::keys::{Cipher, TAG};
use crate::wire::{ConnectionId, Datagram, Zeros};

const KEY: [u8; 16] = [
    0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e,
];
const NONCE: [u8; 12] = [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];

impl Cipher {
    /// The tag of a Retry packet, whose bytes before the tag are `packet`, in answer to an Initial packet to `original`.
    pub(crate) fn retry_tag(self, original: ConnectionId, packet: &[u8]) -> [u8; TAG] {
        if self == Self::Null {
            return [0; TAG];
        }
        let mut pseudo = Vec::with_capacity(1 + ConnectionId::MAX_SIZE + packet.len());
        pseudo.push(original.size() as u8);
        pseudo.extend_from_slice(original.as_slice());
        pseudo.extend_from_slice(packet);
        let tag = UnboundKey::new(&AES_128_GCM, &KEY).and_then(|key| {
            let nonce = Nonce::assume_unique_for_key(NONCE);
            LessSafeKey::new(key).seal_in_place_separate_tag(nonce, Aad::from(pseudo), &mut [])
        });
        match tag.map(|tag| tag.as_ref().try_into()) {
            Ok(Ok(tag)) => tag,
            _ => unreachable!("a fixed key, and tags of 16 bytes"),
        }
    }

    /// A Retry packet in answer to an Initial packet from `destination` to `original`.
    pub(crate) fn retry(
        self,
        original: ConnectionId,
        destination: ConnectionId,
        source: ConnectionId,
        token: Bytes,
    ) -> Datagram {
        let mut retry = Datagram::Retry { destination, source, token, tag: [0; TAG] };
        let mut bytes = BytesMut::new();
        retry.encode(&Zeros, &mut bytes);
        let content = &bytes[..bytes.len() - TAG];
        if let Datagram::Retry { tag, .. } = &mut retry {
            *tag = self.retry_tag(original, content);
        }
        retry
    }
}
