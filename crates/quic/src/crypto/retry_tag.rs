//! The Retry Integrity Tag (RFC 9001 section 5.8).

use bytes::{Bytes, BytesMut};

use super::keys::{Cipher, TAG};
use super::tls;
use crate::wire::{ConnectionId, Datagram, Zeros};

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
        tls::retry_tag(pseudo)
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
