//! Packets as protected bytes.

use bytes::BytesMut;
use leobench_base::SimTime;
use leobench_transport::endpoint::PathId;

use super::{Connection, SPACES};
use crate::cids::ID_SIZE;
use crate::crypto::{Opened, Receive};
use crate::paths::RecvMeta;
use crate::wire::{ConnectionId, Content, Datagram, ResetToken, TransportError};

/// Bytes that are allocated at once for the next datagrams: an allocation is shared by about ten of them.
const SEALED_CHUNK: usize = 16 * 1024;

/// The destination of a datagram whose first packet has a short header.
#[inline]
pub(crate) fn short_destination(datagram: &[u8]) -> Option<ConnectionId> {
    let (first, rest) = datagram.split_first()?;
    let id = rest.get(..ID_SIZE).filter(|_| first & 0x80 == 0)?;
    ConnectionId::new(id)
}

impl Connection {
    /// A Retry packet arrived as a struct.
    pub(crate) fn on_unprotected_retry(&mut self, now: SimTime, retry: &Datagram) {
        if let Datagram::Retry { destination, source, token, .. } = retry
            && self.keys.protection.is_authentic(retry)
        {
            self.on_retry(now, [*destination, *source], token);
        }
    }

    /// Counts the packets of a datagram that leaves as a struct on a path.
    #[inline]
    pub(crate) fn on_sent_unprotected(&mut self, now: SimTime, id: PathId, datagram: &Datagram) {
        let Datagram::Packets(packets) = datagram else { return };
        for packet in packets {
            if let Err(error) = self.keys.protection.on_sent(id, &packet.header) {
                self.fail(now, id, &error);
            }
        }
    }

    /// The bytes of a datagram that leaves on a path; none if the keys are used up, which closes the connection.
    #[inline(never)]
    pub(crate) fn seal_datagram(
        &mut self,
        now: SimTime,
        id: PathId,
        datagram: &Datagram,
        content: &dyn Content,
    ) -> Option<BytesMut> {
        let Datagram::Packets(packets) = datagram else { return None };
        let mtu = self.paths[id].mtu as usize;
        let bytes = &mut self.buffers.sealed;
        if bytes.capacity() < mtu {
            *bytes = BytesMut::with_capacity(mtu.max(SEALED_CHUNK));
        }
        for packet in packets {
            if let Err(error) = self.keys.protection.seal(id, packet, content, bytes) {
                bytes.clear();
                self.fail(now, id, &error);
                return None;
            }
        }
        Some(bytes.split())
    }

    /// The key phase bit of the next 1-RTT packet.
    #[cfg(test)]
    pub(crate) fn key_phase(&self) -> bool {
        self.keys.protection.key_phase()
    }

    /// A datagram arrived as bytes, whose first packet goes to `destination`, if it has a short header.
    pub(crate) fn on_bytes(
        &mut self,
        now: SimTime,
        meta: &RecvMeta,
        mut destination: Option<ConnectionId>,
        mut bytes: BytesMut,
        content: &dyn Content,
    ) {
        self.on_datagram(now, meta, destination);
        let tail = bytes.last_chunk().copied().map(ResetToken);
        while !bytes.is_empty() {
            let id = self.receiving_path(destination);
            match self.open(now, id, &mut bytes, content) {
                Ok(Some(opened)) => self.on_opened(now, id, meta, opened, tail),
                Ok(None) => return,
                Err(error) => self.fail(now, id, &error),
            }
            destination = short_destination(&bytes);
        }
    }

    #[inline(never)]
    fn open(
        &mut self,
        now: SimTime,
        id: PathId,
        bytes: &mut BytesMut,
        content: &dyn Content,
    ) -> Result<Option<Opened>, TransportError> {
        let receive = Receive {
            now,
            path: id,
            pto: self.longest_probe_timeout(),
            id_len: ID_SIZE,
            largest: SPACES.map(|space| self.acks(id, space).received.largest()),
            content,
        };
        self.keys.protection.open(bytes, &receive)
    }

    /// Handles the next part of a datagram that ends with `tail`.
    #[inline(never)]
    fn on_opened(
        &mut self,
        now: SimTime,
        id: PathId,
        meta: &RecvMeta,
        opened: Opened,
        tail: Option<ResetToken>,
    ) {
        match opened {
            Opened::Packet { packet, .. } => {
                if self.is_addressed_by(packet.header.destination()) {
                    self.on_authentic(now, id, meta, &packet);
                }
            }
            Opened::Failed { tail, .. } => {
                self.on_stateless_reset(now, tail);
            }
            Opened::Retry { destination, source, token } => {
                self.on_retry(now, [destination, source], &token);
            }
            Opened::VersionNegotiation { destination, source, versions } => {
                self.on_version_negotiation(now, [destination, source], &versions);
            }
            // RFC 9000 section 10.3: a reset may have a long header, of whatever version.
            Opened::NoKeys { .. } | Opened::Discarded => {
                if let Some(token) = tail {
                    self.on_stateless_reset(now, token);
                }
            }
        }
    }
}
