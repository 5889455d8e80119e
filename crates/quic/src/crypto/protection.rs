//! Packet protection (RFC 9001 section 5): packets to protected bytes, and received bytes to packets.

use bytes::{Bytes, BytesMut};
use leobench_base::{SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::early::EarlyKeys;
use super::handshake::KeyChange;
use super::keys::{Cipher, Directional, Keys, TAG};
use super::one_rtt::OneRtt;
use crate::wire::{
    ConnectionId, Content, Datagram, ErrorCode, Header, Incoming, Level, Number, Packet,
    ProtectedHeader, ResetToken, Space, TransportError, Zeros, decode_frames,
};

/// The keys of a connection.
pub(crate) struct Protection {
    pub(super) cipher: Cipher,
    role: Role,
    /// The destination connection ID of the client's Initial packets before any Retry.
    original: ConnectionId,
    initial: Option<Keys>,
    handshake: Option<Keys>,
    zero_rtt: Option<EarlyKeys>,
    pub(super) one_rtt: Option<OneRtt>,
    /// Whether 1-RTT packets may be read (RFC 9001 section 5.7).
    pub(super) is_complete: bool,
    /// Packets that failed to open.
    pub(super) failed: u64,
    /// Packets after which this end updates its 1-RTT keys.
    update_interval: u64,
}

/// The context needed to open a packet.
#[derive(Clone, Copy)]
pub(crate) struct Receive<'a> {
    /// The time.
    pub(crate) now: SimTime,
    /// Probe timeout, by which old keys expire.
    pub(crate) pto: SimDuration,
    /// The path of its 1-RTT packets.
    pub(crate) path: PathId,
    /// Bytes of this end's connection IDs.
    pub(crate) id_len: usize,
    /// Largest packet number received in each [`Space`].
    pub(crate) largest: [Option<u64>; 3],
    /// Content of streams.
    pub(crate) content: &'a dyn Content,
}

/// The next part of a received datagram.
#[derive(Debug, PartialEq)]
pub(crate) enum Opened {
    /// A packet.
    Packet(Packet),
    /// A packet whose keys are not available: not yet, or not any more.
    NoKeys,
    /// A packet that is not authentic. Its last bytes may be the token of a stateless reset (RFC 9000 section 10.3).
    Failed(ResetToken),
    /// An authentic Retry packet.
    Retry {
        /// Destination connection ID.
        destination: ConnectionId,
        /// Source connection ID, the client's new destination.
        source: ConnectionId,
        /// The token to send back.
        token: Bytes,
    },
    /// A Version Negotiation packet.
    VersionNegotiation {
        /// Destination connection ID.
        destination: ConnectionId,
        /// Source connection ID.
        source: ConnectionId,
        /// Supported versions.
        versions: Vec<u32>,
    },
    /// Bytes to discard: a packet of another version, or no packet of QUIC.
    Discarded,
}

impl Protection {
    /// The Initial keys of a connection whose client sends its first packet to `destination`.
    pub(crate) fn new(cipher: Cipher, role: Role, destination: ConnectionId) -> Self {
        Self {
            cipher,
            role,
            original: destination,
            initial: Some(Keys::initial(cipher, role, destination)),
            handshake: None,
            zero_rtt: None,
            one_rtt: None,
            is_complete: false,
            failed: 0,
            update_interval: u64::MAX,
        }
    }

    /// Makes this end update its 1-RTT keys after so many packets.
    pub(crate) const fn update_after(&mut self, packets: u64) {
        self.update_interval = packets;
    }

    /// Replaces the Initial keys after Retry: the client's next packets go to `destination` (RFC 9001 section 5.2).
    pub(crate) fn on_retry(&mut self, destination: ConnectionId) {
        self.initial = Some(Keys::initial(self.cipher, self.role, destination));
    }

    /// Takes up keys that the handshake yielded.
    pub(crate) fn install(&mut self, change: KeyChange) {
        match change.level {
            Level::Initial => self.initial = Some(change.keys),
            Level::Handshake => self.handshake = Some(change.keys),
            Level::OneRtt => self.one_rtt = Some(OneRtt::new(change.keys, self.update_interval)),
            Level::ZeroRtt => {}
        }
    }

    /// Takes up the keys of 0-RTT packets.
    pub(crate) fn install_early(&mut self, keys: EarlyKeys) {
        self.zero_rtt = Some(keys);
    }

