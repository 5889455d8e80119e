//! Protected bytes become packets.

use bytes::BytesMut;
use leobench_base::SimTime;
use leobench_transport::endpoint::PathId;

use super::Connection;
use crate::cids::ID_SIZE;
use crate::crypto::{Opened, Receive};
use crate::paths::RecvMeta;
use crate::wire::{ConnectionId, Content, ResetToken, Space, TransportError};

/// The destination of a datagram whose first packet has a short header.
#[inline]
pub(crate) fn short_destination(datagram: &[u8]) -> Option<ConnectionId> {
    let (first, rest) = datagram.split_first()?;
    let id = rest.get(..ID_SIZE).filter(|_| first & 0x80 == 0)?;
    ConnectionId::new(id)
}

impl Connection {
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
            pto: self.paths.longest_probe_timeout(),
            id_len: ID_SIZE,
            largest: Space::ALL
                .map(|space| self.handshake.acks(&self.paths, id, space).received.largest()),
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
            Opened::Packet(packet) => {
                if self.is_addressed_by(packet.header.destination()) {
                    self.on_authentic(now, id, meta, &packet);
                }
            }
            Opened::Failed(token) => {
                self.on_stateless_reset(now, token);
            }
            Opened::Retry { destination, source, token } => {
                self.on_retry(now, [destination, source], &token);
            }
            Opened::VersionNegotiation { destination, source, versions } => {
                self.on_version_negotiation(now, [destination, source], &versions);
            }
            // RFC 9000 section 10.3: a reset may have a long header, of whatever version.
            Opened::NoKeys | Opened::Discarded => {
                if let Some(token) = tail {
                    self.on_stateless_reset(now, token);
                }
            }
        }
    }
}
