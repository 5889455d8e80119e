//! Keys of TLS ciphers, made by rustls and *ring* (RFC 9001 section 5).

use leobench_transport::Role;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rustls::quic::{DirectionalKeys, HeaderProtectionKey, PacketKeySet, Secrets, Suite, Version};

use crate::wire::TAG_SIZE;

/// Bytes of the authentication tag.
const TAG: usize = TAG_SIZE as usize;

/// The key and the nonce of the Retry Integrity Tag (RFC 9001 section 5.8).
const RETRY_KEY: [u8; 16] = [
    0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e,
];
const RETRY_NONCE: [u8; 12] =
    [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];

/// A key for header protection.
pub(in crate::crypto) struct TlsHeaderKey(Box<dyn HeaderProtectionKey>);

/// A key for packet protection.
pub(in crate::crypto) struct TlsPacketKey(Box<dyn rustls::quic::PacketKey>);

/// The secrets that later key phases derive from (RFC 9001 section 6.1).
pub(in crate::crypto) struct TlsSecrets(Box<Secrets>);

/// Keys for one direction.
pub(in crate::crypto) type TlsDirection = (TlsHeaderKey, TlsPacketKey);

impl TlsHeaderKey {
    /// Bytes of a packet that the mask is computed from.
    pub(in crate::crypto) fn sample_len(&self) -> usize {
        self.0.sample_len()
    }

    /// Protects the first byte and the packet number.
    pub(in crate::crypto) fn protect(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) {
        if self.0.encrypt_in_place(sample, first, number).is_err() {
            unreachable!("the sample is of the key's own length");
        }
    }

    /// Removes the protection of the first byte and the packet number. `None` if the sample is too short.
    pub(in crate::crypto) fn unprotect(
        &self,
        sample: &[u8],
        first: &mut u8,
        number: &mut [u8],
    ) -> Option<()> {
        self.0.decrypt_in_place(sample, first, number).ok()
    }
}

impl TlsPacketKey {
    /// Encrypts a payload in place; returns its tag.
    pub(in crate::crypto) fn seal(
        &self,
        path: u32,
        number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> [u8; TAG] {
        let made = self.0.encrypt_in_place_for_path(path, number, header, payload);
        match made.map(|tag| tag.as_ref().try_into()) {
            Ok(Ok(tag)) => tag,
            Ok(Err(_)) => unreachable!("QUIC's ciphers have tags of 16 bytes"),
            Err(error) => unreachable!("a packet is shorter than what an AEAD allows: {error}"),
        }
    }

    /// Decrypts a payload and its tag in place; the size of the plaintext, or `None` if it is not authentic.
    pub(in crate::crypto) fn open(
        &self,
        path: u32,
        number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Option<usize> {
        let opened = self.0.decrypt_in_place_for_path(path, number, header, payload);
        opened.ok().map(<[u8]>::len)
    }

    /// Packets that may be sealed with one key (RFC 9001 section 6.6).
    pub(in crate::crypto) fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    /// Packets that may fail to open before the connection has to close (RFC 9001 section 6.6).
    pub(in crate::crypto) fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

impl TlsSecrets {
    /// The secrets after a handshake.
    pub(super) fn new(secrets: Secrets) -> Self {
        Self(Box::new(secrets))
    }

    /// The packet keys of the next key phase: the local and the remote one.
    pub(in crate::crypto) fn next(&mut self) -> [TlsPacketKey; 2] {
        let PacketKeySet { local, remote } = self.0.next_packet_keys();
        [TlsPacketKey(local), TlsPacketKey(remote)]
    }
}

/// Keys of both directions as rustls makes them: the local and the remote ones.
pub(in crate::crypto) fn directions(keys: rustls::quic::Keys) -> [TlsDirection; 2] {
    [keys.local, keys.remote].map(direction)
}

/// Keys of one direction as rustls makes them.
pub(in crate::crypto) fn direction(keys: DirectionalKeys) -> TlsDirection {
    (TlsHeaderKey(keys.header), TlsPacketKey(keys.packet))
}

/// Initial keys from the destination connection ID of the client's first packet (RFC 9001 section 5.2): the local and the remote
/// ones.
pub(in crate::crypto) fn initial(role: Role, destination: &[u8]) -> [TlsDirection; 2] {
    let side = match role {
        Role::Client => rustls::Side::Client,
        Role::Server => rustls::Side::Server,
    };
    directions(initial_suite().keys(destination, side, Version::V1))
}

/// Initial packets are protected with `AEAD_AES_128_GCM` (RFC 9001 section 5.2).
fn initial_suite() -> Suite {
    let suite = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
    match suite.tls13().and_then(rustls::Tls13CipherSuite::quic_suite) {
        Some(suite) => suite,
        None => unreachable!("ring's TLS 1.3 suites support QUIC"),
    }
}

/// The Retry Integrity Tag of a pseudo-packet (RFC 9001 section 5.8).
pub(in crate::crypto) fn retry_tag(pseudo: Vec<u8>) -> [u8; TAG] {
    let tag = UnboundKey::new(&AES_128_GCM, &RETRY_KEY).and_then(|key| {
        let nonce = Nonce::assume_unique_for_key(RETRY_NONCE);
        LessSafeKey::new(key).seal_in_place_separate_tag(nonce, Aad::from(pseudo), &mut [])
    });
    match tag.map(|tag| tag.as_ref().try_into()) {
        Ok(Ok(tag)) => tag,
        _ => unreachable!("a fixed key, and tags of 16 bytes"),
    }
}