    /// Keeps the keys of 0-RTT packets for those that are late, no longer than until a time (RFC 9001 section 4.9.3).
    pub(crate) fn expire_early(&mut self, until: SimTime) {
        if let Some(keys) = &mut self.zero_rtt {
            keys.expire_at(until);
        }
    }

    /// Discards the keys of 0-RTT packets if it is time.
    fn age_early(&mut self, now: SimTime) {
        self.zero_rtt.take_if(|keys| keys.has_expired(now));
    }

    /// The handshake is complete: 1-RTT packets may be read (RFC 9001 section 5.7).
    pub(crate) const fn on_complete(&mut self) {
        self.is_complete = true;
    }

    /// Drops the keys of a level (RFC 9001 section 4.9).
    pub(crate) fn discard(&mut self, level: Level) {
        match level {
            Level::Initial => self.initial = None,
            Level::Handshake => self.handshake = None,
            Level::OneRtt => self.one_rtt = None,
            Level::ZeroRtt => self.zero_rtt = None,
        }
    }

    /// Whether packets of this level can be sent.
    #[inline]
    pub(crate) const fn can_send(&self, level: Level) -> bool {
        match level {
            Level::Initial => self.initial.is_some(),
            Level::Handshake => self.handshake.is_some(),
            Level::OneRtt => self.one_rtt.is_some(),
            Level::ZeroRtt => self.zero_rtt.is_some() && matches!(self.role, Role::Client),
        }
    }

    /// Whether packets of this level can be received.
    #[inline]
    pub(crate) const fn can_receive(&self, level: Level) -> bool {
        match level {
            Level::ZeroRtt => self.zero_rtt.is_some() && matches!(self.role, Role::Server),
            Level::OneRtt => self.is_complete && self.can_send(level),
            Level::Initial | Level::Handshake => self.can_send(level),
        }
    }

    /// The key phase bit for the next 1-RTT packet.
    #[inline]
    pub(crate) fn key_phase(&self) -> bool {
        self.one_rtt.as_ref().is_some_and(OneRtt::phase)
    }

    /// Lowers the confidentiality limit of the present 1-RTT keys.
    #[cfg(test)]
    pub(crate) fn set_limit(&mut self, limit: u64) {
        if let Some(keys) = &mut self.one_rtt {
            keys.set_limit(limit);
        }
    }

    /// Whether the peer started the present key phase.
    pub(crate) fn is_phase_of_peer(&self) -> bool {
        self.one_rtt.as_ref().is_some_and(OneRtt::is_of_peer)
    }

    /// Whether a Retry packet that arrives as a struct is authentic. [`Protection::open`] checks it by itself.
    pub(crate) fn is_authentic(&self, retry: &Datagram) -> bool {
        let mut bytes = BytesMut::new();
        retry.encode(&Zeros, &mut bytes);
        let split = bytes.split_last_chunk::<TAG>();
        split.is_some_and(|(content, tag)| self.cipher.retry_tag(self.original, content) == *tag)
    }

    /// Whether so many packets were encrypted that the keys ought to be updated before long (RFC 9001 section 6.6).
    #[inline]
    pub(crate) fn wants_key_update(&self) -> bool {
        self.one_rtt.as_ref().is_some_and(OneRtt::wants_update)
    }

    /// Starts a key update if the last one is settled (RFC 9001 sections 6.1 and 6.5); whether it did. Only to be called
    /// once the handshake is confirmed.
    pub(crate) fn update_keys(&mut self, now: SimTime) -> bool {
        let Some(keys) = &mut self.one_rtt else { return false };
        let can_update = keys.can_update(now);
        if can_update {
            keys.update();
        }
        can_update
    }

