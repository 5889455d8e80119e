//! Keys of one encryption level (RFC 9001 sections 5.3 and 5.4).

use leobench_transport::Role;
use rustls::quic::{HeaderProtectionKey, PacketKeySet, Secrets, Suite, Version};

use crate::wire::{ConnectionId, TAG_SIZE, null_tag};

/// Bytes of the authentication tag.
pub(super) const TAG: usize = TAG_SIZE as usize;

/// The protection of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cipher {
    /// Tags that tell the packet number only, and no header protection.
    Null,
    /// As RFC 9001 says.
    Tls,
}

/// The keys of one level, for both directions.
pub(crate) struct Keys {
    pub(super) local: Directional,
    pub(super) remote: Directional,
    pub(super) next: Next,
}

/// Keys for one direction.
pub(super) struct Directional {
    pub(super) header: HeaderKey,
    pub(super) packet: PacketKey,
}

/// Packet keys for both directions.
pub(super) struct PacketKeys {
    pub(super) local: PacketKey,
    pub(super) remote: PacketKey,
}

/// The source of the keys of later key phases.
pub(super) enum Next {
    /// None: the level has no key phases.
    Never,
    /// Null keys again.
    Null,
    /// The secrets of TLS (RFC 9001 section 6.1).
    Tls(Box<Secrets>),
}

/// A key for header protection.
pub(super) enum HeaderKey {
    Null,
    Tls(Box<dyn HeaderProtectionKey>),
}

/// A key for packet protection.
pub(super) enum PacketKey {
    Null,
    Tls(Box<dyn rustls::quic::PacketKey>),
}

impl Keys {
    pub(super) const fn null(next: Next) -> Self {
        const NULL: Directional = Directional { header: HeaderKey::Null, packet: PacketKey::Null };
        Self { local: NULL, remote: NULL, next }
    }

    pub(super) fn tls(keys: rustls::quic::Keys, next: Next) -> Self {
        Self { local: keys.local.into(), remote: keys.remote.into(), next }
    }

    /// Initial keys, from the destination connection ID of the client's first Initial packet or of its first after
    /// Retry (RFC 9001 section 5.2).
    pub(super) fn initial(cipher: Cipher, role: Role, destination: ConnectionId) -> Self {
        match cipher {
            Cipher::Null => Self::null(Next::Never),
            Cipher::Tls => {
                let side = match role {
                    Role::Client => rustls::Side::Client,
                    Role::Server => rustls::Side::Server,
                };
                let keys = initial_suite().keys(destination.as_slice(), side, Version::V1);
                Self::tls(keys, Next::Never)
            }
        }
    }
}

/// Initial packets are protected with `AEAD_AES_128_GCM` (RFC 9001 section 5.2).
fn initial_suite() -> Suite {
    let suite = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
    match suite.tls13().and_then(rustls::Tls13CipherSuite::quic_suite) {
        Some(suite) => suite,
        None => unreachable!("ring's TLS 1.3 suites support QUIC"),
    }
}

impl From<rustls::quic::DirectionalKeys> for Directional {
    fn from(keys: rustls::quic::DirectionalKeys) -> Self {
        Self { header: HeaderKey::Tls(keys.header), packet: PacketKey::Tls(keys.packet) }
    }
}

impl From<PacketKeySet> for PacketKeys {
    fn from(keys: PacketKeySet) -> Self {
        Self { local: PacketKey::Tls(keys.local), remote: PacketKey::Tls(keys.remote) }
    }
}

impl Next {
    /// The keys of the next key phase.
    pub(super) fn keys(&mut self) -> PacketKeys {
        match self {
            Self::Never | Self::Null => {
                PacketKeys { local: PacketKey::Null, remote: PacketKey::Null }
            }
            Self::Tls(secrets) => secrets.next_packet_keys().into(),
        }
    }
}

impl HeaderKey {
    /// Protects the header of a packet, whose packet number of `number_len` bytes is at `offset`. The packet is long
    /// enough for the sample.
    pub(super) fn protect(&self, packet: &mut [u8], offset: usize, number_len: usize) {
        let Self::Tls(key) = self else { return };
        let (header, sample) = packet.split_at_mut(offset + 4);
        let (first, number) = header.split_at_mut(offset);
        let sample = &sample[..key.sample_len()];
        if key.encrypt_in_place(sample, &mut first[0], &mut number[..number_len]).is_err() {
            unreachable!("the sample is of the key's own length");
        }
    }

    /// Removes header protection in place. `None` if the packet is too short.
    pub(super) fn unprotect(&self, packet: &mut [u8], offset: usize) -> Option<()> {
        let (header, sample) = packet.split_at_mut_checked(offset + 4)?;
        let (first, number) = header.split_at_mut(offset);
        let Self::Tls(key) = self else { return (sample.len() >= TAG).then_some(()) };
        let sample = sample.get(..key.sample_len())?;
        key.decrypt_in_place(sample, first.first_mut()?, number).ok()
    }
}

impl PacketKey {
    /// Encrypts a packet in place; its last bytes are the room for the tag, with the [`null_tag`] in it.
    ///
    /// The nonce has the path's number beside the packet's (draft-ietf-quic-multipath section 2.4); with path 0 it is that of
    /// RFC 9001.
    pub(super) fn seal(&self, path: u32, number: u64, packet: &mut [u8], header_len: usize) {
        let Self::Tls(key) = self else { return };
        let (header, rest) = packet.split_at_mut(header_len);
        let (payload, tag) = rest.split_at_mut(rest.len() - TAG);
        match key.encrypt_in_place_for_path(path, number, header, payload) {
            Ok(made) => tag.copy_from_slice(made.as_ref()),
            Err(error) => unreachable!("a packet is shorter than what an AEAD allows: {error}"),
        }
    }

    /// Decrypts a payload in place; the size of its plaintext, or `None` if it is not authentic.
    pub(super) fn open(
        &self,
        path: u32,
        number: u64,
        packet: &mut [u8],
        header_len: usize,
    ) -> Option<usize> {
        let (header, payload) = packet.split_at_mut_checked(header_len)?;
        match self {
            Self::Null => {
                let (payload, tag) = payload.split_last_chunk::<TAG>()?;
                (*tag == null_tag(number)).then_some(payload.len())
            }
            Self::Tls(key) => {
                let opened = key.decrypt_in_place_for_path(path, number, header, payload);
                opened.ok().map(<[u8]>::len)
            }
        }
    }

    /// Packets that may be sealed with one key (RFC 9001 section 6.6).
    pub(super) fn confidentiality_limit(&self) -> u64 {
        match self {
            Self::Null => u64::MAX,
            Self::Tls(key) => key.confidentiality_limit(),
        }
    }

    /// Packets that may fail to open before the connection has to close (RFC 9001 section 6.6).
    pub(super) fn integrity_limit(&self) -> u64 {
        match self {
            Self::Null => u64::MAX,
            Self::Tls(key) => key.integrity_limit(),
        }
    }
}
