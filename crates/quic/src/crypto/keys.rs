//! Keys of one encryption level (RFC 9001 sections 5.3 and 5.4).

use leobench_transport::Role;

use super::tls::{self, TlsHeaderKey, TlsPacketKey, TlsSecrets};
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
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "no handshake yields them"))]
    Tls(TlsSecrets),
}

/// A key for header protection.
pub(super) enum HeaderKey {
    Null,
    Tls(TlsHeaderKey),
}

/// A key for packet protection.
pub(super) enum PacketKey {
    Null,
    Tls(TlsPacketKey),
}

impl Directional {
    /// Null keys.
    pub(super) const NULL: Self = Self { header: HeaderKey::Null, packet: PacketKey::Null };

    /// Keys of TLS.
    pub(super) fn tls((header, packet): (TlsHeaderKey, TlsPacketKey)) -> Self {
        Self { header: HeaderKey::Tls(header), packet: PacketKey::Tls(packet) }
    }
}

impl Keys {
    pub(super) const fn null(next: Next) -> Self {
        Self { local: Directional::NULL, remote: Directional::NULL, next }
    }

    /// Keys of TLS: the local and the remote ones.
    pub(super) fn tls(directions: [(TlsHeaderKey, TlsPacketKey); 2], next: Next) -> Self {
        let [local, remote] = directions.map(Directional::tls);
        Self { local, remote, next }
    }

    /// Initial keys, from the destination connection ID of the client's first Initial packet or of its first after
    /// Retry (RFC 9001 section 5.2).
    pub(super) fn initial(cipher: Cipher, role: Role, destination: ConnectionId) -> Self {
        match cipher {
            Cipher::Null => Self::null(Next::Never),
            Cipher::Tls => Self::tls(tls::initial(role, destination.as_slice()), Next::Never),
        }
    }
}

impl Next {
    /// The keys of the next key phase.
    pub(super) fn keys(&mut self) -> PacketKeys {
        match self {
            Self::Never | Self::Null => {
                PacketKeys { local: PacketKey::Null, remote: PacketKey::Null }
            }
            Self::Tls(secrets) => {
                let [local, remote] = secrets.next().map(PacketKey::Tls);
                PacketKeys { local, remote }
            }
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
        key.protect(sample, &mut first[0], &mut number[..number_len]);
    }

    /// Removes header protection in place. `None` if the packet is too short.
    pub(super) fn unprotect(&self, packet: &mut [u8], offset: usize) -> Option<()> {
        let (header, sample) = packet.split_at_mut_checked(offset + 4)?;
        let (first, number) = header.split_at_mut(offset);
        let Self::Tls(key) = self else { return (sample.len() >= TAG).then_some(()) };
        let sample = sample.get(..key.sample_len())?;
        key.unprotect(sample, first.first_mut()?, number)
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
        tag.copy_from_slice(&key.seal(path, number, header, payload));
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
            Self::Tls(key) => key.open(path, number, header, payload),
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