    /// A 1-RTT packet with this key phase bit acknowledged packets up to `largest`.
    ///
    /// # Errors
    /// `KEY_UPDATE_ERROR` if it should have used newer keys (RFC 9001 section 6.2).
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        path: PathId,
        largest: u64,
        key_phase: bool,
    ) -> Result<(), TransportError> {
        self.one_rtt.as_mut().map_or(Ok(()), |keys| keys.on_ack((path.0, largest), key_phase))
    }

    /// Counts a packet that leaves as a struct, unprotected. [`Protection::seal`] does so by itself.
    ///
    /// # Errors
    /// `AEAD_LIMIT_REACHED` if the keys must not be used any more (RFC 9001 section 6.6).
    #[inline]
    pub(crate) fn on_sent(&mut self, path: PathId, header: &Header) -> Result<(), TransportError> {
        match (header, &mut self.one_rtt) {
            (Header::OneRtt { number, .. }, Some(keys)) => keys.on_sent((path.0, number.value)),
            _ => Ok(()),
        }
    }

    /// The common case of [`on_received`](Self::on_received): a 1-RTT packet of the present phase, with no key of another one
    /// around. Returns whether the packet was of this kind.
    #[inline]
    pub(crate) fn on_usual(&mut self, path: PathId, header: &Header) -> bool {
        let (Header::OneRtt { key_phase, number, .. }, Some(keys)) = (header, &mut self.one_rtt)
        else {
            return false;
        };
        let is_usual = self.is_complete && keys.is_usual(*key_phase);
        if is_usual {
            keys.on_usual((path.0, number.value));
        }
        is_usual
    }

    /// Takes notice of a packet that arrives as a struct, unprotected; whether its keys are available, without which it
    /// could not have been read. [`Protection::open`] does so by itself.
    ///
    /// # Errors
    /// `KEY_UPDATE_ERROR` for an update before the last one was answered (RFC 9001 section 6.2).
    #[inline]
    pub(crate) fn on_received(
        &mut self,
        now: SimTime,
        pto: SimDuration,
        path: PathId,
        header: &Header,
    ) -> Result<bool, TransportError> {
        self.age_early(now);
        if !self.can_receive(header.level()) {
            return Ok(false);
        }
        if let (Header::OneRtt { key_phase, number, .. }, Some(keys)) = (header, &mut self.one_rtt)
        {
            let number = (path.0, number.value);
            if keys.is_usual(*key_phase) {
                keys.on_usual(number);
                return Ok(true);
            }
            let phase = keys.select(now, *key_phase, number);
            if keys.remote(phase).is_none() {
                return Ok(false);
            }
            keys.on_received(now, pto, phase, number)?;
        }
        Ok(true)
    }

    /// Appends the protected packet to a datagram: [`Packet::size`] bytes. A 1-RTT packet's header carries
    /// [`Protection::key_phase`].
    ///
    /// # Errors
    /// `AEAD_LIMIT_REACHED` if the keys must not be used any more; `INTERNAL_ERROR` for a packet without keys, or one
    /// that lacks [`Packet::missing_padding`].
    pub(crate) fn seal(
        &mut self,
        path: PathId,
        packet: &Packet,
        content: &dyn Content,
        out: &mut BytesMut,
    ) -> Result<(), TransportError> {
        let internal = |reason| Err(TransportError::new(ErrorCode::INTERNAL_ERROR, reason));
        if packet.missing_padding() > 0 {
            return internal("a packet too short for header protection");
        }
        self.on_sent(path, &packet.header)?;
        let (header_key, key) = match packet.header.level() {
            Level::OneRtt => match &self.one_rtt {
                Some(keys) => (&keys.local_header, keys.local()),
                None => return internal("a packet without keys"),
            },
            level => match self.long_header_keys(level, |keys| &keys.local) {
                Some(keys) => (&keys.header, &keys.packet),
                None => return internal("a packet without keys"),
            },
        };
        let start = out.len();
        let header_len = packet.encode(content, out);
        let bytes = &mut out[start..];
        let Number { value, len } = packet.header.number();
        let path = if packet.header.level() == Level::OneRtt { path.0 } else { 0 };
        key.seal(path, value, bytes, header_len);
        header_key.protect(bytes, header_len - usize::from(len), usize::from(len));
        Ok(())
    }

    /// The keys of packets with a long header, for the direction that `of` chooses; those of 0-RTT packets have only one.
    fn long_header_keys(
        &self,
        level: Level,
        of: impl Fn(&Keys) -> &Directional,
    ) -> Option<&Directional> {
        match level {
            Level::Initial => self.initial.as_ref().map(of),
            Level::Handshake => self.handshake.as_ref().map(of),
            Level::ZeroRtt => self.zero_rtt.as_ref().map(|early| &early.keys),
            Level::OneRtt => None,
        }
    }

    /// Takes the next packet out of the rest of a datagram and opens it; `None` at its end. The caller handles each
    /// packet before it asks for the next, whose keys may come from it.
    ///
    /// # Errors
    /// Whatever closes the connection: an authentic packet with malformed content, too many packets that are not
    /// authentic (`AEAD_LIMIT_REACHED`), a forbidden key update.
    pub(crate) fn open(
        &mut self,
        rest: &mut BytesMut,
        receive: &Receive<'_>,
    ) -> Result<Option<Opened>, TransportError> {
        if rest.is_empty() {
            return Ok(None);
        }
        let opened = match Incoming::decode(rest, receive.id_len) {
            Some(Incoming::Packet(header)) => {
                let bytes = if header.size == rest.len() {
                    std::mem::take(rest)
                } else {
                    rest.split_to(header.size)
                };
                return self.open_packet(header, bytes, receive).map(Some);
            }
            Some(Incoming::Retry { destination, source, token, tag }) => {
                let content = &rest[..rest.len() - TAG];
                // RFC 9001 section 5.8: the tag covers the packet as received, its unused bits too.
                if self.cipher.retry_tag(self.original, content) == tag {
                    Opened::Retry { destination, source, token }
                } else {
                    Opened::Discarded
                }
            }
            Some(Incoming::VersionNegotiation { destination, source, versions }) => {
                Opened::VersionNegotiation { destination, source, versions }
            }
            Some(Incoming::OtherVersion { .. }) | None => Opened::Discarded,
        };
        rest.clear();
        Ok(Some(opened))
    }

    fn open_packet(
        &mut self,
        header: ProtectedHeader,
        mut bytes: BytesMut,
        receive: &Receive<'_>,
    ) -> Result<Opened, TransportError> {
        let (level, offset) = (header.level, header.number_offset);
        self.age_early(receive.now);
        if !self.can_receive(level) {
            return Ok(Opened::NoKeys);
        }
        let Some(tail) = bytes.last_chunk().copied() else { return Ok(Opened::Discarded) };
        let Some((number, len)) = self.decrypt(&header, &mut bytes, receive)? else {
            return Ok(Opened::Failed(ResetToken(tail)));
        };
        let header = header.complete(bytes[0], number)?;
        let start = offset + usize::from(number.len);
        let frames = decode_frames(&bytes[start..start + len], level, receive.content)?;
        Ok(Opened::Packet(Packet { header, frames }))
    }

    /// Removes both protections in place: the packet number, and the size of the payload behind it.
    fn decrypt(
        &mut self,
        header: &ProtectedHeader,
        bytes: &mut BytesMut,
        receive: &Receive<'_>,
    ) -> Result<Option<(Number, usize)>, TransportError> {
        let header_key = match header.level {
            Level::OneRtt => self.one_rtt.as_ref().map(|keys| &keys.remote_header),
            level => self.long_header_keys(level, |keys| &keys.remote).map(|keys| &keys.header),
        };
        let offset = header.number_offset;
        if header_key.and_then(|key| key.unprotect(bytes, offset)).is_none() {
            return Ok(None);
        }
        let number_len = (bytes[0] & 0x03) + 1;
        let start = offset + usize::from(number_len);
        let on_wire =
            bytes[offset..start].iter().fold(0, |value, byte| value << 8 | u32::from(*byte));
        let largest = receive.largest[header.level.space() as usize];
        let number = Number::expanded(on_wire, number_len, largest);
        let opened = match (header.level, &mut self.one_rtt) {
            (Level::OneRtt, Some(keys)) => {
                let path = receive.path.0;
                let place = (path, number.value);
                let phase = keys.select(receive.now, bytes[0] & 0x04 != 0, place);
                let Some(key) = keys.remote(phase) else { return Ok(None) };
                let len = key.open(path, number.value, bytes, start);
                let limit = key.integrity_limit();
                if len.is_some() {
                    keys.on_received(receive.now, receive.pto, phase, place)?;
                }
                (len, limit)
            }
            (level, _) => match self.long_header_keys(level, |keys| &keys.remote) {
                Some(Directional { packet: key, .. }) => {
                    (key.open(0, number.value, bytes, start), key.integrity_limit())
                }
                None => return Ok(None),
            },
        };
        match opened {
            (Some(len), _) => Ok(Some((number, len))),
            (None, limit) => {
                self.failed += 1;
                if self.failed > limit {
                    let reason = "too many packets that are not authentic";
                    return Err(TransportError::new(ErrorCode::AEAD_LIMIT_REACHED, reason));
                }
                Ok(None)
            }
        }
    }
}

const _: () = assert!(Space::Data as usize == 2, "`Receive::largest` has a place for each space");
